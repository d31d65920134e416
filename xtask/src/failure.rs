//! Why a task did not succeed: the house is not in order, or nobody could look.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a task did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody asked for a task that exists.
    Usage(&'static str),
    /// The check was made and found these faults.
    Faults {
        /// The rule that does not hold.
        rule: &'static str,
        /// One line per place.
        faults: Vec<String>,
    },
    /// The check could not be made.
    Unable {
        /// What was being attempted.
        attempted: String,
        /// Why it did not work.
        cause: Box<dyn Error + Send + Sync>,
    },
}

impl Failure {
    /// Says that a check could not be made.
    pub(crate) fn unable(
        attempted: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Unable {
            attempted: attempted.into(),
            cause: cause.into(),
        }
    }

    /// Success when there are no faults.
    pub(crate) fn unless_empty(rule: &'static str, faults: Vec<String>) -> Result<()> {
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Self::Faults { rule, faults })
        }
    }

    /// 1 for a fault, 2 for a check that was not made.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Faults { .. } => ExitCode::from(1),
            Self::Usage(_) | Self::Unable { .. } => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(usage) => f.write_str(usage.trim_end()),
            Self::Faults { rule, faults } => {
                write!(f, "{rule}:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Self::Unable { attempted, cause } => write!(f, "could not {attempted}: {cause}"),
        }
    }
}

/// Says what was being attempted when something else failed.
pub(crate) trait Attempt<T> {
    /// Turns any error into a [`Failure::Unable`].
    fn attempting(self, attempted: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> Attempt<T> for std::result::Result<T, E> {
    fn attempting(self, attempted: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Failure::unable(attempted(), cause))
    }
}
