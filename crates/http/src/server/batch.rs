//! Several messages in one body, in the revisions that have them.
//!
//! Each message is accepted as if it had arrived alone. The answers are one JSON array if no other
//! message precedes them, and a stream with one event each otherwise. A client cannot resume such a
//! stream: it carries several replies, and an event id is a position in one of them.

mod elsewhere;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Response, StatusCode};
use pintle_model::RequestId;
use pintle_model::jsonrpc::{Message, Request, write_error};
use pintle_proto::{AnswerStatus, Frame};
use pintle_runtime::{MissingScopes, Principal, Service};
use tokio::time::{Instant, timeout};

use super::endpoint::reading::ReadBatch;
use super::endpoint::{
    Caller, Endpoint, Post as Posted, PostResult, Setting, all_missing, change_of, extras,
};
use super::events::{EventStream, MessageSource, OutgoingMessage, StreamTiming};
use super::reply;
use super::response::ResponseBody;
use super::session::{Delivered, Post, ReplyFormat, Session, StreamLayout};
use super::session_mail::Forwarding;
use crate::rules::classify::{BatchRoute, HttpRejection, Part, by_batch, no_batches, parts_of};
use crate::rules::media::AcceptedTypes;
use crate::rules::request_headers::RequestHeaders;

/// The replies to the messages of one batch.
pub(super) struct Batched<S: Service> {
    open: Vec<(RequestId, Caller<S>)>,
    ready: VecDeque<OutgoingMessage>,
    /// The requests that are answered when all replicas know their settings.
    settings: Vec<Setting<S>>,
}

impl<S: Service> Endpoint<S> {
    /// Accepts a batch.
    pub(super) fn accept_batch(&self, post: Posted<'_>, batch: ReadBatch<'_>) -> PostResult<S> {
        let accepted = || reply::bare(StatusCode::ACCEPTED);
        match self.begin_batch(post, batch) {
            // A batch with answers of the client has no requests.
            Ok((_, Some(forwarding))) => PostResult::Forwarding(Box::new((forwarding, accepted()))),
            Ok((batched, None)) if batched.is_silent() => accepted().into(),
            Ok((batched, None)) => PostResult::Batch(batched),
            Err(rejection) => self.reject(rejection).into(),
        }
    }

    fn begin_batch(
        &self,
        post: Posted<'_>,
        batch: ReadBatch<'_>,
    ) -> Result<(Batched<S>, Option<Forwarding>), HttpRejection> {
        let parts = post.parts;
        let route = by_batch(&RequestHeaders::of(&parts.headers), &self.settings)?;
        let ground = match route {
            BatchRoute::Sessionless(revision) => Ground::Sessionless(revision),
            BatchRoute::Session(id) => {
                let now = Instant::now().into_std();
                let principal = parts.extensions.get::<Principal>();
                let session = self
                    .sessions
                    .find(id, StreamLayout::ManyStreams, principal, now);
                Ground::Session(session.ok_or_else(HttpRejection::no_such_session)?)
            }
        };
        if let Ground::Session(session) = &ground
            && !session.has_batches()
        {
            return Err(no_batches());
        }
        let mut batched = Batched {
            open: Vec::new(),
            ready: VecDeque::new(),
            settings: Vec::new(),
        };
        let messages = parts_of(batch.messages)?;
        if let Some(missing) = self.missing_scopes_of_all(parts, &messages) {
            return Err(HttpRejection::scopes(missing));
        }
        let forwarding = match &ground {
            Ground::Session(session) => self.forward_parts(session, &batch.texts, &messages),
            Ground::Sessionless(_) => None,
        };
        for part in messages {
            self.begin_part(&ground, post, part, &mut batched);
        }
        Ok((batched, forwarding))
    }

    /// Returns the scopes that the principal lacks for the whole batch. If there are any, no message
    /// of the batch begins, because one response has one status.
    pub(super) fn missing_scopes_of_all(
        &self,
        parts: &Parts,
        messages: &[Part<'_>],
    ) -> Option<MissingScopes> {
        let read = messages.iter().filter_map(|part| part.as_ref().ok());
        let missing =
            read.filter_map(|(message, outline)| self.missing_scopes(parts, message, outline));
        all_missing(missing.collect())
    }

    fn begin_part(
        &self,
        ground: &Ground,
        post: Posted<'_>,
        part: Part<'_>,
        batched: &mut Batched<S>,
    ) {
        match part {
            Err(malformed) => batched.refuse(malformed.id.as_ref(), &malformed.error),
            Ok((message, _)) => match (ground, message) {
                (Ground::Session(session), message) => {
                    self.deliver_part(session, post, message, batched);
                }
                (Ground::Sessionless(revision), Message::Request(request)) => {
                    let (id, parts) = (request.id.clone(), Arc::clone(post.parts));
                    match self.sessionless_caller(*revision, parts, post.sender, request) {
                        Ok(caller) => batched.open.push((id, caller)),
                        Err(_) => batched.refuse(Some(&id), &reply::one_too_many()),
                    }
                }
                (Ground::Sessionless(_), _) => {}
            },
        }
    }

    fn deliver_part(
        &self,
        session: &Arc<Session>,
        post: Posted<'_>,
        message: Message<'_>,
        batched: &mut Batched<S>,
    ) {
        let id = match &message {
            Message::Request(Request { id, .. }) => Some(id.clone()),
            Message::Notification(_) | Message::Response(_) => None,
        };
        let form = match post.forms {
            AcceptedTypes::Both => ReplyFormat::Shared,
            AcceptedTypes::Json | AcceptedTypes::Neither => ReplyFormat::Single,
        };
        let change = change_of(&message).filter(|_| session.is_shared());
        let now = Instant::now().into_std();
        match (session.deliver(now, message, form), id) {
            (Delivered::Request(key), Some(id)) => {
                let (session, service) = (Arc::clone(session), Arc::clone(&self.service));
                let extras = extras(Arc::clone(post.parts), post.sender);
                let source = Caller::Post(Post::new(Arc::clone(&session), service, extras, key));
                match change {
                    Some(change) => batched.settings.push(Setting {
                        source,
                        id,
                        session,
                        change,
                    }),
                    None => batched.open.push((id, source)),
                }
            }
            (Delivered::Accepted(notified), _) => notified
                .into_iter()
                .for_each(|notified| self.service.notified(notified)),
            (Delivered::Crowded, id) => batched.refuse(id.as_ref(), &reply::one_too_many()),
            (_, id) => batched.refuse(id.as_ref(), &reply::session_ended()),
        }
    }
}

/// The session or revision that serves the messages of a batch.
enum Ground {
    Session(Arc<Session>),
    Sessionless(pintle_model::Revision),
}

impl<S: Service> Batched<S> {
    /// Returns true if no message of the batch has an answer.
    fn is_silent(&self) -> bool {
        self.open.is_empty() && self.ready.is_empty() && self.settings.is_empty()
    }

    fn refuse(&mut self, id: Option<&RequestId>, error: &pintle_model::Error) {
        let mut text = Vec::with_capacity(128);
        write_error(&mut text, id, error);
        self.ready.push_back(OutgoingMessage {
            frame: Frame::whole(text),
            is_framed: false,
            verdict: Some(AnswerStatus::Rejected(error.code)),
            id: None,
        });
    }

    /// Answers the whole batch. If the client accepts only JSON, this waits for all answers.
    pub(super) async fn reply(
        mut self,
        forms: AcceptedTypes,
        stream_delay: Duration,
        pace: StreamTiming,
    ) -> Response<ResponseBody>
    where
        S: 'static,
    {
        let mut answers = Vec::new();
        let gathered = timeout(
            match forms {
                AcceptedTypes::Both => stream_delay,
                AcceptedTypes::Json | AcceptedTypes::Neither => Duration::MAX,
            },
            poll_fn(|cx| self.gather(cx, forms, &mut answers)),
        );
        let gathered = gathered.await;
        if let Ok(None) = gathered {
            return array(&answers);
        }
        let mut stream = EventStream::new(Box::new(self), pace);
        for message in answers.into_iter().chain(gathered.ok().flatten()) {
            stream = stream.beginning_with(message);
        }
        reply::stream(stream.beginning_with_a_sign_of_life())
    }

    /// Collects answers until all are ready, or another message precedes them.
    fn gather(
        &mut self,
        cx: &mut Context<'_>,
        forms: AcceptedTypes,
        answers: &mut Vec<OutgoingMessage>,
    ) -> Poll<Option<OutgoingMessage>> {
        loop {
            match std::task::ready!(self.poll_message(cx)) {
                None => return Poll::Ready(None),
                Some(message) if message.verdict.is_some() => answers.push(message),
                Some(notice) if forms == AcceptedTypes::Both => return Poll::Ready(Some(notice)),
                Some(_notice) => {}
            }
        }
    }
}

impl<S: Service> MessageSource for Batched<S> {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        let mut at = 0;
        while let Some((id, caller)) = self.open.get_mut(at) {
            match caller.poll_message(cx) {
                Poll::Pending => at += 1,
                Poll::Ready(Some(message)) => {
                    self.ready.push_back(message);
                    break;
                }
                Poll::Ready(None) => {
                    let owed = caller.is_owed().then(|| id.clone());
                    self.open.remove(at);
                    if let Some(id) = owed {
                        self.refuse(Some(&id), &reply::session_ended());
                    }
                }
            }
        }
        match self.ready.pop_front() {
            Some(message) => Poll::Ready(Some(message)),
            None if self.open.is_empty() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

fn array(answers: &[OutgoingMessage]) -> Response<ResponseBody> {
    let mut text = Vec::with_capacity(
        2 + answers
            .iter()
            .map(|message| message.frame.len() + 1)
            .sum::<usize>(),
    );
    text.push(b'[');
    for (at, message) in answers.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        message
            .frame
            .parts()
            .iter()
            .for_each(|part| text.extend_from_slice(part));
    }
    text.push(b']');
    reply::json(StatusCode::OK, Frame::whole(text))
}
