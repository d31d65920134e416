//! Approved definitions of tools, and the comparison with their present definitions.
//!
//! A model reads the definition of a tool, and a user approves it. The server may change it later.
//! So the client stores the whole approved definition, not a digest of it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use pintle_model::Tool;
use pintle_runtime::sync::{Mutex, MutexGuard};

use crate::error::ApprovalError;
use crate::tool_cache::KnownTool;

/// The approved definitions of the tools of one server. Clones share them.
///
/// Tools are approved by their names, so approvals belong to one server: to that of the first client
/// that uses them. Another client is refused when [`Connect::key`](pintle_runtime::Connect::key)
/// names another server, because a tool of the same definition may do something else there.
///
/// With [`ClientBuilder::watch_tools`](crate::ClientBuilder::watch_tools) a client compares the
/// tools that it lists with the approved definitions. With
/// [`ClientBuilder::pin_tools`](crate::ClientBuilder::pin_tools) it also refuses calls of tools
/// that are not approved. `Surface::approvals` of `pintle-surface` approves the tools of a lock file.
///
/// ```
/// # async fn example(server: impl pintle_runtime::Service) -> Result<(), Box<dyn std::error::Error>> {
/// use pintle_client::{Approvals, CallError, Client, InProcess};
///
/// let approvals = Approvals::default();
/// let client = Client::builder()
///     .pin_tools(approvals.clone())
///     .on_changed_tool(|tool| eprintln!("{} is not what was approved", tool.name))
///     .connect(InProcess::new(server))
///     .await?;
/// for tool in client.list_tools().await? {
///     // Show it to the user, who agrees.
///     approvals.approve(&tool);
/// }
/// match client.call_tool("add", serde_json::json!({ "a": 1, "b": 2 })).await {
///     Err(CallError::NotApproved { tool, why }) => eprintln!("{tool} was not called: {why}"),
///     other => drop(other?),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Approvals(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    approved_by_name: HashMap<String, Approved>,
    /// The key of the server that the tools belong to; none until a client with a key uses the
    /// approvals.
    server: Option<String>,
}

struct Approved {
    fingerprint: Arc<str>,
    /// The last listed fingerprint.
    seen: Option<Arc<str>>,
}

impl Approvals {
    /// Returns the fingerprint of a tool: its whole definition without `_meta`, as JSON with sorted
    /// members. Two tools have the same fingerprint only if their definitions are equal.
    pub fn fingerprint(tool: &Tool) -> String {
        let mut tool = tool.clone();
        tool.meta = None;
        let mut definition = serde_json::to_value(tool).unwrap_or_default();
        definition.sort_all_objects();
        definition.to_string()
    }

    /// Approves the present definition of a tool.
    pub fn approve(&self, tool: &Tool) {
        self.restore(&tool.name, &Self::fingerprint(tool));
    }

    /// Approves the tool of this name with a fingerprint that a program stored across runs.
    pub fn restore(&self, name: &str, fingerprint: &str) {
        let approved = Approved {
            fingerprint: fingerprint.into(),
            seen: None,
        };
        self.lock()
            .approved_by_name
            .insert(name.to_owned(), approved);
    }

    /// Revokes the approval of a tool. Returns true if it was approved.
    pub fn revoke(&self, name: &str) -> bool {
        self.lock().approved_by_name.remove(name).is_some()
    }

    /// Checks that a tool is approved in its present definition.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Never`] and [`ApprovalError::Changed`].
    pub fn check(&self, tool: &Tool) -> Result<(), ApprovalError> {
        self.check_fingerprint(&tool.name, &Self::fingerprint(tool))
    }

    fn check_fingerprint(&self, name: &str, fingerprint: &str) -> Result<(), ApprovalError> {
        match self.lock().approved_by_name.get(name) {
            None => Err(ApprovalError::Never),
            Some(approved) if *approved.fingerprint == *fingerprint => Ok(()),
            Some(_) => Err(ApprovalError::Changed),
        }
    }

    /// Binds the approvals to the server with this key.
    ///
    /// # Errors
    ///
    /// The reason, if they belong to another server.
    pub(crate) fn bind(&self, server: &str) -> Result<(), String> {
        let mut state = self.lock();
        let bound = state.server.get_or_insert_with(|| server.to_owned());
        match bound == server {
            true => Ok(()),
            false => Err("the approvals belong to another server".to_owned()),
        }
    }

    /// Returns true if an approved tool has a new definition that was not reported before. Records
    /// the definition.
    pub(crate) fn is_news(&self, name: &str, fingerprint: &Arc<str>) -> bool {
        let mut all = self.lock();
        let Some(approved) = all.approved_by_name.get_mut(name) else {
            return false;
        };
        let is_news =
            approved.fingerprint != *fingerprint && approved.seen.as_ref() != Some(fingerprint);
        approved.seen = Some(Arc::clone(fingerprint));
        is_news
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.lock().approved_by_name.keys().cloned().collect();
        f.debug_tuple("Approvals").field(&names).finish()
    }
}

/// How a client uses approvals.
#[derive(Debug, Clone)]
pub(crate) struct ToolPins {
    pub(crate) approvals: Approvals,
    /// True if calls of tools without approval are refused.
    pub(crate) refuses: bool,
}

/// Checks that the cached definition of a tool is approved and is the only one of its name.
///
/// # Errors
///
/// [`ApprovalError`].
pub(crate) fn check_approval(
    approvals: &Approvals,
    name: &str,
    tool: Option<&KnownTool>,
) -> Result<(), ApprovalError> {
    let tool = tool.ok_or(ApprovalError::Unlisted)?;
    let fingerprint = tool.fingerprint.as_deref().ok_or(ApprovalError::Unlisted)?;
    approvals.check_fingerprint(name, fingerprint)?;
    match tool.is_ambiguous {
        true => Err(ApprovalError::Changed),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::{Meta, ToolAnnotations};
    use serde_json::json;

    use super::*;

    fn tool() -> Tool {
        let schema = json!({ "type": "object", "properties": { "b": {}, "a": {} } });
        Tool::new("t", schema.as_object().cloned().unwrap_or_default()).with_description("Helps.")
    }

    // hardening: H-76
    #[test]
    fn an_approval_covers_the_whole_definition_of_a_tool() {
        let approvals = Approvals::default();
        assert_eq!(approvals.check(&tool()), Err(ApprovalError::Never));
        approvals.approve(&tool());
        assert_eq!(approvals.check(&tool()), Ok(()));
        let mut schema = tool();
        schema.input_schema.insert("title".into(), "x".into());
        let mut annotated = tool();
        annotated.annotations = Some(ToolAnnotations::default());
        let mut extended = tool();
        extended.extra = serde_json::from_value(json!({ "own": 1 })).expect("members");
        for other in [
            tool().with_description("Helps itself."),
            tool().with_title("T"),
            tool().with_output_schema(schema.input_schema.clone()),
            schema,
            annotated,
            extended,
        ] {
            assert_eq!(
                approvals.check(&other),
                Err(ApprovalError::Changed),
                "{other:?}"
            );
        }
        assert!(approvals.revoke("t") && !approvals.revoke("t"));
        assert_eq!(approvals.check(&tool()), Err(ApprovalError::Never));
    }

    #[test]
    fn the_order_of_members_and_the_metadata_do_not_change_a_fingerprint() {
        let mut other = tool();
        let schema = json!({ "properties": { "a": {}, "b": {} }, "type": "object" });
        other.input_schema = schema.as_object().cloned().unwrap_or_default().into();
        other.meta = Some(Meta::new());
        let approvals = Approvals::default();
        approvals.restore("t", &Approvals::fingerprint(&tool()));
        assert_eq!(approvals.check(&other), Ok(()));
    }

    // hardening: H-76
    #[test]
    fn approvals_belong_to_one_server() {
        let approvals = Approvals::default();
        assert_eq!(approvals.bind("tcp:one"), Ok(()));
        assert!(approvals.bind("tcp:another").is_err());
        assert_eq!(approvals.clone().bind("tcp:one"), Ok(()));
        assert_eq!(Approvals::default().bind("tcp:another"), Ok(()));
    }

    #[test]
    fn a_change_is_news_once() {
        let approvals = Approvals::default();
        let [old, new]: [Arc<str>; 2] = ["old".into(), "new".into()];
        assert!(!approvals.is_news("t", &new), "nobody has approved it");
        approvals.restore("t", "old");
        let news = [&old, &new, &new, &old, &new].map(|seen| approvals.is_news("t", seen));
        assert_eq!(news, [false, true, false, false, true]);
    }
}
