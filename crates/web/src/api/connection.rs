//! Requests about the connection itself.

use pintle_model::{LoggingLevel, Revision, Root};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answered, done};
use crate::backend::Backend;
use crate::failure::Failure;
use crate::session::Session;

#[derive(Deserialize)]
pub(super) struct Connect {
    target: String,
    revision: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Level {
    level: LoggingLevel,
}

#[derive(Deserialize)]
pub(super) struct Roots {
    roots: Vec<Root>,
}

/// Describes everything that a page needs at its start.
pub(super) fn state(backend: &Backend) -> Value {
    let revisions = Revision::ALL.map(|revision| revision.as_str());
    let session = backend.session().ok();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "newest": backend.feed.newest(),
        "targets": backend.targets.names(),
        "acceptsUrls": backend.targets.accepts_urls(),
        "revisions": revisions,
        "canSignIn": backend.targets.can_sign_in(),
        "recording": backend.targets.recording().map(|recording| &recording.name),
        "connection": session.map(|session| session.shown()),
        "questions": backend.questions.shown(),
    })
}

/// Returns the recording of the command line.
pub(super) fn recording(backend: &Backend) -> Answered {
    let recording = backend.targets.recording();
    let recording = recording.ok_or_else(|| {
        let status = http::StatusCode::NOT_FOUND;
        Failure::new(status, "there is no recording")
    })?;
    Ok(json!({ "name": recording.name, "text": recording.text }))
}

/// Connects to a server, in place of the earlier one.
pub(super) async fn connect(backend: &Backend, asked: Connect) -> Answered {
    let _turn = backend.connecting.lock().await;
    let revision = asked.revision.filter(|revision| !revision.is_empty());
    let revision: Option<Revision> = revision
        .map(|revision| revision.parse())
        .transpose()
        .map_err(|error| Failure::of(&error))?;
    let target = backend.targets.find(&asked.target).await?;
    backend.close().await;
    let (feed, questions) = (&backend.feed, &backend.questions);
    let session = Session::open(target, revision, feed, questions, &backend.options).await?;
    let shown = session.shown();
    backend.replace(Some(session));
    Ok(shown)
}

pub(super) async fn disconnect(backend: &Backend) -> Value {
    let _turn = backend.connecting.lock().await;
    backend.close().await;
    done()
}

pub(super) async fn ping(backend: &Backend) -> Answered {
    let session = backend.session()?;
    let began = tokio::time::Instant::now();
    session.client.ping().await?;
    Ok(json!({ "ms": began.elapsed().as_secs_f64() * 1000.0 }))
}

pub(super) async fn level(backend: &Backend, asked: Level) -> Answered {
    backend.session()?.client.set_level(asked.level).await?;
    Ok(done())
}

pub(super) fn roots(backend: &Backend, asked: Roots) -> Answered {
    backend.session()?.set_roots(asked.roots)?;
    Ok(done())
}
