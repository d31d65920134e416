//! Log messages of servers.
//!
//! Spec: [2026-07-28, Logging](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).

use serde_json::Value;

use crate::fit::always_fits;
use crate::object::object;
use crate::{Extra, LoggingLevel, Meta};

/// Minimum level of the log messages that the client requests; up to 2025-11-25.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SetLevelParams {
    /// Minimum level to send.
    pub level: LoggingLevel,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(SetLevelParams {
    "level" => required level,
    "_meta" => optional meta,
});

impl SetLevelParams {
    /// Requests messages of `level` and above.
    pub fn new(level: LoggingLevel) -> Self {
        Self {
            level,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// Parameters of a log message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LogMessageParams {
    /// Severity of the message.
    pub level: LoggingLevel,
    /// Name of the logger.
    pub logger: Option<String>,
    /// Data to log: any JSON value. Read as null when missing.
    pub data: Value,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(LogMessageParams {
    "level" => required level,
    "logger" => optional logger,
    "data" => default data,
    "_meta" => optional meta,
});

impl LogMessageParams {
    /// Creates a log message with `data`.
    pub fn new(level: LoggingLevel, data: impl Into<Value>) -> Self {
        Self {
            level,
            logger: None,
            data: data.into(),
            meta: None,
            extra: Extra::new(),
        }
    }

    /// Sets the name of the logger.
    #[must_use]
    pub fn with_logger(mut self, logger: impl Into<String>) -> Self {
        self.logger = Some(logger.into());
        self
    }
}

always_fits!(SetLevelParams, LogMessageParams);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_data_too_and_is_written() {
        let message: LogMessageParams = serde_json::from_value(json!({"level": "loud"})).unwrap();
        let wire = json!({"level": "loud", "data": null});
        assert_eq!(serde_json::to_value(message).unwrap(), wire);

        let message = LogMessageParams::new(LoggingLevel::Info, "hi").with_logger("db");
        let wire = json!({"level": "info", "logger": "db", "data": "hi"});
        assert_eq!(serde_json::to_value(message).unwrap(), wire);
    }
}
