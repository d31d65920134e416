//! Messages of a batch that concern all replicas of a session: settings, and messages for other replicas.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use pintle_proto::AnswerStatus;
use pintle_runtime::{BoxFuture, Service};

use super::Batched;
use crate::rules::classify::Part;
use crate::rules::media::AcceptedTypes;
use crate::server::endpoint::{Endpoint, EndpointResponse, UnrecordedChange};
use crate::server::events::MessageSource as _;
use crate::server::session::Session;
use crate::server::session_mail::Forwarding;

impl<S: Service> Endpoint<S> {
    /// Answers a batch after all replicas know its settings.
    pub(in crate::server) fn answer_batch(
        &self,
        mut batch: Batched<S>,
        forms: AcceptedTypes,
    ) -> BoxFuture<'_, EndpointResponse> {
        let delay = self.options.limits.keep_alive_interval;
        Box::pin(async move {
            self.record_settings(&mut batch).await;
            batch.reply(forms, delay, self.pace()).await
        })
    }

    /// Publishes the messages of a batch that may belong to other replicas, as those that arrive alone.
    pub(super) fn forward_parts(
        &self,
        session: &Session,
        texts: &[&str],
        parts: &[Part<'_>],
    ) -> Option<Forwarding> {
        let read = texts.iter().zip(parts).filter_map(|(text, part)| {
            let (message, _) = part.as_ref().ok()?;
            Some((text.as_bytes(), message))
        });
        self.forward(session, read)
    }

    /// Records the settings of a batch, and notifies the other replicas once. A setting that is not recorded is
    /// answered with an error.
    async fn record_settings(&self, batch: &mut Batched<S>) {
        let mut recorded = None;
        let mut answers = Vec::new();
        let mut is_away = false;
        for mut setting in std::mem::take(&mut batch.settings) {
            let first = poll_fn(|cx| Poll::Ready(setting.source.poll_message(cx))).await;
            let Poll::Ready(Some(answer)) = first else {
                // The engine answers these methods at once, so this does not happen.
                batch.open.push((setting.id, setting.source));
                continue;
            };
            if answer.verdict == Some(AnswerStatus::Result) {
                let session = &setting.session;
                // The other settings do not wait for the store too.
                let change = match is_away {
                    true => Err(UnrecordedChange::StoreAway),
                    false => self.record_change(session, &setting.change).await,
                };
                match change {
                    Ok(generation) => {
                        recorded = Some((Arc::clone(session), generation));
                        answers.push((setting.id, answer));
                    }
                    Err(why) => {
                        is_away |= why == UnrecordedChange::StoreAway;
                        batch.refuse(Some(&setting.id), &why.to_error());
                    }
                }
                continue;
            }
            batch.ready.push_back(answer);
        }
        let Some((session, generation)) = recorded else {
            return;
        };
        match self.announce_change(&session, generation).await {
            Ok(()) => batch.ready.extend(answers.into_iter().map(|(_, it)| it)),
            Err(why) => answers
                .iter()
                .for_each(|(id, _)| batch.refuse(Some(id), &why.to_error())),
        }
    }
}
