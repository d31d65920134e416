//! `tracing` events as log messages to the client of the request they belong to.
//!
//! The protocol deprecates its own logging as of 2026-07-28; this is for clients that still show
//! it. What goes to a client must not hold what only operators may see: forward your own events,
//! by a filter on their target.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use pintle_model::LoggingLevel;
use pintle_runtime::Context;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

thread_local! {
    /// The request whose handler is being polled on this thread.
    static CURRENT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Sends a `tracing` event to the client of the request being handled; does nothing outside of one.
///
/// Call it from `on_event` of a subscriber layer of your own, after your own filter:
///
/// ```
/// # struct Layer;
/// # impl Layer {
/// fn on_event(&self, event: &tracing::Event<'_>) {
///     if event.metadata().target().starts_with("my_server::public") {
///         pintle_server::forward_event(event);
///     }
/// }
/// # }
/// ```
pub fn forward_event(event: &Event<'_>) {
    // Taken out for the while: what logging does may log in its turn.
    let Some(cx) = CURRENT.with(|current| current.borrow_mut().take()) else {
        return;
    };
    let metadata = event.metadata();
    let mut fields = Fields::default();
    event.record(&mut fields);
    cx.log(
        level_of(metadata.level()),
        Some(metadata.target()),
        fields.into_data(),
    );
    CURRENT.with(|current| *current.borrow_mut() = Some(cx));
}

fn level_of(level: &Level) -> LoggingLevel {
    match *level {
        Level::ERROR => LoggingLevel::Error,
        Level::WARN => LoggingLevel::Warning,
        Level::INFO => LoggingLevel::Info,
        _ => LoggingLevel::Debug,
    }
}

/// The fields of an event as JSON: the message alone is a string, anything else an object.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn into_data(mut self) -> Value {
        match self.0.len() {
            1 => self.0.remove("message").unwrap_or(Value::Object(self.0)),
            _ => Value::Object(self.0),
        }
    }

    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
}

/// Runs a future so that events of its polls know their request.
pub(crate) struct WithRequest<F> {
    cx: Context,
    future: Pin<Box<F>>,
}

impl<F> WithRequest<F> {
    pub(crate) fn new(cx: Context, future: F) -> Self {
        Self {
            cx,
            future: Box::pin(future),
        }
    }
}

impl<F: Future> Future for WithRequest<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        let outer = CURRENT.with(|current| current.replace(Some(self.cx.clone())));
        let _restore = Restore(outer);
        self.future.as_mut().poll(task)
    }
}

/// Puts the outer request back, also when the poll panics.
struct Restore(Option<Context>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.with(|current| *current.borrow_mut() = self.0.take());
    }
}
