//! Transcripts: a whole exchange with an engine, stored in a file and reviewed like code.
//!
//! | line | meaning |
//! |---|---|
//! | `# text` | a remark |
//! | `@ server 2025-11-25` | begins: a server that speaks a revision (`@ server`: before any message); likewise `client` |
//! | `@ by hand` | requests wait for `! answer` |
//! | `< text` | a message to the engine |
//! | `> text` | a message of the engine: written by [`check`], never by hand |
//! | `! answer {…}`, `! fail {…}` | the oldest open request is answered |
//! | `! progress 0.5`, `! log info "text"` | the oldest open request reports progress or logs |
//! | `! changed tools` | something changed: `tools`, `prompts`, `resources`, or a URI |
//! | `! call method {…}`, `! give up` | a call is made, and given up |
//! | `! pass 500` | the clock advances by so many milliseconds |
//! | `! end listens`, `! close` | listeners are ended; the peer is gone |
//!
//! With `PINTLE_UPDATE=1` in the environment [`check`] writes the file anew instead of comparing.

use std::path::Path;
use std::time::Duration;

use pintle_model::Revision;
use pintle_proto::{CallId, Change};
use serde_json::Value;

use crate::endpoint::{CallBuilder, Endpoint};

/// Plays the transcript in `file` and compares the messages that the engine sends.
///
/// # Panics
///
/// If the engine sends other messages, or if the file cannot be read or parsed.
pub fn check(file: impl AsRef<Path>) {
    let file = file.as_ref();
    let expected =
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let played = play(&expected);
    if played == expected {
        return;
    }
    if std::env::var_os("PINTLE_UPDATE").is_some() {
        std::fs::write(file, played).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        return;
    }
    panic!("{}", difference(file, &expected, &played));
}

/// Plays a transcript and returns it with the messages that the engine sends now.
///
/// # Panics
///
/// If a line is not valid.
pub fn play(transcript: &str) -> String {
    let mut stage = Stage::default();
    let mut played = String::new();
    for line in transcript.lines().filter(|line| !line.starts_with("> ")) {
        played.push_str(line);
        played.push('\n');
        stage.act(line);
        for message in stage.sent() {
            played.push_str(&format!("> {message}\n"));
        }
    }
    played
}

fn difference(file: &Path, expected: &str, played: &str) -> String {
    let at = expected
        .lines()
        .zip(played.lines())
        .position(|(old, new)| old != new);
    let at = at.unwrap_or_else(|| expected.lines().count().min(played.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(the end)").to_owned();
    format!(
        "{}:{}: the engine says something else\n  expected {}\n  played   {}\nupdate it with PINTLE_UPDATE=1 if that is right",
        file.display(),
        at + 1,
        line(expected),
        line(played),
    )
}

#[derive(Default)]
struct Stage {
    endpoint: Option<Endpoint>,
    calls: Vec<CallId>,
}

impl Stage {
    fn act(&mut self, line: &str) {
        let (mark, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
        let rest = rest.trim_start();
        match mark {
            "" | "#" => {}
            "@" => self.begin(rest),
            "<" => drop(self.endpoint().receive(rest)),
            "!" => self.run_step(rest),
            _ => panic!("a transcript has no line like {line:?}"),
        }
    }

    fn endpoint(&mut self) -> &mut Endpoint {
        self.endpoint.as_mut().expect("a transcript begins with @")
    }

    fn sent(&mut self) -> Vec<Value> {
        self.endpoint
            .as_mut()
            .map(Endpoint::sent)
            .unwrap_or_default()
    }

    fn begin(&mut self, what: &str) {
        let (side, revision) = what.split_once(' ').unwrap_or((what, ""));
        let revision: Option<Revision> = revision.parse().ok();
        match (side, revision) {
            ("server", None) => self.endpoint = Some(Endpoint::server()),
            ("server", Some(revision)) => self.endpoint = Some(Endpoint::server_at(revision)),
            ("client", None) => self.endpoint = Some(Endpoint::client()),
            ("client", Some(revision)) => self.endpoint = Some(Endpoint::client_at(revision)),
            ("by", _) => self.endpoint().answers_by_hand(),
            _ => panic!("a transcript cannot begin with {what:?}"),
        }
    }

    fn run_step(&mut self, what: &str) {
        let (verb, rest) = what.split_once(' ').unwrap_or((what, ""));
        match verb {
            "answer" | "fail" | "progress" | "log" => self.act_on_request(verb, rest),
            "changed" => self.endpoint().engine().publish(&change(rest)),
            "call" => self.call(rest),
            "give" => self.give_up(),
            "pass" => self.endpoint().advance(Duration::from_millis(parsed(rest))),
            "end" => self.endpoint().engine().end_listens(),
            "close" => self.endpoint().close(),
            _ => panic!("a transcript cannot do {what:?}"),
        }
    }

    fn act_on_request(&mut self, verb: &str, rest: &str) {
        let endpoint = self.endpoint();
        let key = *endpoint.open().first().expect("a request is open");
        match verb {
            "answer" => drop(endpoint.answer(key, &parsed(rest))),
            "fail" => drop(endpoint.fail(key, parsed(rest))),
            "progress" => endpoint.engine().progress(key, parsed(rest), None, None),
            _ => {
                let (level, data) = rest.split_once(' ').expect("a level and data");
                endpoint.engine().log(key, level.into(), None, parsed(data));
            }
        }
    }

    fn call(&mut self, rest: &str) {
        let (method, params) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let call = self.endpoint().ask(
            CallBuilder::new(method)
                .with(parsed(params))
                .with_progress(),
        );
        self.calls.push(call);
    }

    fn give_up(&mut self) {
        let call = self.calls.pop().expect("a call was made");
        self.endpoint().cancel(call);
    }
}

fn change(what: &str) -> Change {
    match what {
        "tools" => Change::Tools,
        "prompts" => Change::Prompts,
        "resources" => Change::Resources,
        uri => Change::Resource(uri.to_owned()),
    }
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: &str =
        "@ server 2025-11-25\n< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

    #[test]
    fn playing_adds_the_messages_of_the_engine() {
        let played = play(PING);
        let answer = "> {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
        assert_eq!(played, format!("{PING}{answer}"));
        assert_eq!(play(&played), played);
    }

    #[test]
    fn a_difference_names_the_line() {
        let shown = difference(Path::new("a.txt"), "one\ntwo\n", "one\n");
        assert!(shown.starts_with("a.txt:2:"), "{shown}");
        assert!(shown.contains("expected two"), "{shown}");
    }
}
