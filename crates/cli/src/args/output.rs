//! How results are printed, and how much is logged.

/// The form of results and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for people.
    Text,
    /// JSON for programs.
    Json,
}

/// The amount of logs on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Warnings and errors.
    Warnings,
    /// Also every call (`-v`).
    Calls,
    /// Also every detail (`-vv`).
    Everything,
}

impl From<bool> for Format {
    fn from(is_json: bool) -> Self {
        match is_json {
            true => Self::Json,
            false => Self::Text,
        }
    }
}

impl From<u8> for Verbosity {
    fn from(times: u8) -> Self {
        match times {
            0 => Self::Warnings,
            1 => Self::Calls,
            _ => Self::Everything,
        }
    }
}
