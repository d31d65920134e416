//! The tracer and the instruments that layers share.

use std::sync::Arc;

use opentelemetry::global::BoxedTracer;
use opentelemetry::metrics::Meter;
use pintle_model::method::support_of;

use crate::attributes as key;
use crate::metrics::Instruments;
use crate::names::Names;
use crate::operation::{End, Target};
use crate::propagation::Propagation;

/// The options of a [`Telemetry`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TelemetryOptions {
    /// Largest number of names of tools and prompts in metrics, and of methods of extensions; default 1 000
    /// of each. Operations with other names are measured without the name.
    pub max_metric_names: usize,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        Self {
            max_metric_names: 1_000,
        }
    }
}

/// A tracer and a meter for servers and clients. Cloning is cheap; clones share the instruments.
#[derive(Debug, Clone)]
pub struct Telemetry(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) tracer: BoxedTracer,
    pub(crate) instruments: Instruments,
    pub(crate) propagation: Propagation,
    pub(crate) targets: Names,
    pub(crate) methods: Names,
}

impl Telemetry {
    /// Uses a tracer and a meter, with default options.
    pub fn new(tracer: BoxedTracer, meter: &Meter) -> Self {
        Self::with_options(tracer, meter, &TelemetryOptions::default())
    }

    /// Uses a tracer and a meter.
    pub fn with_options(tracer: BoxedTracer, meter: &Meter, options: &TelemetryOptions) -> Self {
        Self(Arc::new(Inner {
            tracer,
            instruments: Instruments::new(meter),
            propagation: Propagation::default(),
            targets: Names::new(options.max_metric_names),
            methods: Names::new(options.max_metric_names),
        }))
    }
}

impl Inner {
    /// Returns the method for metrics. A method that the peer invented is `_OTHER`.
    pub(crate) fn metric_method(&self, method: &str, end: &End) -> String {
        let is_known =
            support_of(method).is_some() || self.methods.allow(method, end.shows_method());
        if is_known { method } else { key::OTHER }.to_owned()
    }

    /// Returns the target for metrics. A target that the peer invented is left out.
    pub(crate) fn metric_target(&self, target: &Target, end: &End) -> Target {
        match target.name() {
            Some(name) if self.targets.allow(name, end.shows_target()) => target.clone(),
            _ => Target::None,
        }
    }
}
