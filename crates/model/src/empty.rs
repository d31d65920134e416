//! Parameters and results without members of their own, besides `_meta`.

use crate::fit::always_fits;
use crate::object::object;
use crate::{Extra, Meta};

/// Parameters of methods and notices that take none.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct NoParams {
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(NoParams {
    "_meta" => optional meta,
});

/// Result of methods that only report success.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(EmptyResult {
    "_meta" => optional meta,
});

always_fits!(NoParams, EmptyResult);
