//! The connections of a proxy, and which of them a call uses.

mod table;

use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle::model::{ClientCapabilities, Error};
use pintle::runtime::sync::Mutex;
use pintle::runtime::{Context, EngineHandle, Principal};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::link::Link;
use crate::upstream::Upstream;
pub(crate) use table::Scope;
use table::{Spare, Table};

/// The open connections to the server.
#[derive(Default)]
pub(crate) struct Connections(Mutex<Table>);

/// A connection for one call.
pub(crate) struct Lease {
    pub(crate) link: Arc<Link>,
    _asked: Option<OwnedSemaphorePermit>,
}

impl Connections {
    /// Returns the connections of a proxy whose first connection is open.
    pub(crate) fn new(first: Arc<Link>, capabilities: ClientCapabilities) -> Self {
        let spare = Spare {
            link: first,
            capabilities,
        };
        Self(Mutex::new(Table {
            spare: Some(spare),
            ..Table::default()
        }))
    }

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
            (upstream.has_sessions() && handle.is_session()).then(|| Arc::downgrade(&handle));
        let capabilities = upstream.declared(&cx.terms().capabilities);
        let scope = scope(upstream, cx.principal(), session.as_ref());
        let is_exclusive = is_asked && matches!(scope, Scope::Caller(_));
        let mut all = self.0.lock();
        let links = all.links.get(&scope).into_iter().flatten();
        let fits = |link: &&Arc<Link>| !link.is_orphan() && link.capabilities == *capabilities;
        for link in links.filter(fits) {
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
        let link = all.open(upstream, scope, session, capabilities.into_owned())?;
        let asked = is_exclusive.then(|| Arc::clone(&link.asked).try_acquire_owned().ok());
        Ok(Lease {
            link,
            _asked: asked.flatten(),
        })
    }

    /// Opens a connection for clients that listen and have none, and renews all subscriptions.
    pub(crate) fn follow(&self, upstream: &Arc<Upstream>) {
        for handle in upstream.listening() {
            let is_session = upstream.has_sessions() && handle.is_session();
            let session = is_session.then(|| Arc::downgrade(&handle));
            if let Err(error) = self.ensure(upstream, session, stated(upstream, &*handle)) {
                tracing::warn!(%error, "the proxy receives no changes of the server");
            }
        }
        self.all().iter().for_each(Link::follow);
    }

    /// Opens a connection, unless this session or these clients have one. The calls of the client can use it if its
    /// capabilities are known.
    fn ensure(
        &self,
        upstream: &Arc<Upstream>,
        session: Option<Weak<dyn EngineHandle>>,
        stated: Option<ClientCapabilities>,
    ) -> Result<(), Error> {
        let scope = scope(upstream, None, session.as_ref());
        let mut all = self.0.lock();
        let mut of_scope = all.links.get(&scope).into_iter().flatten();
        if of_scope.any(|link| !link.is_orphan()) {
            return Ok(());
        }
        let of_spare = all.spare.as_ref().map(|spare| spare.capabilities.clone());
        let capabilities = match scope {
            Scope::All => stated.or(of_spare).unwrap_or_default(),
            Scope::Session(_) | Scope::Caller(_) => stated.unwrap_or_default(),
        };
        all.open(upstream, scope, session, capabilities).map(drop)
    }

    /// Returns all connections.
    pub(crate) fn all(&self) -> Vec<Arc<Link>> {
        self.0.lock().all().cloned().collect()
    }

    /// Returns the capabilities of the connection that was used last, so that a client like its own can use the next.
    pub(crate) fn latest_capabilities(&self) -> ClientCapabilities {
        let table = self.0.lock();
        let spare = table.spare.as_ref().map(|spare| &spare.link);
        let latest = table.all().max_by_key(|link| link.used()).or(spare);
        latest
            .map(|link| link.capabilities.clone())
            .unwrap_or_default()
    }

    /// Removes the connections of sessions that have ended, and those of clients without a session that no call
    /// has used for [`ProxyOptions::idle_timeout`](crate::ProxyOptions::idle_timeout).
    pub(crate) fn sweep(&self, upstream: &Upstream) {
        let is_listened = !upstream.listening().is_empty();
        let (now, idle) = (Instant::now(), upstream.options.idle_timeout);
        let most = upstream.options.max_connection_age;
        let is_aged =
            |link: &Arc<Link>| most.is_some_and(|most| link.is_aged(most, Duration::ZERO));
        let is_fresh = |link: &Arc<Link>| now.duration_since(link.used()) < idle;
        let stays = |scope: &Scope, link: &Arc<Link>| match scope {
            Scope::All => true,
            Scope::Session(_) => !link.is_orphan(),
            Scope::Caller(_) => is_listened || is_used(link) || is_fresh(link),
        };
        let mut removed = Vec::new();
        let mut table = self.0.lock();
        removed.extend(
            table
                .spare
                .take_if(|spare| !is_fresh(&spare.link) || is_aged(&spare.link))
                .map(|spare| spare.link),
        );
        table.links.retain(|scope, links| {
            let all = std::mem::take(links).into_iter();
            let (stay, go): (Vec<_>, Vec<_>) = all.partition(|link| stays(scope, link));
            removed.extend(go);
            *links = stay;
            !links.is_empty()
        });
        drop(table);
        // Outside of the lock, because the last clone of a client closes its connection.
        drop(removed);
    }

    /// Replaces all connections by a first one, and opens one for each session and each kind of client that had one.
    /// Returns the earlier connections, which end with their last calls.
    pub(crate) fn replace(&self, upstream: &Arc<Upstream>, first: Arc<Link>) -> Vec<Arc<Link>> {
        let mut table = self.0.lock();
        let spare = Some(Spare {
            capabilities: first.capabilities.clone(),
            link: first,
        });
        let Table { links, spare: old } = std::mem::replace(
            &mut *table,
            Table {
                spare,
                ..Table::default()
            },
        );
        for (scope, links) in &links {
            for link in links {
                table.renew(upstream, scope, link);
            }
        }
        drop(table);
        let old = old.map(|spare| spare.link);
        links.into_values().flatten().chain(old).collect()
    }

    /// Returns a connection that is older than `most`, with the clients that share it.
    pub(crate) fn aged(&self, most: Duration, pause: Duration) -> Option<(Scope, Arc<Link>)> {
        let table = self.0.lock();
        let links = table.links.iter();
        let mut links =
            links.flat_map(|(scope, links)| links.iter().map(move |link| (scope, link)));
        let aged = links.find(|(_, link)| !link.is_orphan() && link.is_aged(most, pause));
        aged.map(|(scope, link)| (scope.clone(), Arc::clone(link)))
    }

    /// Replaces an earlier connection by a new one, or removes it. Returns false if the earlier one is not there.
    pub(crate) fn exchange(&self, scope: &Scope, old: &Arc<Link>, new: Option<Arc<Link>>) -> bool {
        let mut table = self.0.lock();
        let links = table.links.get_mut(scope);
        let Some(place) = links.and_then(|links| {
            let place = links.iter().position(|link| Arc::ptr_eq(link, old))?;
            Some((links, place))
        }) else {
            return false;
        };
        let (links, place) = place;
        links.remove(place);
        links.extend(new);
        true
    }

    /// Removes all connections.
    pub(crate) fn clear(&self) -> Vec<Arc<Link>> {
        let Table { links, spare } = std::mem::take(&mut *self.0.lock());
        let spare = spare.map(|spare| spare.link);
        links.into_values().flatten().chain(spare).collect()
    }
}

/// Returns the capabilities that the client of a session has stated, as the proxy declares them.
fn stated(upstream: &Upstream, handle: &dyn EngineHandle) -> Option<ClientCapabilities> {
    let mut stated = None;
    handle.engine(&mut |engine| {
        let terms = engine.session_terms();
        stated = terms.map(|terms| upstream.declared(&terms.capabilities).into_owned());
    });
    stated
}

/// Whether a call or a question holds the connection.
fn is_used(link: &Arc<Link>) -> bool {
    Arc::strong_count(link) > 1
}

fn scope(
    upstream: &Upstream,
    principal: Option<&Principal>,
    session: Option<&Weak<dyn EngineHandle>>,
) -> Scope {
    match session {
        _ if !upstream.is_stateful() || upstream.options.is_shared => Scope::All,
        Some(session) => Scope::Session(session.as_ptr().cast::<()>() as usize),
        None => Scope::Caller(principal.map(|principal| principal.id().into())),
    }
}
