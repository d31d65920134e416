//! The levels of log messages.

use crate::open_enum::open_enum;

open_enum! {
    /// How grave a log message is: the levels of RFC 5424, in ascending order.
    pub enum LoggingLevel {
        /// For finding faults.
        Debug = "debug",
        /// General information, such as the progress of an operation.
        Info = "info",
        /// Normal, but of note.
        Notice = "notice",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A part has failed.
        Critical = "critical",
        /// Action must be taken immediately.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-LOG-03
    #[test]
    fn levels_are_ordered() {
        use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};

        let levels = [
            Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency,
        ];
        assert!(levels.is_sorted());
    }
}
