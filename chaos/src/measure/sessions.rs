//! Costs of sessions at several servers.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Result;
use super::http::{Connection, Request};
use super::percentiles::Percentiles;
use super::usage::Usage;
use crate::replicas::Replicas;

/// The number of sessions, or of calls, of one figure.
const REPETITIONS: usize = 200;
/// The sessions whose memory is measured.
const MANY: usize = 5_000;

/// Notices of one stream.
const NOTICES: u32 = 1_000;

/// A figure, and its value.
pub(super) type Figure = (&'static str, String);

/// Measures three servers.
pub(super) fn measure(replicas: &Replicas) -> Result<Vec<Figure>> {
    let [known, first] = first_request(replicas)?;
    let [here, elsewhere] = [question(replicas, 0)?, question(replicas, 1)?];
    let both = |it: &Percentiles| format!("{}, {}", it.of(50), it.of(99));
    Ok(vec![
        ("call of a session that the server knows", both(&known)),
        ("first call of a session at another server", both(&first)),
        ("question answered at its server", both(&here)),
        ("question answered at another server", both(&elsewhere)),
        ("notice of progress on a stream", both(&notices(replicas)?)),
        ("memory of a server for a session", memory(replicas)?),
    ])
}

/// The time of a later call, and of the first one, at another server.
fn first_request(replicas: &Replicas) -> Result<[Percentiles; 2]> {
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
    Ok(times.map(Percentiles::new))
}

/// The time of a notice, of streams with many.
fn notices(replicas: &Replicas) -> Result<Percentiles> {
    let address = replicas.addresses()[0];
    let session = Connection::open(address)?.initialize()?;
    let stream = |_| read_steps(&mut Connection::open(address)?, &session, NOTICES);
    let times = (0..REPETITIONS).map(stream).collect::<Result<_>>()?;
    Ok(Percentiles::new(times))
}

/// The time from the answer to a question until the result of its call.
fn question(replicas: &Replicas, distance: usize) -> Result<Percentiles> {
    let mut times = Vec::new();
    let addresses = replicas.addresses();
    let mut asking = Connection::open(addresses[0])?;
    let mut answering = Connection::open(addresses[distance])?;
    let session = asking.initialize()?;
    // The server joins the others in the background.
    answering.result(&Request::echo(Some(&session)))?;
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..REPETITIONS {
        times.push(ask_and_answer(addresses[0], &mut answering, &session)?);
    }
    Ok(Percentiles::new(times))
}

/// Calls a tool that asks. Returns the time from the answer until the result.
pub(crate) fn ask_and_answer(
    asking: SocketAddr,
    answering: &mut Connection,
    session: &str,
) -> Result<Duration> {
    // A stream ends with its connection, so each call has one.
    let mut stream = Connection::open(asking)?;
    let arguments = json!({ "key": "question", "value": 1 });
    stream.send(&Request::call(Some(session), "ask", &arguments))?;
    stream.head()?;
    let question = stream.message()?;
    let content = json!({ "action": "accept", "content": { "number": 2 } });
    let answer = Request::answer(session, &question["id"], &content);
    timed(|| {
        answering.exchange(&answer)?;
        has_result(&stream.message()?)
    })
}

/// Calls a tool that reports progress without a pause, and reads its stream. Returns the time of one notice.
pub(super) fn read_steps(stream: &mut Connection, session: &str, count: u32) -> Result<Duration> {
    let time = timed(|| {
        stream.send(&Request::with_progress(
            session,
            "steps",
            &json!({ "count": count }),
        ))?;
        stream.head()?;
        for _ in 0..count {
            stream.message()?;
        }
        has_result(&stream.message()?)
    })?;
    Ok(time / count)
}

fn has_result(message: &Value) -> Result<()> {
    match message.get("result") {
        Some(_) => Ok(()),
        None => Err(message.to_string().into()),
    }
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
