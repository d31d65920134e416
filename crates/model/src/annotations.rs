//! Hints about a piece of content: for whom, how important, how old.

use crate::fit::drop_without;
use crate::object::object;
use crate::open_enum::open_enum;
use crate::{Extra, Feature, Fit, FitError, Revision, Timestamp, number};

open_enum! {
    /// Sender or recipient of messages in a conversation.
    pub enum Role {
        /// The user.
        User = "user",
        /// The language model.
        Assistant = "assistant",
    }
}

/// Untrusted hints of the server about content or a resource.
///
/// Spec: [2026-07-28, Resources, Annotations](https://modelcontextprotocol.io/specification/2026-07-28/server/resources#annotations).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// Intended audience of the content.
    pub audience: Option<Vec<Role>>,
    /// Importance, from 0 (can be left out) to 1 (required).
    pub priority: Option<f64>,
    /// Time of the last change.
    pub last_modified: Option<Timestamp>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(Annotations {
    "audience" => optional audience,
    "priority" => optional priority (write number::shortest),
    "lastModified" => optional last_modified,
});

impl Annotations {
    /// Sets the intended audience of the content.
    #[must_use]
    pub fn with_audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
        self.audience = Some(audience.into_iter().collect());
        self
    }

    /// Sets the importance of the content, from 0 to 1. A value outside is clamped; NaN becomes 0.
    #[must_use]
    pub fn with_priority(mut self, priority: f64) -> Self {
        let priority = if priority.is_nan() { 0.0 } else { priority };
        self.priority = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Sets the time of the last change of the content.
    #[must_use]
    pub fn with_last_modified(mut self, instant: impl Into<Timestamp>) -> Self {
        self.last_modified = Some(instant.into());
        self
    }
}

impl Fit for Annotations {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::LastModified, revision, &mut self.last_modified);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn annotations_state_when_the_content_last_changed() {
        let changed = Timestamp::from("2026-07-28T00:00:00Z");
        let annotations = Annotations::default().with_last_modified(changed);
        let wire = serde_json::to_value(annotations).unwrap();
        assert_eq!(wire, json!({"lastModified": "2026-07-28T00:00:00Z"}));
    }
}
