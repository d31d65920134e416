//! How results are printed, and how much is logged.

/// For whom results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// How much is said on standard error about what goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// What somebody should look at.
    Warnings,
    /// Every call.
    Calls,
    /// Everything.
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
