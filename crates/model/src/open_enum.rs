//! Enumerations that a later revision may extend: an unknown word is kept, not refused.

/// Declares an enumeration of wire words, with `Unknown` for every other word.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
            /// An unknown word; written as it was read.
            Unknown(Box<str>),
        }

        impl $name {
            /// Returns the word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )+
                    Self::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $word => Self::$variant, )+
                    other => Self::Unknown(other.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl $crate::read::Read for $name {
            fn read(
                source: &mut dyn $crate::read::Source<'_>,
            ) -> Result<Self, $crate::read::ReadError> {
                $crate::read::read_text(source, "a string", |word| Self::from(&*word))
            }
        }

        $crate::read::deserialize_by_read!($name);
    };
}

pub(crate) use open_enum;
