//! Notices of a server: progress, logs, changes.

use std::sync::Arc;

use serde_json::Value;

use pintle_model::method::{LogMessage, Notice};
use pintle_model::{LogMessageParams, LoggingLevel};
use pintle_model::{ProgressHead, ProgressNotice};

use super::tasks::related;
use super::{Connection, Side};
use crate::io::{DropPolicy, Lane, RequestKey, TransmitKind};
use crate::outbox::Outbox;
use crate::profile::ServerProfile;
use crate::rendered_notice::RenderedNotice;
use crate::terms::Terms;
use crate::topic::{Change, NoticeSubject};

impl Connection {
    /// Sends the progress of a request. Nothing is sent if the peer did not request progress, the
    /// request is settled, or `progress` did not grow.
    ///
    /// Spec: [2026-07-28, Progress][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
    pub fn progress(
        &mut self,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) {
        self.report(None, key, progress, total, message);
    }

    /// As [`Connection::progress`], but queues a notice on the reply to the request in `reply`. A notice of the
    /// session is queued here.
    pub fn progress_to(
        &mut self,
        reply: &mut Outbox,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) {
        self.report(Some(reply), key, progress, total, message);
    }

    fn report(
        &mut self,
        reply: Option<&mut Outbox>,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) {
        if self.is_closed {
            return;
        }
        let Some((lane, row)) = self.inbound.reporting_mut(key) else {
            return;
        };
        let Some(sent) = row.progress.as_deref_mut() else {
            return;
        };
        if !progress.is_finite() || progress <= sent.last {
            return;
        }
        sent.last = progress;
        let notice = ProgressNotice {
            head: sent
                .head
                .get_or_insert_with(|| ProgressHead::new(&sent.token)),
            progress,
            total,
            message,
            related_task: row.task.as_ref().map(|task| &*task.id),
        };
        let (revision, limits) = (row.terms.revision, &self.limits);
        let write = |out: &mut Vec<u8>| notice.write(out, revision);
        let outbox = match (lane, reply) {
            (Lane::Reply(_), Some(reply)) => reply,
            _ => &mut self.outbox,
        };
        outbox.push_notice(lane, DropPolicy::KeepLatest(key), limits, write);
    }

    /// Whether a log message of `level` would be sent for a request.
    pub fn wants_log(&mut self, key: RequestKey, level: &LoggingLevel) -> bool {
        let offers = self.offers_logs();
        let row = self.inbound.reporting_mut(key);
        offers && row.is_some_and(|(_, row)| is_wanted(&row.terms, level))
    }

    /// Sends a log message for a request, if its terms ask for it.
    pub fn log(&mut self, key: RequestKey, level: LoggingLevel, logger: Option<&str>, data: Value) {
        if !self.wants_log(key, &level) {
            return;
        }
        let mut params = LogMessageParams::new(level, data);
        params.logger = logger.map(str::to_owned);
        let Some((lane, row)) = self.inbound.reporting_mut(key) else {
            return;
        };
        params.meta = row.task_id().map(related);
        self.transmit_notice(
            lane,
            DropPolicy::DropOldest,
            LogMessage::NAME,
            Some(&params),
        );
    }

    fn offers_logs(&self) -> bool {
        match &self.side {
            Side::Server(server) => server.profile.capabilities().logging.is_some(),
            Side::Client(_) => false,
        }
    }

    /// Sends a change to the session or listeners of this conversation that subscribed to it.
    pub fn publish(&mut self, change: &Change) {
        self.send_notice(&RenderedNotice::of(change));
    }

    /// Sends each change that the session or listeners of this conversation subscribed to, because one of
    /// them may have been lost.
    pub fn publish_all(&mut self) {
        let uris = self.subscriptions.all_uris();
        let lists = [Change::Tools, Change::Prompts, Change::Resources];
        let changes = lists.into_iter();
        for change in changes.chain(uris.into_iter().map(Change::Resource)) {
            self.publish(&change);
        }
    }

    /// Sends no more changes to the session, because another process sends them on a newer stream of the same session; or
    /// sends them again. Listeners of the conversation receive changes in both cases.
    pub fn send_changes_elsewhere(&mut self, are_elsewhere: bool) {
        self.changes_elsewhere = are_elsewhere;
    }

    /// Whether the conversation has an open `subscriptions/listen`.
    pub fn has_listeners(&self) -> bool {
        !self.subscriptions.listens().is_empty()
    }

    /// Returns the resources that the session and the listeners of this conversation subscribed to.
    pub fn subscribed_uris(&self) -> std::collections::BTreeSet<String> {
        self.subscriptions.all_uris()
    }

    /// Returns the resources that listeners of this conversation subscribed to, without those of a session.
    pub fn listened_uris(&self) -> std::collections::BTreeSet<String> {
        self.subscriptions.listened_uris()
    }

    /// Sends a notice to the session or listeners of this conversation that subscribed to it. It
    /// was rendered once for all; only the listener's id is added here.
    pub fn send_notice(&mut self, notice: &RenderedNotice) {
        let Side::Server(server) = &self.side else {
            return;
        };
        let profile = Arc::clone(&server.profile);
        if !profile.offers(notice.about()) {
            return;
        }
        if !self.changes_elsewhere && self.is_pushed(notice.about(), &profile) {
            self.transmit(
                Lane::Session,
                TransmitKind::Notice(notice.policy()),
                notice.plain(),
            );
        }
        let listens = self.subscriptions.listens().iter();
        let addressed: Vec<_> = listens
            .filter(|listen| listen.wants(notice.about(), profile.topics()))
            .map(|listen| (Lane::Reply(listen.key), notice.tagged(&listen.id)))
            .collect();
        for (lane, frame) in addressed {
            self.transmit(lane, TransmitKind::Notice(notice.policy()), frame);
        }
    }

    /// Whether the notice is sent to the session without a listener.
    fn is_pushed(&self, about: &NoticeSubject, profile: &ServerProfile) -> bool {
        let Some(terms) = self.pushes_changes() else {
            return false;
        };
        match about {
            NoticeSubject::Change(Change::Resource(uri)) => self.subscriptions.has(uri),
            NoticeSubject::Change(_) => true,
            NoticeSubject::Topic { notice, key } => {
                let topic = profile
                    .topics()
                    .iter()
                    .find(|topic| topic.notice() == &**notice);
                key.is_none() && topic.is_some_and(|topic| profile.speaks(topic.extension(), terms))
            }
        }
    }
}

fn is_wanted(terms: &Arc<Terms>, level: &LoggingLevel) -> bool {
    terms
        .log_level
        .as_ref()
        .is_some_and(|min_level| level >= min_level)
}
