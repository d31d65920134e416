//! The levels of log messages.

use crate::open_enum::open_enum;

open_enum! {
    /// Severity of a log message: the levels of RFC 5424, in ascending order.
    pub enum LoggingLevel {
        /// Detailed information for debugging.
        Debug = "debug",
        /// General information, such as the progress of an operation.
        Info = "info",
        /// A normal but significant event.
        Notice = "notice",
        /// A condition that may become an error.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A failure of a component.
        Critical = "critical",
        /// Action must be taken immediately.
        Alert = "alert",
        /// The system is unusable.
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
