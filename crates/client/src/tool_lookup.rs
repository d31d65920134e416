//! How a stage of a call finds a tool in the server's list.
//!
//! A call may need the definition of its tool, and listing tools is a call. The stages depend on the
//! trait, and the list implements the trait, so the two do not import each other.

#[cfg(test)]
pub(crate) mod fake;

use pintle_model::Tool;
use pintle_runtime::BoxFuture;

use crate::error::CallError;

/// Finds tools in the list of a server.
pub(crate) trait ToolLookup: Send + Sync {
    /// Lists the tools of the server up to the one with this name, and returns that one. The client
    /// learns every tool that it reads on the way. Fresh cached pages are not requested again.
    ///
    /// # Errors
    ///
    /// [`CallError`] if a page cannot be listed.
    fn look_up(&self, name: &str) -> BoxFuture<'_, Result<Option<Tool>, CallError>>;
}

/// Returns true if the server lists a tool of this name. A failure is logged.
pub(crate) async fn is_listed(lookup: &dyn ToolLookup, name: &str) -> bool {
    match lookup.look_up(name).await {
        Ok(tool) => tool.is_some(),
        Err(error) => {
            tracing::debug!(%error, "the tools could not be listed");
            false
        }
    }
}
