//! What a server tells on the way: progress, logs, changes.

use std::sync::Arc;

use serde_json::Value;

use pintle_model::method::{
    LogMessage, Notice, Progress, PromptsChanged, ResourceUpdated, ResourcesChanged, ToolsChanged,
};
use pintle_model::{
    Fit, LogMessageParams, LoggingLevel, NoParams, ProgressParams, ResourceUpdatedParams,
};

use super::own::tagged;
use super::tasks::related;
use super::{Connection, Side};
use crate::io::{Class, Lane, RequestKey};
use crate::subscriptions::{Change, is_offered};
use crate::terms::Terms;

impl Connection {
    /// Tells how far a request has come. Nothing is sent when the peer did not ask, when the
    /// request is settled, or when `progress` is not more than it was.
    ///
    /// Spec: [2026-07-28, Progress][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
    pub fn progress(
        &mut self,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) {
        let Some(row) = self.inbound.told_mut(key) else {
            return;
        };
        let Some(token) = row.progress_token.clone() else {
            return;
        };
        if !progress.is_finite() || progress <= row.progress {
            return;
        }
        row.progress = progress;
        let mut params = ProgressParams::new(token, progress);
        params.total = total.filter(|total| total.is_finite());
        params.message = message;
        params.meta = row.task.as_deref().map(related);
        if params.fit(row.terms.revision).is_ok() {
            let lane = self.lane_of(Some(key));
            self.transmit_notice(lane, Class::Progress(key), Progress::NAME, Some(&params));
        }
    }

    /// Whether a log message of `level` would be sent for a request.
    pub fn wants_log(&mut self, key: RequestKey, level: &LoggingLevel) -> bool {
        let offers = self.offers_logs();
        let row = self.inbound.told_mut(key);
        offers && row.is_some_and(|row| is_wanted(&row.terms, level))
    }

    /// Sends a log message for a request, if its terms ask for it.
    pub fn log(&mut self, key: RequestKey, level: LoggingLevel, logger: Option<&str>, data: Value) {
        if !self.wants_log(key, &level) {
            return;
        }
        let mut params = LogMessageParams::new(level, data);
        params.logger = logger.map(str::to_owned);
        let row = self.inbound.told_mut(key);
        params.meta = row.and_then(|row| row.task.as_deref()).map(related);
        let lane = self.lane_of(Some(key));
        self.transmit_notice(lane, Class::Log, LogMessage::NAME, Some(&params));
    }

    fn offers_logs(&self) -> bool {
        match &self.side {
            Side::Server(server) => server.profile.capabilities().logging.is_some(),
            Side::Client(_) => false,
        }
    }

    /// Tells of a change to whoever of this conversation listens for it.
    pub fn publish(&mut self, change: &Change) {
        let Side::Server(server) = &self.side else {
            return;
        };
        if !is_offered(change, server.profile.capabilities()) {
            return;
        }
        self.publish_to_session(change);
        let listeners: Vec<_> = self
            .subscriptions
            .listens()
            .iter()
            .filter(|listen| listen.wants(change))
            .map(|listen| (listen.key, listen.id.clone()))
            .collect();
        for (key, id) in listeners {
            self.transmit_change(Lane::Reply(key), change, Some(tagged(&id)));
        }
    }

    fn publish_to_session(&mut self, change: &Change) {
        let wanted = match change {
            Change::Resource(uri) => self.subscriptions.has(uri),
            _ => true,
        };
        if wanted && self.hears_unasked() {
            self.transmit_change(Lane::Session, change, None);
        }
    }

    fn transmit_change(&mut self, lane: Lane, change: &Change, meta: Option<pintle_model::Meta>) {
        let class = Class::Change(fingerprint(change));
        let method = match change {
            Change::Tools => ToolsChanged::NAME,
            Change::Prompts => PromptsChanged::NAME,
            Change::Resources => ResourcesChanged::NAME,
            Change::Resource(uri) => {
                let mut params = ResourceUpdatedParams::new(uri.as_str());
                params.meta = meta;
                return self.transmit_notice(lane, class, ResourceUpdated::NAME, Some(&params));
            }
        };
        let params = meta.map(|meta| {
            let mut params = NoParams::default();
            params.meta = Some(meta);
            params
        });
        self.transmit_notice(lane, class, method, params.as_ref());
    }
}

fn is_wanted(terms: &Arc<Terms>, level: &LoggingLevel) -> bool {
    terms.log_level.as_ref().is_some_and(|least| level >= least)
}

/// Equal for equal changes; different ones collide so rarely that merging them is harmless.
fn fingerprint(change: &Change) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    change.hash(&mut hasher);
    hasher.finish()
}
