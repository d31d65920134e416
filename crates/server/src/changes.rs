//! Telling of changes, in both eras.

use pintle_runtime::sync::Mutex;
use std::fmt;
use std::sync::{Arc, Weak};

use pintle_model::Error;
use pintle_model::method::Notice;
use pintle_proto::{Change, RenderedNotice};
use pintle_runtime::EngineHandle;

/// Tells every conversation that listens of changes. Cloning gives another handle to the same hub.
///
/// A change that a peer has not yet been sent is not told twice: adding many tools in a row is one
/// notice to a peer that is busy.
#[derive(Clone, Default)]
pub struct Changes {
    // Conversations leave by dying; what is dead is swept whenever the list is walked.
    outlets: Arc<Mutex<Vec<Weak<dyn EngineHandle>>>>,
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

    /// Tells of a change.
    pub fn publish(&self, change: &Change) {
        self.tell(&RenderedNotice::of(change));
    }

    /// Sends a notice of an extension to all who want to hear it: see
    /// [`ProtocolExtension::notice`](crate::ProtocolExtension::notice).
    ///
    /// To a peer that does not read, the oldest notices may get lost. There is no check of who may
    /// hear it: what is secret is for the answers of methods.
    ///
    /// # Errors
    ///
    /// -32603 when `params` are no object, or cannot be written as JSON.
    pub fn notify<N: Notice>(&self, params: &N::Params) -> Result<(), Error> {
        self.tell(&RenderedNotice::notice::<N>(params, None)?);
        Ok(())
    }

    /// As [`Changes::notify`], to those who listen for notices about `key`, or for all.
    ///
    /// # Errors
    ///
    /// As [`Changes::notify`].
    pub fn notify_about<N: Notice>(&self, key: &str, params: &N::Params) -> Result<(), Error> {
        self.tell(&RenderedNotice::notice::<N>(params, Some(key))?);
        Ok(())
    }

    /// Tells news. They are rendered: every conversation shares the bytes.
    pub fn tell(&self, news: &RenderedNotice) {
        self.each(|outlet| outlet.engine(&mut |engine| engine.send_notice(news)));
    }

    /// Lets every conversation be changed. An outlet may stand for many: `EngineHandle::engine` reaches
    /// them all.
    pub(crate) fn each(&self, mut change: impl FnMut(&dyn EngineHandle)) {
        for outlet in self.living() {
            change(&*outlet);
        }
    }

    pub(crate) fn attach(&self, outlet: Weak<dyn EngineHandle>) {
        let mut outlets = self.outlets.lock();
        // Sweeping when the list would grow keeps its size within twice the living.
        if outlets.len() == outlets.capacity() {
            outlets.retain(|outlet| outlet.strong_count() > 0);
        }
        outlets.push(outlet);
    }

    /// The living, collected first: no lock is held while an engine is told.
    fn living(&self) -> Vec<Arc<dyn EngineHandle>> {
        let mut outlets = self.outlets.lock();
        outlets.retain(|outlet| outlet.strong_count() > 0);
        outlets.iter().filter_map(Weak::upgrade).collect()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outlets = self.outlets.lock();
        f.debug_struct("Changes")
            .field("conversations", &outlets.len())
            .finish()
    }
}

#[cfg(test)]
mod tests;
