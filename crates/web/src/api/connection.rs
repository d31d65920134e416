//! Requests about the connection itself.

use http::StatusCode;
use pintle_model::{Revision, Root};
use serde_json::Value;

use super::{Answered, done};
use crate::asked::{Asked, missing};
use crate::backend::Backend;
use crate::failure::Failure;
use crate::object::Object;
use crate::session::Session;

/// Describes everything that a page needs at its start.
pub(super) fn state(backend: &Backend) -> Vec<u8> {
    let targets = &backend.targets;
    let mut names = targets.names().into_iter().map(|target| {
        let mut shown = Object::new();
        shown
            .text("name", &target.name)
            .text("label", &target.label);
        shown.flag("isGiven", target.is_given).end()
    });
    let mut state = Object::new();
    state.text("version", env!("CARGO_PKG_VERSION"));
    state.whole("newest", backend.feed.newest());
    state.objects("targets", &mut names);
    state.flag("acceptsUrls", targets.accepts_urls());
    let mut revisions = Revision::ALL.iter().map(|revision| revision.as_str());
    state.texts("revisions", &mut revisions);
    state.flag("canSignIn", targets.can_sign_in());
    let recording = targets.recording();
    state.optional(
        "recording",
        recording.map(|recording| recording.name.as_str()),
    );
    match backend.session() {
        Ok(session) => state.raw("connection", session.shown()),
        Err(_) => state.null("connection"),
    };
    state.objects("questions", &mut backend.questions.shown().into_iter());
    state.end()
}

/// Returns the recording of the command line.
pub(super) fn recording(backend: &Backend) -> Answered {
    let Some(recording) = backend.targets.recording() else {
        let status = StatusCode::NOT_FOUND;
        return Err(Failure::new(status, "there is no recording"));
    };
    let mut shown = Object::new();
    shown.text("name", &recording.name);
    Ok(shown.text("text", &recording.text).end())
}

/// Connects to a server, in place of the earlier one.
pub(super) async fn connect(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let _turn = backend.connecting.lock().await;
    let revision = asked.optional("revision");
    let revision = revision.filter(|revision| !revision.is_empty());
    let revision: Option<Revision> = revision
        .map(|revision| revision.parse())
        .transpose()
        .map_err(|error| Failure::of(&error))?;
    let target = backend.targets.find(&asked.text("target")?).await?;
    backend.close().await;
    let (feed, questions) = (&backend.feed, &backend.questions);
    let session = Session::open(target, revision, feed, questions, &backend.options).await?;
    let shown = session.shown();
    backend.replace(Some(session));
    Ok(shown)
}

pub(super) async fn disconnect(backend: &Backend) -> Answered {
    let _turn = backend.connecting.lock().await;
    backend.close().await;
    Ok(done())
}

pub(super) async fn ping(backend: &Backend) -> Answered {
    let session = backend.session()?;
    let began = tokio::time::Instant::now();
    session.client.ping().await?;
    let took = began.elapsed().as_secs_f64() * 1000.0;
    Ok(Object::new().double("ms", took).end())
}

pub(super) async fn level(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let level = asked.text("level")?.as_str().into();
    backend.session()?.client.set_level(level).await?;
    Ok(done())
}

/// Sets the roots.
pub(super) fn roots(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let invalid = || missing("roots");
    let list = asked.raw("roots").and_then(|list| list.get().parse().ok());
    let Some(Value::Array(list)) = list else {
        return Err(invalid());
    };
    let root = |shown: &Value| {
        let mut root = Root::new(shown["uri"].as_str()?);
        root.name = shown["name"].as_str().map(str::to_owned);
        Some(root)
    };
    let roots = list.iter().map(root).collect::<Option<_>>();
    let roots = roots.ok_or_else(invalid)?;
    backend.session()?.set_roots(roots)?;
    Ok(done())
}
