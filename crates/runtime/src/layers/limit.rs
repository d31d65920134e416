//! How many requests run at the same time, for one principal and in all.

use std::collections::HashMap;
use std::sync::Arc;

use pintle_model::{Error, ErrorCode};
use pintle_proto::Reply;
use tower_layer::Layer;

use super::delegate_to_inner;
use crate::context::Context;
use crate::service::Service;
use crate::sync::Mutex;

/// Layer that wraps a service in [`Limit`].
#[derive(Debug, Clone)]
pub struct LimitLayer {
    counts: Arc<Counts>,
}

impl LimitLayer {
    /// Lets `total` requests run at the same time, `per_principal` of them for one principal.
    /// Requests without a principal count as one principal's.
    pub fn new(total: usize, per_principal: usize) -> Self {
        let counts = Counts {
            total,
            per_principal,
            running: Mutex::default(),
        };
        Self {
            counts: Arc::new(counts),
        }
    }
}

impl<S> Layer<S> for LimitLayer {
    type Service = Limit<S>;

    fn layer(&self, inner: S) -> Limit<S> {
        Limit {
            inner,
            counts: Arc::clone(&self.counts),
        }
    }
}

/// A service that refuses requests beyond its bounds with -32603, at once.
#[derive(Debug, Clone)]
pub struct Limit<S> {
    inner: S,
    counts: Arc<Counts>,
}

impl<S: Service> Service for Limit<S> {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let name: Arc<str> = cx
            .principal()
            .map_or_else(|| "".into(), |principal| principal.id().into());
        let _place = self.counts.take(name).ok_or_else(|| {
            Error::new(
                ErrorCode::INTERNAL_ERROR,
                "too many requests run at the same time; try again later",
            )
        })?;
        self.inner.call(cx).await
    }

    delegate_to_inner!();
}

#[derive(Debug)]
struct Counts {
    total: usize,
    per_principal: usize,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    total: usize,
    // An entry leaves when it is zero, so the map is never larger than `total`.
    by_principal: HashMap<Arc<str>, usize>,
}

impl Counts {
    fn take(self: &Arc<Self>, name: Arc<str>) -> Option<Permit> {
        let mut running = self.running.lock();
        let own = running.by_principal.get(&name).copied().unwrap_or(0);
        if running.total >= self.total || own >= self.per_principal {
            return None;
        }
        running.total += 1;
        running.by_principal.insert(Arc::clone(&name), own + 1);
        Some(Permit {
            counts: Arc::clone(self),
            name,
        })
    }

    fn give_back(&self, name: &str) {
        let mut running = self.running.lock();
        running.total -= 1;
        if let Some(own) = running.by_principal.get_mut(name) {
            *own -= 1;
            if *own == 0 {
                running.by_principal.remove(name);
            }
        }
    }
}

/// A slot for one running call; dropping it releases the slot.
struct Permit {
    counts: Arc<Counts>,
    name: Arc<str>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.counts.give_back(&self.name);
    }
}
