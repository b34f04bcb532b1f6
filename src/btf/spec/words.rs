//! A macro for words of a specification that are names in tables, too. Not the words.

/// Declares an enumeration of words, which also converts to a name of a table column.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($values:tt)* }) => {
        crate::words::words! {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub enum $name { $($values)* }
        }

        impl From<$name> for crate::names::Name<'static> {
            fn from(word: $name) -> Self {
                struct Words;
                impl crate::names::Numbering for Words {
                    fn name_of(&self, number: u32) -> &str {
                        $name::ALL.get(number as usize).map_or("", |word| word.as_str())
                    }
                }
                Self::Numbered(word as u32, &Words)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(super) use words;
