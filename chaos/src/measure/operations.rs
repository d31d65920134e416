//! Operations of the store for each kind of request, of three servers together.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Result;
use super::http::{Connection, Request};
use super::sessions::{ask_and_answer, read_steps};
use crate::counted::OPERATIONS;
use crate::replicas::Replicas;

/// The requests of one row.
const REPETITIONS: usize = 50;
/// The time in which the servers are idle.
const IDLE: Duration = Duration::from_secs(30);
/// After the requests of a row, so that all notices have arrived.
const SETTLING: Duration = Duration::from_millis(500);

/// Operations by their kind.
pub(crate) type Operations = [f64; OPERATIONS.len()];

/// Sums up the operations of all servers so far.
pub(crate) fn operations(replicas: &Replicas) -> Result<Operations> {
    let mut sum = Operations::default();
    for address in replicas.addresses() {
        let text = Connection::open(address)?.text(&Request::operations())?;
        for (sum, number) in sum.iter_mut().zip(text.split(' ')) {
            *sum += number.parse::<f64>()?;
        }
    }
    Ok(sum)
}

/// Servers, and a connection to each.
struct Measuring<'a> {
    replicas: &'a Replicas,
    connections: Vec<Connection>,
    idle: Operations,
}

/// Prints the operations of each kind of request.
pub(super) fn print(replicas: &Replicas) -> Result<()> {
    let open = |address| Connection::open(address);
    let addresses = replicas.addresses();
    let connections = addresses.into_iter().map(open).collect::<Result<_>>()?;
    let mut measuring = Measuring {
        replicas,
        connections,
        idle: Operations::default(),
    };
    measuring.join()?;
    let (before, began) = (operations(replicas)?, Instant::now());
    sleep(IDLE);
    let idle = difference(&before, &operations(replicas)?);
    measuring.idle = idle.map(|count| count / began.elapsed().as_secs_f64());
    println!(
        "| idle server, in a second | {} |",
        shown(&measuring.idle.map(|it| it / 3.0))
    );
    measuring.print_all()?;
    print_bytes(replicas);
    Ok(())
}

/// Prints the bytes of the largest key of each namespace.
fn print_bytes(replicas: &Replicas) {
    let ask = |command: &str| replicas.ask_redis(command).unwrap_or_default();
    let mut largest = BTreeMap::new();
    for key in ask("KEYS *").lines().map(str::trim) {
        let bytes: u64 = ask(&format!("MEMORY USAGE {key}"))
            .trim()
            .parse()
            .unwrap_or(0);
        let events = ask(&format!("LLEN {key}")).trim().parse().unwrap_or(0_u64);
        let name = key.split(['/', '}']).next().unwrap_or(key).to_owned();
        let place = largest.entry(name).or_insert((0, 0));
        *place = (*place).max((bytes, events));
    }
    println!("\n| content of Redis | bytes | events |\n|---|--:|--:|");
    for (name, (bytes, events)) in largest {
        println!("| {name} | {bytes} | {events} |");
    }
}

impl Measuring<'_> {
    /// Has each server serve a session, so that it joins the others.
    fn join(&mut self) -> Result<()> {
        let session = self.connections[0].initialize()?;
        for connection in &mut self.connections {
            connection.result(&Request::echo(Some(&session)))?;
        }
        sleep(Duration::from_secs(2));
        Ok(())
    }

    fn print_all(&mut self) -> Result<()> {
        self.row("call of 2026-07-28", |it| {
            it.connections[0].result(&Request::echo(None))
        })?;
        self.row("handshake, and a call there", |it| {
            let session = it.connections[0].initialize()?;
            it.connections[0].result(&Request::echo(Some(&session)))
        })?;
        self.row("handshake, and a call at another server", |it| {
            let session = it.connections[0].initialize()?;
            it.connections[1].result(&Request::echo(Some(&session)))
        })?;
        let session = self.connections[0].initialize()?;
        self.connections[1].result(&Request::echo(Some(&session)))?;
        for (name, answering) in [
            ("question, answered there", 0),
            ("question, answered elsewhere", 1),
        ] {
            let session = session.clone();
            self.row(name, move |it| it.question(&session, answering))?;
        }
        self.row("stream with 100 notices of progress", |it| {
            let session = session.clone();
            it.steps(&session)
        })?;
        self.row("handshake and DELETE there", |it| {
            let session = it.connections[0].initialize()?;
            it.end(&session)
        })?;
        self.row("handshake, a call elsewhere, and DELETE", |it| {
            let session = it.connections[0].initialize()?;
            it.connections[1].result(&Request::echo(Some(&session)))?;
            it.end(&session)
        })?;
        self.row("handshake and `resources/subscribe`", |it| {
            let session = it.connections[0].initialize()?;
            let params = json!({ "uri": crate::replica::BOARD });
            let request = Request::of_session(&session, "resources/subscribe", &params);
            it.connections[0].result(&request)
        })?;
        self.row("change of a resource", |it| {
            it.connections[0].result(&Request::call(None, "announce", &json!({})))
        })
    }

    fn end(&mut self, session: &str) -> Result<()> {
        let (head, body) = self.connections[0].exchange(&Request::end(session))?;
        match head.status {
            200..=204 => Ok(()),
            status => Err(format!("DELETE: {status} {body:?}").into()),
        }
    }

    fn question(&mut self, session: &str, answering: usize) -> Result<()> {
        let address = self.replicas.addresses()[0];
        ask_and_answer(address, &mut self.connections[answering], session).map(drop)
    }

    /// Reads a stream with notices up to its result.
    fn steps(&mut self, session: &str) -> Result<()> {
        let mut stream = Connection::open(self.replicas.addresses()[0])?;
        read_steps(&mut stream, session, 100).map(drop)
    }

    /// Prints the operations of one request, without those of idle servers.
    fn row(&mut self, name: &str, mut act: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let (before, began) = (operations(self.replicas)?, Instant::now());
        for _ in 0..REPETITIONS {
            act(self)?;
            // Each request stands alone: its notices are not gathered with others.
            sleep(Duration::from_millis(50));
        }
        sleep(SETTLING);
        let mut counts = difference(&before, &operations(self.replicas)?);
        let seconds = began.elapsed().as_secs_f64();
        for (count, idle) in counts.iter_mut().zip(self.idle) {
            *count = (*count - idle * seconds) / REPETITIONS as f64;
        }
        println!("| {name} | {} |", shown(&counts));
        Ok(())
    }
}

pub(crate) fn difference(before: &Operations, after: &Operations) -> Operations {
    std::array::from_fn(|place| after[place] - before[place])
}

/// Returns the kinds that occur, with their numbers.
fn shown(counts: &Operations) -> String {
    let parts = OPERATIONS.iter().zip(counts);
    let parts = parts.filter(|(_, count)| **count >= 0.05);
    let texts: Vec<_> = parts
        .map(|((_, name), count)| format!("{count:.1} {name}"))
        .collect();
    match texts.is_empty() {
        true => "none".to_owned(),
        false => texts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_do_not_occur_are_not_shown() {
        assert_eq!(
            shown(&[1.0, 0.01, 0.0, 0.0, 2.04, 0.0, 0.0, 0.0]),
            "1.0 get, 2.0 append"
        );
        assert_eq!(shown(&Operations::default()), "none");
    }
}
