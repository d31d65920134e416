//! The result of one check in one revision.

use std::pin::Pin;

use pintle_model::Revision;
use serde::{Serialize, Serializer};

use crate::level::{Carrier, Level};

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
#[non_exhaustive]
pub enum Verdict {
    /// The server behaves as expected.
    Passed,
    /// The server behaves otherwise.
    Failed,
    /// The check could not be made.
    Skipped {
        /// Why it could not be made.
        reason: String,
    },
}

/// One check in one revision, with its verdict.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The id of the check.
    pub check: &'static str,
    /// The revision of the conversation.
    #[serde(serialize_with = "date")]
    pub revision: Revision,
    /// The transport of the conversation.
    pub carrier: Carrier,
    /// The level of the check in this revision.
    pub level: Level,
    /// The ids of the requirements that the check shows.
    pub requirements: Vec<&'static str>,
    /// Whether the server passed.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The end of the bytes that were sent; only of a failed check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// The observed behavior; only of a failed check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub came: Option<String>,
    /// The expected behavior.
    pub expected: &'static str,
    /// The page and section that requires it.
    pub page: &'static str,
}

impl Finding {
    /// Returns true if the server behaves otherwise than expected.
    pub fn is_failed(&self) -> bool {
        self.verdict == Verdict::Failed
    }

    /// Returns true if the check was made.
    pub fn was_made(&self) -> bool {
        !matches!(self.verdict, Verdict::Skipped { .. })
    }
}

fn date<S: Serializer>(revision: &Revision, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(revision.as_str())
}

/// The reason why a check ended before it passed.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The server behaves otherwise.
    Failed {
        /// The observed behavior; by default the last answer.
        came: Option<String>,
        /// The sent message; by default the last one.
        sent: Option<String>,
    },
    /// The check cannot be made.
    Skipped(String),
}

/// The result of the code of a check.
pub(crate) type Judgement = Result<(), Stop>;

/// A running check.
pub(crate) type Judging<'p> = Pin<Box<dyn Future<Output = Judgement> + Send + 'p>>;

/// Fails with the last answer as the observed behavior.
pub(crate) fn failed() -> Stop {
    Stop::Failed {
        came: None,
        sent: None,
    }
}

/// Fails with a text about the observed behavior.
pub(crate) fn observed(came: impl Into<String>) -> Stop {
    Stop::Failed {
        came: Some(came.into()),
        sent: None,
    }
}

/// Fails with a text about the observed behavior, and the message that caused it.
pub(crate) fn observed_after(sent: impl Into<String>, came: impl Into<String>) -> Stop {
    Stop::Failed {
        came: Some(came.into()),
        sent: Some(sent.into()),
    }
}

/// Skips the check.
pub(crate) fn skipped(reason: impl Into<String>) -> Stop {
    Stop::Skipped(reason.into())
}

/// Passes if the condition holds; otherwise the last answer is the observed behavior.
pub(crate) fn ensure(holds: bool) -> Judgement {
    match holds {
        true => Ok(()),
        false => Err(failed()),
    }
}
