//! A macro for enumerations of words, each spelled in one place. Not the words.

/// Declares an enumeration with the word of each value: `words! { pub enum Unit { Duration = "duration" } }`
/// gives `Unit::ALL`, `as_str` and `parse`.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$of_value:meta])* $value:ident = $word:literal),* $(,)? }
    ) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$of_value])* $value),* }

        #[allow(dead_code, reason = "what all enumerations of words have")]
        impl $name {
            /// Every value, in the order in which they are declared.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// The word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word),* }
            }

            /// The value that is spelled exactly like this.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$value),)* _ => None }
            }
        }
    };
}
pub(crate) use words;
