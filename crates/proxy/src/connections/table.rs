//! The open connections by the clients that share them, and their limit.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use pintle::model::{ClientCapabilities, Error};
use pintle::runtime::EngineHandle;

use super::is_used;
use crate::error::internal;
use crate::link::Link;
use crate::upstream::Upstream;

/// The clients that share connections.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// All clients, of a server without sessions.
    All,
    /// A session, by the address of its handle.
    Session(usize),
    /// Clients without a session, by their principal.
    Caller(Option<Arc<str>>),
}

/// The connection that read the description of the server. The first clients with its capabilities use it.
pub(super) struct Spare {
    pub(super) link: Arc<Link>,
    pub(super) capabilities: ClientCapabilities,
}

/// The open connections, by the clients that share them. Those of one scope may declare different capabilities.
#[derive(Default)]
pub(super) struct Table {
    pub(super) links: HashMap<Scope, Vec<Arc<Link>>>,
    pub(super) spare: Option<Spare>,
}

impl Table {
    /// Returns all connections that belong to clients.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Link>> {
        self.links.values().flatten()
    }

    /// Opens a connection, or uses the first one.
    ///
    /// # Errors
    ///
    /// -32603 at the limit, and if the client is invalid.
    pub(super) fn open(
        &mut self,
        upstream: &Arc<Upstream>,
        scope: Scope,
        session: Option<Weak<dyn EngineHandle>>,
        capabilities: ClientCapabilities,
    ) -> Result<Arc<Link>, Error> {
        let link = match self
            .spare
            .take_if(|spare| spare.capabilities == capabilities)
        {
            Some(spare) => {
                spare.link.join(upstream, session);
                spare.link
            }
            None => {
                self.make_room(upstream.options.max_connections)?;
                let link = Link::new(upstream, session, capabilities);
                link.map_err(|error| internal(&error.to_string()))?
            }
        };
        self.links.entry(scope).or_default().push(Arc::clone(&link));
        link.follow();
        Ok(link)
    }

    /// Opens a connection that replaces an earlier one, with its subscriptions. Clients without a session open theirs
    /// with their next call.
    pub(super) fn renew(&mut self, upstream: &Arc<Upstream>, scope: &Scope, earlier: &Arc<Link>) {
        let session = earlier.session().map(|session| Arc::downgrade(&session));
        let is_needed = match scope {
            Scope::All => !upstream.has_sessions(),
            Scope::Session(_) => upstream.has_sessions() && session.is_some(),
            Scope::Caller(_) => false,
        };
        if !is_needed {
            return;
        }
        let capabilities = earlier.capabilities.clone();
        match self.open(upstream, scope.clone(), session, capabilities) {
            Ok(link) => link.succeed(earlier),
            Err(error) => tracing::warn!(%error, "a client has no connection yet"),
        }
    }

    /// Makes sure that there is room for one more connection.
    fn make_room(&mut self, most: usize) -> Result<(), Error> {
        let spare = usize::from(self.spare.is_some());
        if self.all().count() + spare < most || self.spare.take().is_some() {
            return Ok(());
        }
        let links = self.links.iter();
        let links = links.flat_map(|(scope, links)| links.iter().map(move |link| (scope, link)));
        let free =
            links.filter(|(_, link)| link.is_orphan() || (!link.has_session() && !is_used(link)));
        let oldest = free.min_by_key(|(_, link)| link.used());
        let Some((scope, link)) = oldest.map(|(scope, link)| (scope.clone(), Arc::as_ptr(link)))
        else {
            return Err(internal("the proxy has too many connections to the server"));
        };
        if let Some(links) = self.links.get_mut(&scope) {
            links.retain(|other| Arc::as_ptr(other) != link);
        }
        Ok(())
    }
}
