//! Reading types of this crate in other crates.

use crate::read::from_text;
use crate::{
    ClientCapabilities, CompleteParams, CreateTaskResult, Implementation, InitializeParams,
    InitializeResult, ListenParams, ProgressParams, SetLevelParams, SubscribeParams, Task,
};

/// A type that this crate reads from JSON.
///
/// A generic decoder is compiled again in each crate that names it, with all types of its members. This method is not
/// generic, so all crates share one.
pub trait ReadJson: Sized {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// As [`serde_json::from_str`].
    fn read_json(text: &str) -> serde_json::Result<Self>;
}

macro_rules! read_json {
    ($($name:ty),* $(,)?) => {$(
        impl ReadJson for $name {
            fn read_json(text: &str) -> serde_json::Result<Self> {
                from_text(text)
            }
        }
    )*};
}

read_json! {
    ClientCapabilities,
    CompleteParams,
    CreateTaskResult,
    Implementation,
    InitializeParams,
    InitializeResult,
    ListenParams,
    ProgressParams,
    SetLevelParams,
    SubscribeParams,
    Task,
}
