//! Values whose methods are tools, resources and prompts.

use std::sync::Arc;

use super::Server;

/// A value whose methods are tools, resources and prompts; `#[tools]` on an `impl` block implements it.
///
/// All calls share the value, so what changes in it is in a `Mutex`, or atomic.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no methods to offer",
    label = "its `impl` block does not have `#[tools]`",
    note = "put `#[tools]` on the `impl` block, and `#[tool]` on each method that is a tool"
)]
pub trait Methods: Send + Sync + 'static {
    /// Adds the methods to a server.
    fn add_to(self: Arc<Self>, server: Server) -> Server;
}

impl<M: Methods> Methods for Arc<M> {
    fn add_to(self: Arc<Self>, server: Server) -> Server {
        M::add_to(Arc::clone(&*self), server)
    }
}
