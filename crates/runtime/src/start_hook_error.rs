//! The error of a server whose start failed.

use std::error::Error;
use std::fmt;

/// A hook that runs before the first request failed, so the server does not serve.
pub struct StartHookError(Box<dyn Error + Send + Sync>);

impl StartHookError {
    /// Creates the error from that of the hook.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

impl fmt::Display for StartHookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a start hook of the server failed")
    }
}

/// The text with its causes, because a `main` that returns the error prints this form.
impl fmt::Debug for StartHookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut cause = self.source();
        while let Some(reason) = cause {
            write!(f, ": {reason}")?;
            cause = reason.source();
        }
        Ok(())
    }
}

impl Error for StartHookError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
