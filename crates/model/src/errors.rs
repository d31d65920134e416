//! The macro that declares error types: each variant beside its text and its source.

/// Declares error types and implements `Display` and `Error` for them.
///
/// A text is a format string that can name the fields. `(source: field)` makes a field the source;
/// `(source of field)` returns the source of a field whose text the error repeats.
///
/// ```
/// pintle_model::errors! {
///     /// Reasons why a number is invalid.
///     #[derive(Debug)]
///     pub enum NumberError {
///         /// There are no digits.
///         Empty => "the number has no digits",
///         /// The number is above the limit.
///         TooLarge {
///             /// The limit.
///             limit: u32,
///         } => "the number is above {limit}",
///         /// The text is not a number.
///         Invalid(error: std::num::ParseIntError) => "the text is not a number" (source: error),
///     }
///
///     /// The sum is out of range.
///     #[derive(Debug)]
///     pub struct SumError => "the sum is out of range";
/// }
/// # use std::error::Error;
/// # assert_eq!(NumberError::TooLarge { limit: 9 }.to_string(), "the number is above 9");
/// # assert!(NumberError::Empty.source().is_none() && SumError.source().is_none());
/// # assert!(NumberError::Invalid("x".parse::<u8>().unwrap_err()).source().is_some());
/// # assert_eq!(SumError.to_string(), "the sum is out of range");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! errors {
    () => {};
    (@source) => { None };
    (@source (source: $source:expr)) => { Some($source) };
    (@source (source of $inner:expr)) => { ::std::error::Error::source($inner) };
    (@impls $name:ident { $( $pattern:pat => $text:literal $( ( $($source:tt)+ ) )? ),+ $(,)? }) => {
        impl ::std::fmt::Display for $name {
            #[allow(unused_variables)]
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self { $( $pattern => ::std::write!(f, $text), )+ }
            }
        }

        impl ::std::error::Error for $name {
            #[allow(unused_variables)]
            fn source(&self) -> Option<&(dyn ::std::error::Error + 'static)> {
                match self { $( $pattern => $crate::errors!(@source $( ( $($source)+ ) )?), )+ }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $(
                $(#[$variant_meta:meta])*
                $variant:ident
                $( { $( $(#[$field_meta:meta])* $field:ident: $field_type:ty ),+ $(,)? } )?
                $( ( $( $item:ident: $item_type:ty ),+ $(,)? ) )?
                => $text:literal $( ( $($source:tt)+ ) )?
            ),+ $(,)?
        }
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $(
                $(#[$variant_meta])*
                $variant
                $( { $( $(#[$field_meta])* $field: $field_type, )+ } )?
                $( ( $( $item_type, )+ ) )?,
            )+
        }
        $crate::errors! { @impls $name { $(
            Self::$variant $( { $( $field, )+ } )? $( ( $( $item, )+ ) )?
                => $text $( ( $($source)+ ) )?,
        )+ } }
        $crate::errors! { $($rest)* }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident
        $( { $( $(#[$field_meta:meta])* $field_vis:vis $field:ident: $field_type:ty ),+ $(,)? } )?
        $( ( $( $item_vis:vis $item:ident: $item_type:ty ),+ $(,)? ) )?
        => $text:literal $( ( $($source:tt)+ ) )?;
        $($rest:tt)*
    ) => {
        $crate::errors! { @struct
            [$(#[$meta])* $vis struct $name]
            [$( { $( $(#[$field_meta])* $field_vis $field: $field_type, )+ } )?]
            [$( ( $( $item_vis $item_type, )+ ) )?]
        }
        $crate::errors! { @impls $name {
            Self $( { $( $field, )+ } )? $( ( $( $item, )+ ) )? => $text $( ( $($source)+ ) )?,
        } }
        $crate::errors! { $($rest)* }
    };
    (@struct [$($head:tt)+] [$($fields:tt)+] []) => { $($head)+ $($fields)+ };
    (@struct [$($head:tt)+] [] [$($items:tt)*]) => { $($head)+ $($items)*; };
}
