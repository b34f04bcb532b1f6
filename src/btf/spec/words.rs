//! A macro for the words of a specification: an enumeration whose values are spelled in one place. Not the
//! words.

/// Declares an enumeration of words: `ALL`, `as_str`, `parse`, and the conversion to a name of a table
/// column.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word of the specification.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// The value that is spelled exactly like this.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
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
