//! The result of `initialize`, rendered once for each revision.

use std::sync::OnceLock;

use pintle_model::{Error, InitializeResult, Revision};

use super::ServerProfile;
use crate::io::PeerIdentity;
use crate::reply::{Rendered, Reply};

/// The rendered results: for each revision, that for a client with an identity, and that for one without.
#[derive(Debug, Default)]
pub(super) struct Welcomes([[OnceLock<Rendered>; 2]; Revision::ALL.len()]);

/// A copy of a profile may be changed, so it renders its own results.
impl Clone for Welcomes {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl ServerProfile {
    /// The answer to `initialize`.
    ///
    /// # Errors
    ///
    /// -32603 if the result cannot be rendered.
    pub(crate) fn welcome(&self, revision: Revision, peer: &PeerIdentity) -> Result<Reply, Error> {
        let is_anonymous = *peer == PeerIdentity::Anonymous;
        let of_revision = &self.welcomes.0[revision as usize];
        let kept = &of_revision[usize::from(is_anonymous)];
        let rendered = match kept.get() {
            Some(rendered) => rendered,
            None => {
                let rendered = self.render_welcome(revision, is_anonymous)?;
                kept.get_or_init(|| rendered.into_shared())
            }
        };
        Ok(Reply::Complete(rendered.clone()))
    }

    fn render_welcome(&self, revision: Revision, is_anonymous: bool) -> Result<Rendered, Error> {
        let mut capabilities = self.capabilities_in(revision);
        // A list would show one client the tasks of another, because anonymous clients share one identity.
        if is_anonymous && let Some(tasks) = &mut capabilities.tasks {
            tasks.list = None;
        }
        let mut result = InitializeResult::new(revision, capabilities, self.identity.clone());
        result.instructions.clone_from(&self.instructions);
        Rendered::new(result, revision)
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::{Implementation, ServerCapabilities};

    use super::*;

    fn welcome(profile: &ServerProfile, peer: &PeerIdentity) -> String {
        let welcome = profile.welcome(Revision::V2025_11_25, peer);
        let (_, rendered) = welcome.expect("it can be rendered").into_parts();
        String::from_utf8(rendered.json().into_owned()).expect("UTF-8")
    }

    #[test]
    fn a_changed_copy_of_a_profile_answers_with_its_own_content() {
        let identity = Implementation::new("test", "1");
        let first = ServerProfile::new(identity, ServerCapabilities::default());
        let before = welcome(&first, &PeerIdentity::Anonymous);
        let changed = first.clone().with_instructions(Some("Ask.".into()));
        assert!(welcome(&changed, &PeerIdentity::Anonymous).contains("Ask."));
        assert_eq!(welcome(&first, &PeerIdentity::Anonymous), before);
    }

    #[test]
    fn a_kept_answer_is_for_clients_of_its_kind() {
        let mut capabilities = ServerCapabilities::default();
        let tasks = serde_json::json!({"list": {}, "cancel": {}});
        capabilities.tasks = Some(serde_json::from_value(tasks).expect("capabilities"));
        let profile = ServerProfile::new(Implementation::new("test", "1"), capabilities);
        for _ in 0..2 {
            let of_anonymous = welcome(&profile, &PeerIdentity::Anonymous);
            assert!(!of_anonymous.contains("list") && of_anonymous.contains("cancel"));
            let of_principal = welcome(&profile, &PeerIdentity::Principal("a client".into()));
            assert!(of_principal.contains("list"));
        }
    }
}
