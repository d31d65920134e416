//! Visits: a user goes to a URL, and the page reports the result to the server.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle_model::{ElicitUrlParams, errors};
use tokio::sync::watch;
use tokio::time::Instant;

use super::answer::Answer;
use super::ask::Ask;
use super::error::AskError;
use super::waiting::Waiting;
use crate::context::Context;
use crate::engine_handle::EngineHandle;
use crate::principal::Principal;
use crate::random::random_name;
use crate::sync::{Mutex, MutexGuard};

/// How long a visit may take.
const LIFE: Duration = Duration::from_secs(1_800);
/// Visits that are stored; at the limit the oldest is dropped.
const MOST_VISITS: usize = 4_096;

/// The visits of users, by random ids. A server stores one in its state, and shares it with the
/// code that serves the URLs. Cloning returns another handle to the same visits.
///
/// ```
/// use pintle_runtime::{Answer, AskError, Context, Visits};
///
/// /// Sends the user to a page of ours, and waits until the page says that it is done.
/// async fn connect(cx: Context, visits: Visits) -> Result<&'static str, AskError> {
///     let visit = visits.begin(&cx, "connect").await?;
///     let url = format!("https://mcp.example.com/connect/{}", visit.id());
///     match visit.elicit("Connect your account", url).await? {
///         Answer::Accepted(()) => visit.finished().await?,
///         Answer::Declined | Answer::Cancelled => return Ok("not connected"),
///     }
///     Ok("connected")
/// }
/// ```
///
/// The page must authenticate the user who opens it, and call [`Visits::finish`] with the same
/// [`Principal`] that a request of this user has. A visit expires after half an hour. It is in the
/// memory of one process, and at most 4,096 are stored.
#[derive(Clone, Default)]
pub struct Visits(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    visit_by_id: HashMap<String, Record>,
    /// The ids by age.
    ids: VecDeque<String>,
}

struct Record {
    principal: Option<Box<str>>,
    expires: Instant,
    is_finished: watch::Sender<bool>,
    engine: Weak<dyn EngineHandle>,
}

impl Visits {
    /// Begins a visit, for the principal of a request. When the handler runs again, this returns
    /// the same visit: `key` distinguishes the visits of one handler.
    ///
    /// # Errors
    ///
    /// [`AskError::Invalid`] if the system has no randomness for the id.
    pub async fn begin(&self, cx: &Context, key: &str) -> Result<Visit, AskError> {
        let mint = async { random_name().map_err(|error| error.to_string()) };
        let minted = cx.once(&format!("visit {key}"), mint).await;
        let id = minted.map_err(AskError::Invalid)?;
        let finished = self.lock().begin(&id, cx);
        Ok(Visit {
            id,
            cx: cx.clone(),
            finished,
        })
    }

    /// Ends a visit: its handler continues, and the client that was asked is notified, in the
    /// revision that has this.
    ///
    /// `principal` is the user whom the page authenticated, not one that the URL names. Only the
    /// principal of the request that began a visit can finish it.
    ///
    /// # Errors
    ///
    /// [`VisitError`]: the visit is unknown, has ended, or belongs to another principal. The error
    /// does not distinguish these, because a user must not learn about visits of others.
    pub fn finish(&self, id: &str, principal: Option<&Principal>) -> Result<(), VisitError> {
        let engine = self.lock().finish(id, principal).ok_or(VisitError)?;
        if let Some(engine) = engine.upgrade() {
            engine.with(|engine| engine.end_visit(id));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock()
    }
}

impl Held {
    fn begin(&mut self, id: &str, cx: &Context) -> watch::Receiver<bool> {
        let now = Instant::now();
        self.make_room(now);
        if let Some(record) = self.visit_by_id.get_mut(id) {
            record.engine = cx.weak_engine();
            return record.is_finished.subscribe();
        }
        let (is_finished, finished) = watch::channel(false);
        let record = Record {
            principal: name_of(cx.principal()).map(Into::into),
            expires: now + LIFE,
            is_finished,
            engine: cx.weak_engine(),
        };
        self.ids.push_back(id.to_owned());
        self.visit_by_id.insert(id.to_owned(), record);
        finished
    }

    fn finish(
        &mut self,
        id: &str,
        principal: Option<&Principal>,
    ) -> Option<Weak<dyn EngineHandle>> {
        let record = self.visit_by_id.get(id)?;
        let is_theirs = record.principal.as_deref() == name_of(principal);
        if !is_theirs || record.expires <= Instant::now() {
            return None;
        }
        let was_finished = record.is_finished.send_replace(true);
        (!was_finished).then(|| Weak::clone(&record.engine))
    }

    /// Drops expired visits, and the oldest if there is no room.
    fn make_room(&mut self, now: Instant) {
        while let Some(oldest) = self.ids.front() {
            let expires = self.visit_by_id.get(oldest).map(|record| record.expires);
            let is_alive = expires.is_some_and(|expires| expires > now);
            if is_alive && self.ids.len() < MOST_VISITS {
                return;
            }
            self.visit_by_id.remove(oldest);
            self.ids.pop_front();
        }
    }
}

fn name_of(principal: Option<&Principal>) -> Option<&str> {
    principal.map(Principal::id)
}

/// One visit of one user, seen from the handler that asks for it.
#[derive(Clone)]
pub struct Visit {
    id: String,
    cx: Context,
    finished: watch::Receiver<bool>,
}

impl Visit {
    /// Its id, to be put into the URL: 128 random bits. Knowing it is not permission.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Asks the user to go to `url`. Acceptance is consent to go there, not success.
    ///
    /// # Errors
    ///
    /// As [`Context::elicit_url`].
    pub fn elicit(&self, message: impl Into<String>, url: impl Into<String>) -> Ask<Answer<()>> {
        let mut params = ElicitUrlParams::new(message, url);
        // Where the revision has no ids, it is dropped again.
        params.elicitation_id = Some(self.id.clone());
        self.cx.visit(params)
    }

    /// Whether the visit was [finished](Visits::finish).
    pub fn is_finished(&self) -> bool {
        *self.finished.borrow()
    }

    /// Waits until the visit is [finished](Visits::finish), for up to half an hour.
    ///
    /// # Errors
    ///
    /// [`AskError::Failed`] if that is not soon enough.
    pub async fn finished(&self) -> Result<(), AskError> {
        let mut finished = self.finished.clone();
        let _waiting = Waiting::begin(&self.cx);
        let ended = tokio::time::timeout(LIFE, finished.wait_for(|is| *is)).await;
        match ended {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(AskError::Failed(pintle_proto::PeerCallError::TimedOut(
                LIFE,
            ))),
        }
    }
}

impl fmt::Debug for Visits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visits")
            .field("visits", &self.lock().ids.len())
            .finish()
    }
}

/// The beginning of the id only: whole ones do not belong into logs.
impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit")
            .field("id", &self.id.get(..4))
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

errors! {
    /// The visit is unknown, has ended, or belongs to another principal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct VisitError => "there is no such visit";
}

#[cfg(test)]
mod tests {
    use pintle_model::jsonrpc::Message;
    use pintle_model::{Implementation, ServerCapabilities};
    use pintle_proto::{Connection, Event, Limits, ServerProfile};

    use super::*;
    use crate::engine_handle::SharedEngine;
    use crate::extensions::Extensions;

    /// Returns the context of a request of this principal, with the same client identity for all.
    fn request_of(principal: Option<&Principal>) -> Context {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        let profile = ServerProfile::new(Implementation::new("test", "1.0.0"), capabilities);
        let mut engine = Connection::server(Arc::new(profile), Arc::new(Limits::default()));
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientInfo":{"name":"eve","version":"1.0.0"},
            "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let message = Message::parse(line).expect("a message");
        engine.receive(Instant::now().into_std(), message);
        let Some(Event::Request(_, incoming)) = engine.poll_event() else {
            panic!("the request is admitted");
        };
        let engine = Arc::new(SharedEngine::new(engine));
        Context::with(incoming, engine, principal.cloned(), Extensions::new())
    }

    // spec: 2025-11-25 ELIC-39, ELIC-41, ELIC-42, ELIC-51, ELIC-66, ELIC-70, ELIC-71
    // spec: 2026-07-28 N-ELIC-13, N-ELIC-17
    // hardening: H-28
    #[tokio::test(start_paused = true)]
    async fn a_visit_belongs_to_the_principal_of_its_request() {
        let none: [&str; 0] = [];
        let (ada, eve) = (Principal::new("ada", none), Principal::new("eve", none));
        let visits = Visits::default();
        let visit = visits
            .begin(&request_of(Some(&ada)), "v")
            .await
            .expect("begins");
        assert_eq!(visits.finish(visit.id(), Some(&eve)), Err(VisitError));
        assert_eq!(visits.finish(visit.id(), None), Err(VisitError));
        assert!(!visit.is_finished());
        assert_eq!(visits.finish(visit.id(), Some(&ada)), Ok(()));
        assert!(visit.is_finished());
        assert_eq!(visit.finished().await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_visits_give_way() {
        let visits = Visits::default();
        let first = visits.begin(&request_of(None), "v").await.expect("begins");
        for _ in 0..MOST_VISITS - 1 {
            visits.begin(&request_of(None), "v").await.expect("begins");
        }
        assert_eq!(visits.lock().ids.len(), MOST_VISITS);
        visits.begin(&request_of(None), "v").await.expect("begins");
        assert_eq!(visits.lock().ids.len(), MOST_VISITS);
        assert_eq!(visits.finish(first.id(), None), Err(VisitError));
        assert!(
            first.finished().await.is_err(),
            "nobody can finish it any more"
        );
    }
}
