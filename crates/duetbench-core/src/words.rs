//! Tables of the words that stand for the values of an enumeration.

/// Gives every value of an enumeration its word: `words!(Clock: Wall "wall", Cpu "cpu");`. Behind the enumeration's name stands what is
/// wanted besides, in this order: `ALL`, the values as they are listed, and `from_word`.
#[macro_export]
macro_rules! words {
    ($name:ident: $($value:ident $word:literal),+) => {
        impl $name {
            /// The word used in machine formats, and by whoever has to type it.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$value => $word),+
                }
            }
        }
    };
    ($name:ident, ALL $(, $from_word:ident)?: $($value:ident $word:literal),+) => {
        impl $name {
            /// All of them, in their order.
            pub const ALL: [$name; [$($name::$value),+].len()] = [$($name::$value),+];
        }
        $crate::words!($name $(, $from_word)?: $($value $word),+);
    };
    ($name:ident, from_word: $($value:ident $word:literal),+) => {
        impl $name {
            /// The value of this word, where there is one.
            pub fn from_word(word: &str) -> Option<$name> {
                match word {
                    $($word => Some($name::$value),)+
                    _ => None,
                }
            }
        }
        $crate::words!($name: $($value $word),+);
    };
}
