//! The connections of a proxy, and which of them a call uses.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use pintle::model::{ClientCapabilities, Error};
use pintle::runtime::sync::Mutex;
use pintle::runtime::{Context, EngineHandle, Principal};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::error::internal;
use crate::link::Link;
use crate::upstream::Upstream;

/// The clients that share connections.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Scope {
    /// All clients, of a server without sessions.
    All,
    /// A session, by the address of its handle.
    Session(usize),
    /// Clients without a session, by their principal.
    Caller(Option<Arc<str>>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    scope: Scope,
    /// The capabilities that the connection declares, as JSON.
    capabilities: String,
}

impl Key {
    fn new(scope: Scope, capabilities: &ClientCapabilities) -> Self {
        let capabilities = serde_json::to_string(capabilities).unwrap_or_default();
        Self {
            scope,
            capabilities,
        }
    }
}

/// The open connections to the server, by the clients that share them.
#[derive(Default)]
pub(crate) struct Connections(Mutex<HashMap<Key, Vec<Arc<Link>>>>);

/// A connection for one call.
pub(crate) struct Lease {
    pub(crate) link: Arc<Link>,
    _asked: Option<OwnedSemaphorePermit>,
}

impl Connections {
    /// Returns the connection for a call. `is_asked` states that the server may ask its client during the call.
    ///
    /// # Errors
    ///
    /// -32603 at the limit, and if the client is invalid.
    pub(crate) fn lease(
        &self,
        upstream: &Arc<Upstream>,
        cx: &Context,
        is_asked: bool,
    ) -> Result<Lease, Error> {
        let handle = cx.engine_handle();
        let session =
            (upstream.is_stateful() && handle.is_session()).then(|| Arc::downgrade(&handle));
        let capabilities = declared(&cx.terms().capabilities);
        let scope = scope(upstream, cx.principal(), session.as_ref());
        let key = Key::new(scope, &capabilities);
        let is_exclusive = is_asked && matches!(key.scope, Scope::Caller(_));
        let mut all = self.0.lock();
        let links = all.get(&key).map(Vec::as_slice).unwrap_or_default();
        for link in links.iter().filter(|link| !link.is_orphan()) {
            let asked = match is_exclusive {
                true => Arc::clone(&link.asked).try_acquire_owned().ok(),
                false => None,
            };
            if asked.is_some() || !is_exclusive {
                link.touch();
                let link = Arc::clone(link);
                return Ok(Lease {
                    link,
                    _asked: asked,
                });
            }
        }
        let link = open(&mut all, upstream, key, session, capabilities)?;
        let asked = is_exclusive.then(|| Arc::clone(&link.asked).try_acquire_owned().ok());
        Ok(Lease {
            link,
            _asked: asked.flatten(),
        })
    }

    /// Opens a connection for clients that listen and have none, and renews all subscriptions.
    pub(crate) fn follow(&self, upstream: &Arc<Upstream>) {
        for handle in upstream.listening() {
            let is_session = upstream.is_stateful() && handle.is_session();
            let session = is_session.then(|| Arc::downgrade(&handle));
            if let Err(error) = self.ensure(upstream, session) {
                tracing::warn!(%error, "the proxy receives no changes of the server");
            }
        }
        self.all().iter().for_each(Link::follow);
    }

    /// Opens a connection without capabilities, unless this session or these clients have one.
    fn ensure(
        &self,
        upstream: &Arc<Upstream>,
        session: Option<Weak<dyn EngineHandle>>,
    ) -> Result<(), Error> {
        let scope = scope(upstream, None, session.as_ref());
        let mut all = self.0.lock();
        let of_scope = all.iter().filter(|(key, _)| key.scope == scope);
        if of_scope
            .flat_map(|(_, links)| links)
            .any(|link| !link.is_orphan())
        {
            return Ok(());
        }
        let key = Key::new(scope, &ClientCapabilities::default());
        open(
            &mut all,
            upstream,
            key,
            session,
            ClientCapabilities::default(),
        )
        .map(drop)
    }

    /// Returns all connections.
    pub(crate) fn all(&self) -> Vec<Arc<Link>> {
        self.0.lock().values().flatten().cloned().collect()
    }

    /// Removes the connections of sessions that have ended, and those of clients without a session that no call
    /// has used for [`ProxyOptions::idle_timeout`](crate::ProxyOptions::idle_timeout).
    pub(crate) fn sweep(&self, upstream: &Upstream) {
        let is_listened = !upstream.listening().is_empty();
        let (now, idle) = (Instant::now(), upstream.options.idle_timeout);
        let is_fresh = |link: &Arc<Link>| now.duration_since(link.used()) < idle;
        let stays = |key: &Key, link: &Arc<Link>| match key.scope {
            Scope::All => true,
            Scope::Session(_) => !link.is_orphan(),
            Scope::Caller(_) => is_listened || is_used(link) || is_fresh(link),
        };
        let mut removed = Vec::new();
        self.0.lock().retain(|key, links| {
            let all = std::mem::take(links).into_iter();
            let (stay, go): (Vec<_>, Vec<_>) = all.partition(|link| stays(key, link));
            removed.extend(go);
            *links = stay;
            !links.is_empty()
        });
        // Outside of the lock, because the last clone of a client closes its connection.
        drop(removed);
    }

    /// Removes all connections.
    pub(crate) fn clear(&self) -> Vec<Arc<Link>> {
        let all = std::mem::take(&mut *self.0.lock());
        all.into_values().flatten().collect()
    }
}

/// Whether a call or a question holds the connection.
fn is_used(link: &Arc<Link>) -> bool {
    Arc::strong_count(link) > 1
}

/// Opens a connection.
///
/// # Errors
///
/// -32603 at the limit, and if the client is invalid.
fn open(
    all: &mut HashMap<Key, Vec<Arc<Link>>>,
    upstream: &Arc<Upstream>,
    key: Key,
    session: Option<Weak<dyn EngineHandle>>,
    capabilities: ClientCapabilities,
) -> Result<Arc<Link>, Error> {
    make_room(all, upstream.options.max_connections)?;
    let link = Link::new(upstream, session, capabilities);
    let link = link.map_err(|error| internal(&error.to_string()))?;
    all.entry(key).or_default().push(Arc::clone(&link));
    link.follow();
    Ok(link)
}

/// Makes sure that there is room for one more connection.
fn make_room(all: &mut HashMap<Key, Vec<Arc<Link>>>, most: usize) -> Result<(), Error> {
    if all.values().map(Vec::len).sum::<usize>() < most {
        return Ok(());
    }
    let links = all
        .iter()
        .flat_map(|(key, links)| links.iter().map(move |link| (key, link)));
    let free =
        links.filter(|(_, link)| link.is_orphan() || (!link.has_session() && !is_used(link)));
    let oldest = free.min_by_key(|(_, link)| link.used());
    let Some((key, link)) = oldest.map(|(key, link)| (key.clone(), Arc::as_ptr(link))) else {
        return Err(internal("the proxy has too many connections to the server"));
    };
    if let Some(links) = all.get_mut(&key) {
        links.retain(|other| Arc::as_ptr(other) != link);
    }
    Ok(())
}

fn scope(
    upstream: &Upstream,
    principal: Option<&Principal>,
    session: Option<&Weak<dyn EngineHandle>>,
) -> Scope {
    match session {
        _ if !upstream.is_stateful() => Scope::All,
        Some(session) => Scope::Session(session.as_ptr().cast::<()>() as usize),
        None => Scope::Caller(principal.map(|principal| principal.id().into())),
    }
}

/// The capabilities of a client that the proxy declares to the server.
fn declared(of_client: &ClientCapabilities) -> ClientCapabilities {
    let mut declared = of_client.clone();
    // The proxy holds no tasks for the questions of the server.
    declared.tasks = None;
    declared
}
