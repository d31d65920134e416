//! Completion of a typed line.

use std::sync::Arc;
use std::time::Duration;

use pintle::client::Client;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Result};
use serde_json::Value;
use tokio::runtime::Handle;

use super::known_offers::{COMMANDS, KnownOffers, SHELL_COMMANDS};
use crate::args::Completion;
use crate::arguments::Guide;
use crate::command::complete::params;
use crate::conversation::Conversation;
use crate::text;

/// Maximum time for a server to complete an argument. After it, the line gets no completion.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(2);

/// Completes lines that the user types.
pub(super) struct Helper {
    offers: Arc<KnownOffers>,
    client: Client,
    runtime: Handle,
}

/// Candidates for a completion, with the position in the line where they begin.
#[derive(Debug, PartialEq, Eq)]
enum Candidates {
    /// Words of the program and the server.
    Words(usize, Vec<String>),
    /// The values that the server returns for an argument.
    FromServer(usize, Box<Question>),
}

/// An argument of a prompt that the server completes.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    prompt: String,
    argument: String,
    prefix: String,
    others: Vec<(String, String)>,
}

impl From<Question> for Completion {
    fn from(question: Question) -> Self {
        Self {
            of: question.prompt,
            argument: question.argument,
            prefix: question.prefix,
            others: question.others,
        }
    }
}

impl Helper {
    pub(super) fn new(offers: Arc<KnownOffers>, conversation: &Conversation) -> Self {
        Self {
            offers,
            client: conversation.client.clone(),
            runtime: Handle::current(),
        }
    }

    /// Asks the server. Returns no values if the server does not answer in time.
    fn ask(&self, question: Question) -> Vec<String> {
        let call = self
            .client
            .complete(params(&question.into()))
            .total_timeout(COMPLETION_TIMEOUT);
        // The editor has a thread of its own, so the conversation continues meanwhile.
        match self.runtime.block_on(async { call.await }) {
            Ok(result) => result.completion.values,
            Err(_) => Vec::new(),
        }
    }
}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let (start, words) = match candidates(line.get(..at).unwrap_or(line), &self.offers) {
            Candidates::Words(start, words) => (start, words),
            Candidates::FromServer(start, question) => (start, self.ask(*question)),
        };
        // A word with control characters is not offered, because it could control the terminal.
        let safe = words.into_iter().filter(|word| text::line(word) == *word);
        let pairs = safe.map(|word| Pair {
            display: word.clone(),
            replacement: quoted(&word),
        });
        Ok((start, pairs.collect()))
    }
}

impl Hinter for Helper {
    type Hint = String;
}
impl Highlighter for Helper {}
impl Validator for Helper {}
impl rustyline::Helper for Helper {}

/// Quotes a word if it would otherwise not be one word.
fn quoted(word: &str) -> String {
    match word.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '\\')) {
        false => word.to_owned(),
        true => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// Returns the candidates at the end of a line.
fn candidates(line: &str, offers: &KnownOffers) -> Candidates {
    // The start is a byte position, and a blank can have several bytes.
    let start = line.trim_end_matches(|c: char| !c.is_whitespace()).len();
    let (before, word) = line.split_at(start);
    let before: Vec<&str> = before.split_whitespace().collect();
    match before.as_slice() {
        [] => {
            let commands = COMMANDS.into_iter().chain(SHELL_COMMANDS);
            matching(start, word, commands.chain(offers.tools()))
        }
        ["call" | "bench"] => matching(start, word, offers.tools()),
        ["call" | "bench", tool, ..] => argument(start, word, tool, offers),
        ["prompt" | "complete"] => matching(start, word, offers.prompts()),
        ["prompt" | "complete", prompt, given @ ..] => {
            text_argument(start, word, prompt, given, offers)
        }
        ["read" | "listen", ..] => matching(start, word, offers.uris()),
        ["list", ..] => matching(start, word, ["tools", "resources", "templates", "prompts"]),
        ["tasks"] => matching(start, word, ["list", "get", "wait", "result", "cancel"]),
        [tool, ..] => argument(start, word, tool, offers),
    }
}

fn matching<'w>(start: usize, word: &str, words: impl IntoIterator<Item = &'w str>) -> Candidates {
    let words = words.into_iter().filter(|name| name.starts_with(word));
    Candidates::Words(start, words.map(str::to_owned).collect())
}

/// Completes an argument of a tool: its key, or a value that its schema lists.
fn argument(start: usize, word: &str, tool: &str, offers: &KnownOffers) -> Candidates {
    let Some(tool) = offers.tool(tool) else {
        return Candidates::Words(start, Vec::new());
    };
    let guide = Guide::new(&tool.input_schema);
    match word.split_once('=') {
        None => {
            let keys: Vec<String> = guide
                .members()
                .iter()
                .map(|key| format!("{key}="))
                .collect();
            matching(start, word, keys.iter().map(String::as_str))
        }
        Some((key, value)) => {
            let member = guide.member(key);
            let mut values: Vec<String> = member.values().map(shown).collect();
            if values.is_empty() && member.kind().contains("boolean") {
                values.extend(["true", "false"].map(str::to_owned));
            }
            matching(
                start + key.len() + 1,
                value,
                values.iter().map(String::as_str),
            )
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Completes an argument of a prompt: its key, or a value from the server.
fn text_argument(
    start: usize,
    word: &str,
    prompt: &str,
    given: &[&str],
    offers: &KnownOffers,
) -> Candidates {
    let Some((key, value)) = word.split_once('=') else {
        let arguments = offers
            .prompt(prompt)
            .and_then(|prompt| prompt.arguments.as_ref());
        let keys = arguments
            .into_iter()
            .flatten()
            .map(|argument| format!("{}=", argument.name));
        let keys: Vec<String> = keys.collect();
        return matching(start, word, keys.iter().map(String::as_str));
    };
    let others = given.iter().filter_map(|word| word.split_once('='));
    let question = Question {
        prompt: prompt.to_owned(),
        argument: key.to_owned(),
        prefix: value.to_owned(),
        others: others
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
    };
    Candidates::FromServer(start + key.len() + 1, Box::new(question))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sample_offers() -> KnownOffers {
        KnownOffers::of_tools(json!([
            { "name": "add", "inputSchema": { "type": "object", "properties": {
                "a": { "type": "integer" }, "loud": { "type": "boolean" }, "mode": { "enum": ["fast", "far", 3] } } } },
            { "name": "subtract", "inputSchema": { "type": "object" } },
        ]))
        .and_prompts(json!([{ "name": "greet", "arguments": [{ "name": "who" }, { "name": "how" }] }]))
    }

    fn words(line: &str) -> (usize, String) {
        match candidates(line, &sample_offers()) {
            Candidates::Words(start, words) => (start, words.join(" ")),
            other @ Candidates::FromServer(..) => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn names_and_arguments_are_completed() {
        for (line, start, expected) in [
            ("ca", 0, "call"),
            ("su", 0, "subtract"),
            ("call ", 5, "add subtract"),
            ("call a", 5, "add"),
            ("add ", 4, "a= loud= mode="),
            ("call add m", 9, "mode="),
            ("call add a=1 mode=fa", 18, "fast far"),
            ("add loud=t", 9, "true"),
            ("add a=", 6, ""),
            ("nothing ", 8, ""),
            ("prompt ", 7, "greet"),
            ("prompt greet h", 13, "how="),
            ("list t", 5, "tools templates"),
            ("tasks c", 6, "cancel"),
            ("call\u{3000}su", 7, "subtract"),
        ] {
            assert_eq!(words(line), (start, expected.to_owned()), "{line}");
        }
    }

    // spec: 2025-11-25 COMP-03
    #[test]
    fn the_server_completes_arguments_of_its_prompts() {
        let question = Question {
            prompt: "greet".to_owned(),
            argument: "how".to_owned(),
            prefix: "lo".to_owned(),
            others: vec![("who".to_owned(), "ann".to_owned())],
        };
        let expected = Candidates::FromServer(25, Box::new(question));
        let found = candidates("prompt greet who=ann how=lo", &sample_offers());
        assert_eq!(found, expected);
        let Candidates::FromServer(_, question) = found else {
            unreachable!("compared above")
        };
        let request = serde_json::to_value(params(&(*question).into())).expect("JSON");
        assert_eq!(request["context"]["arguments"], json!({ "who": "ann" }));
    }

    #[test]
    fn a_quoted_word_is_one_word() {
        for word in ["plain", "two words", "a \"quoted\" \\ one", "it's"] {
            let line = quoted(word);
            assert_eq!(
                crate::words::split(&line),
                Some(vec![word.to_owned()]),
                "{line}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "(call|add|prompt|greet|read|é| |=|'|\\PC){0,8}") {
            let start = match candidates(&line, &sample_offers()) {
                Candidates::Words(start, _) | Candidates::FromServer(start, _) => start,
            };
            prop_assert!(line.is_char_boundary(start) && start <= line.len());
        }
    }
}
