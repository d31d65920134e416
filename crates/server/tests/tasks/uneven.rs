//! Pauses of no certain length, so that threads meet in many orders.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use pintle_model::Error;
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{BoxService, Context, EngineHandle, Service};
use tower_layer::Layer;

/// The most turns that most pauses give to others.
const SHORT: u64 = 6;
/// The most turns of one pause in four: it outlasts several short ones.
const LONG: u64 = 200;

/// A source of pauses that a seed decides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uneven(Arc<AtomicU64>);

impl Uneven {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        )))
    }

    /// Lets other tasks go first, some number of times. Without a seed there is no pause.
    pub(crate) async fn pause(&self) {
        let number = self.next();
        let most = if number % 4 == 3 { LONG } else { SHORT };
        for _ in 0..(number >> 2) % most {
            tokio::task::yield_now().await;
        }
    }

    /// The next number.
    pub(crate) fn number(&self) -> u64 {
        self.next()
    }

    fn next(&self) -> u64 {
        let step = |mut state: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^ (state << 17)
        };
        let before = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| Some(step(it)));
        before.unwrap_or_default() >> 32
    }
}

impl Layer<BoxService> for Uneven {
    type Service = UnevenService;

    fn layer(&self, inner: BoxService) -> UnevenService {
        UnevenService(inner, self.clone())
    }
}

/// A service whose answers are late.
pub(crate) struct UnevenService(BoxService, Uneven);

impl Service for UnevenService {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.1.pause().await;
        let reply = self.0.call(cx).await;
        self.1.pause().await;
        reply
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }

    fn attach(&self, engine_handle: Weak<dyn EngineHandle>) {
        self.0.attach(engine_handle);
    }
}
