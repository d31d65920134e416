//! One list of type parameters for every trait that is implemented for functions or tuples.

/// Calls a macro once for each length up to the given one, with that many pairs of type parameters:
/// the first of a pair is the type of a function's parameter or the member of a tuple, the second
/// is its `Via`.
macro_rules! all_tuples {
    ($each:ident, up to 4) => {
        all_tuples! { @start $each [_ _ _ _] }
    };
    ($each:ident, up to 8) => {
        all_tuples! { @start $each [_ _ _ _ _ _ _ _] }
    };
    ($each:ident, up to 16) => {
        all_tuples! { @start $each [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _] }
    };
    (@start $each:ident $left:tt) => {
        all_tuples! {
            @grow $each $left []
            A1 V1, A2 V2, A3 V3, A4 V4, A5 V5, A6 V6, A7 V7, A8 V8,
            A9 V9, A10 V10, A11 V11, A12 V12, A13 V13, A14 V14, A15 V15, A16 V16,
        }
    };
    (@grow $each:ident [] [$($param:ident $via:ident,)*] $($rest:tt)*) => {
        $each! { $($param $via),* }
    };
    (
        @grow $each:ident [_ $($left:tt)*] [$($param:ident $via:ident,)*]
        $next:ident $next_via:ident, $($rest:tt)*
    ) => {
        $each! { $($param $via),* }
        all_tuples! {
            @grow $each [$($left)*] [$($param $via,)* $next $next_via,] $($rest)*
        }
    };
}

pub(crate) use all_tuples;
