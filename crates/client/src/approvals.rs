//! Tools as somebody has approved them, and whether they are still the same.
//!
//! What a tool says of itself is read by a model, and shown to a user who agrees to it. A server may
//! say something else later. So what was agreed to is kept: the whole definition, not a digest of it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use pintle_model::Tool;
use pintle_runtime::sync::{Mutex, MutexGuard};

use crate::error::ApprovalError;
use crate::tool_cache::KnownTool;

/// What was approved of the tools of one server. Clones share it.
///
/// Tools are approved by their names, so approvals belong to one server: to that of the first client
/// that uses them. Another client is refused when [`Connect::key`](pintle_runtime::Connect::key)
/// names another server, because a tool of the same definition may do something else there.
///
/// [`ClientBuilder::watch_tools`](crate::ClientBuilder::watch_tools) has a client compare what it lists
/// with it, [`ClientBuilder::pin_tools`](crate::ClientBuilder::pin_tools) refuse calls of what is not in
/// it.
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
    /// The key of the server that the tools are of, once it is known.
    server: Option<String>,
}

/// One tool.
struct Approved {
    fingerprint: Arc<str>,
    /// What it was last told to have become.
    told: Option<Arc<str>>,
}

impl Approvals {
    /// What is approved of a tool: its whole definition but for `_meta`, with members in one order.
    /// Two tools that say the same have the same fingerprint, and no others have.
    pub fn fingerprint(tool: &Tool) -> String {
        let mut tool = tool.clone();
        tool.meta = None;
        let mut definition = serde_json::to_value(tool).unwrap_or_default();
        definition.sort_all_objects();
        definition.to_string()
    }

    /// Approves a tool as it is.
    pub fn approve(&self, tool: &Tool) {
        self.restore(&tool.name, &Self::fingerprint(tool));
    }

    /// Approves what has this name and this fingerprint: to be kept from one run to the next.
    pub fn restore(&self, name: &str, fingerprint: &str) {
        let approved = Approved {
            fingerprint: fingerprint.into(),
            told: None,
        };
        self.lock()
            .approved_by_name
            .insert(name.to_owned(), approved);
    }

    /// Takes an approval back; whether there was one.
    pub fn revoke(&self, name: &str) -> bool {
        self.lock().approved_by_name.remove(name).is_some()
    }

    /// Whether a tool is approved as it is.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Never`] and [`ApprovalError::Changed`].
    pub fn check(&self, tool: &Tool) -> Result<(), ApprovalError> {
        self.judge(&tool.name, &Self::fingerprint(tool))
    }

    fn judge(&self, name: &str, fingerprint: &str) -> Result<(), ApprovalError> {
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
    /// The reason, if they belong to another one.
    pub(crate) fn bind(&self, server: &str) -> Result<(), String> {
        let mut state = self.lock();
        let bound = state.server.get_or_insert_with(|| server.to_owned());
        match bound == server {
            true => Ok(()),
            false => Err("the approvals are of the tools of another server".to_owned()),
        }
    }

    /// Whether somebody is to be told that an approved tool has become something else: once of each.
    pub(crate) fn is_news(&self, name: &str, fingerprint: &Arc<str>) -> bool {
        let mut all = self.lock();
        let Some(approved) = all.approved_by_name.get_mut(name) else {
            return false;
        };
        let is_news =
            approved.fingerprint != *fingerprint && approved.told.as_ref() != Some(fingerprint);
        approved.told = Some(Arc::clone(fingerprint));
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

/// What a client does with approvals.
#[derive(Debug, Clone)]
pub(crate) struct ToolPins {
    pub(crate) approvals: Approvals,
    /// Whether what is not approved is not called.
    pub(crate) refuses: bool,
}

/// Whether the approvals let a tool be called, as the client knows the tool.
///
/// # Errors
///
/// [`ApprovalError`].
pub(crate) fn judge(
    approvals: &Approvals,
    name: &str,
    known: Option<&KnownTool>,
) -> Result<(), ApprovalError> {
    let known = known.ok_or(ApprovalError::Unlisted)?;
    let fingerprint = known
        .fingerprint
        .as_deref()
        .ok_or(ApprovalError::Unlisted)?;
    approvals.judge(name, fingerprint)?;
    match known.is_ambiguous {
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
    fn whatever_a_tool_says_of_itself_is_approved_with_it() {
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
    fn the_order_of_members_and_metadata_say_nothing() {
        let mut other = tool();
        let schema = json!({ "properties": { "a": {}, "b": {} }, "type": "object" });
        other.input_schema = schema.as_object().cloned().unwrap_or_default();
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
