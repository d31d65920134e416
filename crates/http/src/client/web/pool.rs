//! Connections that wait for their next request.

use std::sync::{Arc, Weak};
use std::time::Duration;

use http::Uri;
use hyper::client::conn::http2;
use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep_until};

use crate::client::endpoint_url::UrlOrigin;
use crate::client::http_client::Whole;
use crate::client::options::HttpClientLimits;

use super::link::{Http1Link, Link};

/// Idle connections by origin.
pub(super) struct Pool {
    most: usize,
    keep: Duration,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    // A list, because few origins have open connections, and a comparison is cheaper than a hash.
    slots: Vec<Slot>,
    /// A task ends connections whose time is over.
    is_watched: bool,
}

struct Slot {
    origin: UrlOrigin,
    idle: Vec<Idle<Box<Http1Link>>>,
    shared: Option<Idle<http2::SendRequest<Whole>>>,
}

/// A connection and when its time is over, unless it is used.
struct Idle<T> {
    link: T,
    until: Instant,
}

impl Pool {
    pub(super) fn new(limits: &HttpClientLimits) -> Arc<Self> {
        Arc::new(Self {
            most: limits.max_idle_connections,
            keep: limits.connection_idle_timeout,
            kept: Mutex::default(),
        })
    }

    /// Returns a connection for a request to this URL. The latest used is the likeliest to be open.
    pub(super) fn take(&self, uri: &Uri) -> Option<Link> {
        let mut kept = self.kept();
        let slot = kept.slots.iter_mut().find(|slot| slot.origin.is_of(uri))?;
        let now = Instant::now();
        slot.shared.take_if(|shared| shared.link.is_closed());
        if let Some(shared) = &mut slot.shared {
            shared.until = now + self.keep;
            return Some(Link::Shared(slot.origin.clone(), shared.link.clone()));
        }
        while let Some(mut idle) = slot.idle.pop() {
            if idle.until > now && idle.link.is_ready() {
                return Some(Link::Solo(idle.link));
            }
        }
        None
    }

    /// Lets others use a connection that can be shared.
    pub(super) fn share(self: &Arc<Self>, link: &Link) {
        if let Link::Shared(origin, sender) = link {
            let until = Instant::now() + self.keep;
            let mut kept = self.kept();
            let slot = kept.slot(origin);
            slot.shared = Some(Idle {
                link: sender.clone(),
                until,
            });
            self.watch(&mut kept, until);
        }
    }

    /// No longer shares the connection to an origin: it takes no more requests.
    pub(super) fn forget(&self, uri: &Uri) {
        let mut kept = self.kept();
        let slot = kept.slots.iter_mut().find(|slot| slot.origin.is_of(uri));
        if let Some(slot) = slot {
            slot.shared = None;
        }
    }

    /// Keeps a connection that has done its work.
    pub(super) fn put(self: &Arc<Self>, solo: Box<Http1Link>) {
        let keep = solo.keeps.map_or(self.keep, |keeps| keeps.min(self.keep));
        let mut kept = self.kept();
        let count: usize = kept.slots.iter().map(|slot| slot.idle.len()).sum();
        if keep.is_zero() || solo.driver.is_none() || count >= self.most {
            return;
        }
        let until = Instant::now() + keep;
        let slot = kept.slot(&solo.origin);
        slot.idle.push(Idle { link: solo, until });
        self.watch(&mut kept, until);
    }

    /// Starts the task that closes idle connections in time.
    fn watch(self: &Arc<Self>, kept: &mut Kept, first: Instant) {
        if kept.is_watched {
            return;
        }
        // Without a runtime the connections cannot stay open.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            kept.is_watched = true;
            runtime.spawn(watch(Arc::downgrade(self), first));
        }
    }

    /// Closes expired connections. Returns when the next one expires.
    fn expire(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut kept = self.kept();
        kept.slots.retain_mut(|slot| {
            slot.idle.retain(|idle| idle.until > now);
            // An open stream keeps its shared connection alive without the pool.
            slot.shared.take_if(|shared| shared.until <= now);
            !slot.idle.is_empty() || slot.shared.is_some()
        });
        let next = kept.slots.iter().flat_map(Slot::ends).min();
        kept.is_watched = next.is_some();
        next
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }
}

impl Kept {
    fn slot(&mut self, origin: &UrlOrigin) -> &mut Slot {
        let place = self.slots.iter().position(|slot| slot.origin == *origin);
        let place = place.unwrap_or_else(|| {
            self.slots.push(Slot::new(origin.clone()));
            self.slots.len() - 1
        });
        &mut self.slots[place]
    }
}

impl Slot {
    fn new(origin: UrlOrigin) -> Self {
        Self {
            origin,
            idle: Vec::new(),
            shared: None,
        }
    }

    fn ends(&self) -> impl Iterator<Item = Instant> {
        let idle = self.idle.iter().map(|idle| idle.until);
        idle.chain(self.shared.iter().map(|shared| shared.until))
    }
}

async fn watch(pool: Weak<Pool>, first: Instant) {
    let mut next = first;
    loop {
        sleep_until(next).await;
        match pool.upgrade().and_then(|pool| pool.expire()) {
            Some(later) => next = later,
            None => return,
        }
    }
}
