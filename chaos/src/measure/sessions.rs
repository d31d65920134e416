//! Costs of sessions at several servers.

use std::time::{Duration, Instant};

use serde_json::json;

use super::Result;
use super::http::{Connection, Request};
use super::percentiles::Percentiles;
use super::usage::Usage;
use crate::replicas::Replicas;

/// The number of sessions, or of calls, of one figure.
const REPETITIONS: usize = 200;
/// The sessions whose memory is measured.
const MANY: usize = 5_000;

/// A figure, and its value.
pub(super) type Figure = (&'static str, String);

/// Measures three servers.
pub(super) fn measure(replicas: &Replicas) -> Result<Vec<Figure>> {
    let [known, first] = first_request(replicas)?;
    Ok(vec![
        ("call of a session that the server knows, p50", known),
        ("first call of a session at another server, p50", first),
        (
            "question answered at its server, p50",
            question(replicas, 0)?,
        ),
        (
            "question answered at another server, p50",
            question(replicas, 1)?,
        ),
        ("memory of a server for a session", memory(replicas)?),
    ])
}

/// The time of a later call, and of the first one, at another server.
fn first_request(replicas: &Replicas) -> Result<[String; 2]> {
    let [mut home, mut other] = two(replicas)?;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..REPETITIONS {
        let session = home.initialize()?;
        let request = Request::echo(Some(&session));
        let first = timed(|| other.result(&request))?;
        let later = timed(|| other.result(&request))?;
        times[0].push(later);
        times[1].push(first);
    }
    Ok(times.map(|times| Percentiles::new(times).of(50)))
}

/// The time from the answer to a question until the result of its call.
fn question(replicas: &Replicas, distance: usize) -> Result<String> {
    let mut times = Vec::new();
    let addresses = replicas.addresses();
    let mut asking = Connection::open(addresses[0])?;
    let mut answering = Connection::open(addresses[distance])?;
    let session = asking.initialize()?;
    // The server joins the others in the background.
    answering.result(&Request::echo(Some(&session)))?;
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..REPETITIONS {
        // A stream ends with its connection, so each call has one.
        let mut stream = Connection::open(addresses[0])?;
        let arguments = json!({ "key": "question", "value": 1 });
        stream.send(&Request::call(Some(&session), "ask", &arguments))?;
        stream.head()?;
        let question = stream.message()?;
        let content = json!({ "action": "accept", "content": { "number": 2 } });
        let answer = Request::answer(&session, &question["id"], &content);
        let time = timed(|| {
            answering.exchange(&answer)?;
            let result = stream.message()?;
            match result.get("result") {
                Some(_) => Ok(()),
                None => Err(result.to_string().into()),
            }
        })?;
        times.push(time);
    }
    Ok(Percentiles::new(times).of(50))
}

/// The growth of a server by a session that it has opened.
fn memory(replicas: &Replicas) -> Result<String> {
    let [mut home, _] = two(replicas)?;
    let server = &replicas.ids()[..1];
    home.initialize()?;
    let before = Usage::of(server)?.memory_bytes;
    for _ in 0..MANY {
        home.initialize()?;
    }
    let after = Usage::of(server)?.memory_bytes;
    let bytes = after.saturating_sub(before) / MANY as u64;
    Ok(format!("{bytes} bytes"))
}

fn two(replicas: &Replicas) -> Result<[Connection; 2]> {
    let addresses = replicas.addresses();
    Ok([
        Connection::open(addresses[0])?,
        Connection::open(addresses[1])?,
    ])
}

fn timed(act: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let began = Instant::now();
    act()?;
    Ok(began.elapsed())
}
