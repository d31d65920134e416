//! Values behind a lock, which all calls of a server share.

use std::fmt;
use std::sync::Arc;

use pintle_runtime::sync::{Mutex, MutexGuard};

use crate::ability::{Ability, ExtractContext, MissingAbilityError};
use crate::handle::ServerHandle;

/// An extractor of a value that calls change: it is behind a lock, and all calls of the server share it.
///
/// The value begins as `T::default()`, or as the value of [`Server::locked`](crate::Server::locked). Two values need two
/// types. Processes do not share it.
///
/// ```
/// use std::collections::HashMap;
///
/// use pintle_server::{Args, Locked, Server, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Visit {
///     page: String,
/// }
///
/// async fn visit(Args(visit): Args<Visit>, visits: Locked<HashMap<String, u64>>) -> u64 {
///     let mut visits = visits.lock();
///     let count = visits.entry(visit.page).or_default();
///     *count += 1;
///     *count
/// }
///
/// let server = Server::new("pages", "1.0.0").add_tool(Tool::new("visit").handler(visit));
/// # server.build()?;
/// # Ok::<(), pintle_server::StartError>(())
/// ```
///
/// A panic under the lock does not lock other calls out. A guard cannot be held across an `.await` of a handler, because
/// it stays on its thread: use `State<tokio::sync::Mutex<T>>` for that.
pub struct Locked<T>(Arc<Mutex<T>>);

impl<T> Locked<T> {
    /// Waits until no other call holds the lock. A second lock in the same thread waits without an end.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }
}

impl<T: Default + Send + 'static> Ability for Locked<T> {
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
        let handle = scope.state().get::<ServerHandle>();
        let handle = handle.ok_or(MissingAbilityError::of::<Self>())?;
        Ok(Self(handle.locked_values().get()))
    }
}

impl<T> Clone for Locked<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> From<T> for Locked<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }
}

/// Omits the value, because another call may hold the lock.
impl<T> fmt::Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Locked")
    }
}

#[cfg(test)]
mod tests {
    use pintle_runtime::Extensions;

    use super::*;
    use crate::Server;
    use crate::testing::context;

    fn extract<T: Default + Send + 'static>(server: &Server) -> Locked<T> {
        let mut state = Extensions::new();
        state.insert(server.handle());
        let extracted = Locked::from_scope(&ExtractContext::new(&context(), &state));
        extracted.expect("a server has values")
    }

    #[test]
    fn a_locked_value_begins_as_its_default_and_is_shared() {
        let server = Server::new("counter", "1");
        *extract::<u8>(&server).lock() += 2;
        *extract::<u8>(&server).lock() += 3;
        assert_eq!(*extract::<u8>(&server).lock(), 5);
        assert_eq!(*extract::<u16>(&server).lock(), 0, "another type");
        let other = Server::new("counter", "1");
        assert_eq!(*extract::<u8>(&other).lock(), 0, "another server");
    }

    #[test]
    fn a_locked_value_begins_as_that_of_the_server() {
        let server = Server::new("counter", "1").locked(7u8);
        *extract::<u8>(&server).lock() += 1;
        assert_eq!(*extract::<u8>(&server).lock(), 8);
    }

    #[test]
    fn a_handler_outside_of_a_server_has_no_locked_value() {
        let (cx, state) = (context(), Extensions::new());
        assert!(Locked::<u8>::from_scope(&ExtractContext::new(&cx, &state)).is_err());
    }
}
