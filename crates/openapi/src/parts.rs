//! The data of an operation.

use std::sync::Arc;

use pintle_runtime::NetworkScope;

use crate::arguments::Arguments;
use crate::fixed::FixedParameter;
use crate::limits::OpenApiLimits;
use crate::path::PathTemplate;

/// The data of an operation.
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) method: &'static str,
    pub(crate) description: Option<String>,
    pub(crate) tags: Vec<Box<str>>,
    pub(crate) path: PathTemplate,
    pub(crate) arguments: Arguments,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) api: Arc<Api>,
}

/// The API of all operations.
pub(crate) struct Api {
    /// The base URL, without a final slash.
    pub(crate) url: String,
    pub(crate) network: NetworkScope,
    pub(crate) fixed: Vec<FixedParameter>,
    pub(crate) limits: OpenApiLimits,
}
