//! Notices of changes, in both eras.

use pintle_runtime::sync::Mutex;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use pintle_model::Error;
use pintle_model::method::Notice;
#[cfg(feature = "replicas")]
use pintle_proto::Connection;
use pintle_proto::{Change, RenderedNotice};
use pintle_runtime::EngineHandle;

/// Sends notices of changes to every conversation that subscribes. A clone is another handle to the
/// same hub.
///
/// A notice that still waits for a peer is not queued twice: a busy peer receives one notice for
/// many tools that were added in a row.
#[derive(Clone, Default)]
pub struct Changes {
    // A conversation ends by dropping its handle; each walk over the list sweeps dead handles.
    engine_handles: Arc<Mutex<Vec<Weak<dyn EngineHandle>>>>,
    /// This replica, if others may share the store of the server.
    // Weak, because the replica has a handle to this hub.
    replica: Arc<OnceLock<Weak<dyn Publish>>>,
}

/// Sends changes to the other replicas.
pub(crate) trait Publish: Send + Sync {
    /// Begins to send a change.
    fn publish(self: Arc<Self>, change: &Change);
}

impl Changes {
    /// The set of tools changed.
    pub fn tools(&self) {
        self.publish(&Change::Tools);
    }

    /// The set of prompts changed.
    pub fn prompts(&self) {
        self.publish(&Change::Prompts);
    }

    /// The set of resources or of templates changed.
    pub fn resources(&self) {
        self.publish(&Change::Resources);
    }

    /// The content of one resource changed.
    pub fn resource(&self, uri: impl Into<String>) {
        self.publish(&Change::Resource(uri.into()));
    }

    /// Sends the notice of a change, also to the clients of other replicas with the same store. They receive
    /// it after about 20 ms, unless its URI has more than 64 KiB.
    pub fn publish(&self, change: &Change) {
        self.tell(&RenderedNotice::of(change));
        if let Some(replica) = self.replica.get().and_then(Weak::upgrade) {
            replica.publish(change);
        }
    }

    /// Sends a notice of an extension to all clients of this process that subscribe to it: see
    /// [`ProtocolExtension::notice`](crate::ProtocolExtension::notice).
    ///
    /// A peer that does not read may lose the oldest notices. The principal is not checked, so send
    /// secrets only in the answers of methods.
    ///
    /// # Errors
    ///
    /// -32603 if `params` is not an object, or cannot be written as JSON.
    pub fn notify<N: Notice>(&self, params: &N::Params) -> Result<(), Error> {
        self.tell(&RenderedNotice::notice::<N>(params, None)?);
        Ok(())
    }

    /// As [`Changes::notify`], to the clients that subscribe to `key` or to all notices of the topic.
    ///
    /// # Errors
    ///
    /// As [`Changes::notify`].
    pub fn notify_about<N: Notice>(&self, key: &str, params: &N::Params) -> Result<(), Error> {
        self.tell(&RenderedNotice::notice::<N>(params, Some(key))?);
        Ok(())
    }

    /// Sends a rendered notice; all conversations share its bytes.
    pub fn tell(&self, news: &RenderedNotice) {
        self.each(|engine_handle| engine_handle.engine(&mut |engine| engine.send_notice(news)));
    }

    /// Sends every change to the conversations of this process, because some may have been lost.
    #[cfg(feature = "replicas")]
    pub(crate) fn tell_all(&self) {
        self.each(|engine_handle| engine_handle.engine(&mut Connection::publish_all));
    }

    /// Publishes later changes to the other replicas. Does nothing after the first call.
    #[cfg(feature = "replicas")]
    pub(crate) fn connect(&self, replica: Weak<dyn Publish>) {
        self.replica.get_or_init(|| replica);
    }

    /// Calls `change` for each handle. A handle may stand for many conversations:
    /// `EngineHandle::engine` reaches them all.
    pub(crate) fn each(&self, mut change: impl FnMut(&dyn EngineHandle)) {
        for engine_handle in self.living() {
            change(&*engine_handle);
        }
    }

    pub(crate) fn attach(&self, engine_handle: Weak<dyn EngineHandle>) {
        let mut engine_handles = self.engine_handles.lock();
        // A sweep before the list grows keeps its size within twice the number of live handles.
        if engine_handles.len() == engine_handles.capacity() {
            engine_handles.retain(|engine_handle| engine_handle.strong_count() > 0);
        }
        engine_handles.push(engine_handle);
    }

    /// Collects the live handles, so that no lock is held while an engine sends a notice.
    fn living(&self) -> Vec<Arc<dyn EngineHandle>> {
        let mut engine_handles = self.engine_handles.lock();
        engine_handles.retain(|engine_handle| engine_handle.strong_count() > 0);
        engine_handles.iter().filter_map(Weak::upgrade).collect()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine_handles = self.engine_handles.lock();
        f.debug_struct("Changes")
            .field("conversations", &engine_handles.len())
            .finish()
    }
}

#[cfg(test)]
mod tests;
