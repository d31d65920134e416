use std::collections::VecDeque;
use std::io;

use pintle::model::{ElicitParams, ElicitSchema, JsonObject};
use pintle::runtime;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::confirm::{SERVER, confirm};
use super::dialogue::Dialogue;
use super::visit::{Opener, browser};
use super::*;
use crate::screen::Look;
use pintle_hosts::Input;

/// A terminal with lines that were typed before.
struct Script {
    typed: VecDeque<&'static str>,
    shown: String,
    look: Look,
}

impl Script {
    fn new(typed: &[&'static str]) -> Self {
        Self {
            typed: typed.iter().copied().collect(),
            shown: String::new(),
            look: Look::PLAIN,
        }
    }
}

impl Dialogue for Script {
    fn show(&mut self, text: &str) {
        self.shown.push_str(text);
    }

    fn ask(&mut self, prompt: &str) -> Option<String> {
        let typed = self.typed.pop_front()?;
        self.shown.push_str(&format!("{prompt}{typed}\n"));
        Some(typed.to_owned())
    }

    fn ask_secretly(&mut self, prompt: &str) -> Option<String> {
        self.shown.push_str(&format!("{prompt}\n"));
        self.typed.pop_front().map(str::to_owned)
    }

    fn look(&self) -> Look {
        self.look
    }
}

fn form(properties: Value, required: &[&str]) -> ElicitSchema {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    serde_json::from_value(schema).expect("a form")
}

fn filled(properties: Value, required: &[&str], typed: &[&'static str]) -> (Value, String) {
    let mut script = Script::new(typed);
    let schema = form(properties, required);
    let answer = fill("the server", "Who are you?", &schema, &mut script);
    (shown(answer), script.shown)
}

/// Returns an answer in its form on the wire.
fn shown(answer: runtime::Answer<JsonObject>) -> Value {
    match answer {
        runtime::Answer::Accepted(content) => accepted(content.into()),
        runtime::Answer::Declined => json!({ "action": "decline" }),
        runtime::Answer::Cancelled => json!({ "action": "cancel" }),
    }
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn every_kind_of_field_is_filled_in() {
    for (field, typed, value) in [
        (json!({ "type": "string" }), "/home", json!("/home")),
        (
            json!({ "type": "string", "format": "date" }),
            "2026-07-28",
            json!("2026-07-28"),
        ),
        (json!({ "type": "integer" }), "5", json!(5)),
        (json!({ "type": "number" }), "0.5", json!(0.5)),
        (json!({ "type": "boolean" }), "y", json!(true)),
        (
            json!({ "type": "string", "enum": ["a", "b"] }),
            "2",
            json!("b"),
        ),
        (
            json!({ "type": "string", "enum": ["2", "1"] }),
            "1",
            json!("1"),
        ),
        (
            json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["Ann", "Bob"] }),
            "bob",
            json!("b"),
        ),
        (
            json!({ "type": "string", "oneOf": [{ "const": "a", "title": "Ann" }] }),
            "Ann",
            json!("a"),
        ),
        (
            json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b", "c"] } }),
            "1, c",
            json!(["a", "c"]),
        ),
        (
            json!({ "type": "array", "items": { "anyOf": [{ "const": "a", "title": "Ann" }] } }),
            "ann",
            json!(["a"]),
        ),
        (json!({ "type": "color" }), "[1]", json!([1])),
    ] {
        let (result, shown) = filled(json!({ "x": field }), &["x"], &[typed, "yes"]);
        assert_eq!(result, accepted(json!({ "x": value })), "{shown}");
    }
}

#[test]
fn an_answer_that_does_not_fit_is_asked_again() {
    for (field, wrong, reason, right) in [
        (
            json!({ "type": "string", "minLength": 3 }),
            "ab",
            "at least 3",
            "abc",
        ),
        (
            json!({ "type": "string", "pattern": "^[a-z]+$" }),
            "A1",
            "matches",
            "a",
        ),
        (
            json!({ "type": "string", "format": "email" }),
            "nobody",
            "e-mail",
            "a@b.example",
        ),
        (json!({ "type": "integer", "maximum": 5 }), "6", "5", "5"),
        (json!({ "type": "integer" }), "five", "not a number", "5"),
        (json!({ "type": "integer" }), "1.5", "integer", "1"),
        (json!({ "type": "boolean" }), "perhaps", "yes or no", "no"),
        (
            json!({ "type": "string", "enum": ["a"] }),
            "z",
            "`z` is not one of these",
            "a",
        ),
        (
            json!({ "type": "array", "minItems": 1, "items": { "enum": ["a"] } }),
            ",",
            "1",
            "a",
        ),
        (json!({ "type": "string" }), "", "is required", "x"),
        (
            json!({ "type": "string", "default": "x", "minLength": 3 }),
            "",
            "at least 3",
            "xxx",
        ),
    ] {
        let (result, shown) = filled(json!({ "x": field }), &["x"], &[wrong, right, "yes"]);
        assert!(shown.contains(reason), "{field}: {shown}");
        assert_eq!(result["action"], "accept", "{field}");
    }
}

#[test]
fn defaults_are_accepted_and_optional_fields_may_stay_empty() {
    let fields = json!({ "a": { "type": "string", "default": "d" }, "b": { "type": "boolean", "default": false },
        "c": { "type": "array", "items": { "enum": ["x", "y"] }, "default": ["x", "y"] }, "e": { "type": "integer" } });
    let (result, shown) = filled(fields, &["a"], &["", "", "", "", "y"]);
    assert_eq!(
        result,
        accepted(json!({ "a": "d", "b": false, "c": ["x", "y"] }))
    );
    for part in ["[d] >", "[no] >", "[x, y] >", "(left out)", "a *"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

// spec: 2025-11-25 ELIC-04, ELIC-05, ELIC-06, ELIC-52, ELIC-53 (approval)
// spec: 2026-07-28 N-ELIC-11
#[test]
fn a_form_can_be_edited_declined_and_cancelled() {
    let name = json!({ "name": { "type": "string" } });
    let ask = |typed: &[&'static str]| filled(name.clone(), &["name"], typed).0;
    assert_eq!(
        ask(&["ann", "edit", "", "yes"]),
        accepted(json!({ "name": "ann" }))
    );
    assert_eq!(
        ask(&["ann", "edit", "bob", "what", "yes"]),
        accepted(json!({ "name": "bob" }))
    );
    let (_, shown) = filled(name.clone(), &["name"], &["ann", "yes"]);
    assert!(
        shown.contains("the server") && shown.contains("Who are you?"),
        "{shown}"
    );
    for typed in [&["/decline"][..], &["ann", "no"], &["ann", "/decline"]] {
        assert_eq!(ask(typed), json!({ "action": "decline" }), "{typed:?}");
    }
    for typed in [&["/cancel"][..], &["ann", "cancel"], &["ann"], &[]] {
        assert_eq!(ask(typed), json!({ "action": "cancel" }), "{typed:?}");
    }
}

#[test]
fn a_form_without_fields_is_a_question() {
    let ask = |typed: &[&'static str]| filled(json!({}), &[], typed).0;
    assert_eq!(ask(&["edit", "yes"]), accepted(json!({})));
    assert_eq!(ask(&["no"]), json!({ "action": "decline" }));
}

// spec: 2025-11-25 ELIC-65
#[test]
fn the_texts_of_a_server_are_made_safe_to_print() {
    let fields = json!({ "\u{1b}[2J": { "type": "string", "title": "\u{9b}31m", "description": "\u{7}", "default": "\u{202e}",
        "enum": ["\u{1b}c"] } });
    let mut script = Script::new(&["", "\u{1b}c", "yes"]);
    fill(
        "\u{1b}]0;x\u{7}",
        "\u{1b}[2J\u{1b}]8;;https://evil.example\u{7}here\u{1b}]8;;\u{7}",
        &form(fields, &[]),
        &mut script,
    );
    let typed = script.shown.replace("> \u{1b}c", "");
    assert!(
        !typed.contains(['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}']),
        "{typed:?}"
    );
}

/// An opener that records URLs.
#[derive(Default)]
struct Opened {
    urls: Vec<String>,
    is_broken: bool,
}

impl Opener for Opened {
    fn open(&mut self, url: &str) -> io::Result<()> {
        if self.is_broken {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.urls.push(url.to_owned());
        Ok(())
    }
}

fn visited(
    url: &str,
    host: &str,
    typed: &[&'static str],
    opened: &mut Opened,
) -> (runtime::Answer<()>, String) {
    let mut script = Script::new(typed);
    let is_suspicious = host.starts_with("xn--");
    let address = Address {
        url,
        host,
        is_suspicious,
    };
    let answer = visit("the server", "Sign in.", address, &mut script, opened);
    (answer, script.shown)
}

// hardening: H-78
// spec: 2025-11-25 ELIC-04, ELIC-05, ELIC-07, ELIC-52, ELIC-59, ELIC-60, ELIC-64
// spec: 2026-07-28 N-ELIC-11, N-ELIC-16, N-ELIC-15 (consent)
#[test]
fn a_url_is_opened_on_a_yes_only() {
    const URL: &str = "https://sign-in.example/a?b=c";
    for (typed, answer, is_opened) in [
        (&["yes"][..], runtime::Answer::Accepted(()), true),
        (&["what", "no"], runtime::Answer::Declined, false),
        (&["visited"], runtime::Answer::Accepted(()), false),
        (&["cancel"], runtime::Answer::Cancelled, false),
        (&[], runtime::Answer::Cancelled, false),
    ] {
        let mut opened = Opened::default();
        let (found, shown) = visited(URL, "sign-in.example", typed, &mut opened);
        assert_eq!(
            (found, opened.urls.len() == 1),
            (answer, is_opened),
            "{typed:?}"
        );
        assert!(
            shown.contains(URL) && shown.contains("at the host sign-in.example"),
            "{shown}"
        );
        assert!(shown.contains("the server asks you to visit"), "{shown}");
    }
    let mut broken = Opened {
        is_broken: true,
        ..Opened::default()
    };
    let (found, shown) = visited(URL, "sign-in.example", &["yes", "visited"], &mut broken);
    assert_eq!(found, runtime::Answer::Accepted(()));
    assert!(shown.contains("no browser opens"), "{shown}");
    let url = "https://xn--pple-43d.example/";
    let (_, shown) = visited(url, "xn--pple-43d.example", &["no"], &mut Opened::default());
    assert!(shown.contains("letters that are not shown"), "{shown}");
}

// spec: 2025-11-25 ELIC-63
#[test]
fn the_host_of_a_url_is_highlighted() {
    let mut script = Script::new(&["no"]);
    script.look.has_color = true;
    let address = Address {
        url: "https://sign-in.example/a",
        host: "sign-in.example",
        is_suspicious: false,
    };
    visit(
        "the server",
        "",
        address,
        &mut script,
        &mut Opened::default(),
    );
    let host = "https://\u{1b}[1;36msign-in.example\u{1b}[0m/a";
    assert!(script.shown.contains(host), "{}", script.shown);
}

// spec: 2025-11-25 ELIC-61
// spec: 2026-07-28 N-ELIC-16
#[test]
fn the_browser_of_the_system_gets_the_url_as_one_argument() {
    let url = "https://sign-in.example/a?b=c&d=$(e) f";
    let command = browser(url);
    let arguments: Vec<_> = command.get_args().collect();
    assert_eq!(arguments.last(), Some(&std::ffi::OsStr::new(url)));
    let program = command.get_program().to_str().expect("a name");
    assert!(
        ["rundll32", "open", "xdg-open"].contains(&program),
        "{program}"
    );
}

#[test]
fn answers_of_the_command_line_are_used_in_order() {
    let given = ["{\"a\": 1}", "decline", "cancel", "accept"];
    let given = given.map(|text| text.parse().expect("an answer"));
    let mut answers = Answers::from(given.to_vec());
    assert_eq!(
        answers.next_form().map(shown),
        Some(accepted(json!({ "a": 1 })))
    );
    assert_eq!(answers.next_form(), Some(runtime::Answer::Declined));
    assert_eq!(answers.next_visit(), Some(runtime::Answer::Cancelled));
    assert_eq!(answers.next_visit(), Some(runtime::Answer::Accepted(())));
    assert_eq!(answers.next_form(), None);
    for text in ["[1]", "perhaps", ""] {
        assert!(text.parse::<ScriptedAnswer>().is_err(), "{text}");
    }
}

#[test]
fn a_question_without_a_terminal_is_one_line_of_json() {
    let schema = form(json!({ "a\n": { "type": "string" } }), &[]);
    let form = ElicitParams::form("Who are you?", schema);
    let line = payload("the \u{9b} server", &form);
    assert!(!line.contains(['\n', '\u{9b}']), "{line}");
    let read: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        (&read["server"], &read["answered"]),
        (&json!("the \u{9b} server"), &json!("decline"))
    );
    assert_eq!(read["question"]["message"], "Who are you?");
}

#[test]
fn inputs_of_configuration_files_are_asked() {
    let question = |is_secret, default: Option<&str>, options: &[&str]| Input {
        id: "key".to_owned(),
        description: "The key".to_owned(),
        is_secret,
        default: default.map(str::to_owned),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
    };
    let ask = |question: &Input, typed: &[&'static str]| {
        let mut script = Script::new(typed);
        (input(question, &mut script), script.shown)
    };
    let (answer, shown) = ask(&question(true, None, &[]), &["s3cret"]);
    assert_eq!(answer, Ok("s3cret".to_owned()));
    assert!(!shown.contains("s3cret"), "{shown}");
    assert_eq!(
        ask(&question(false, Some("d"), &[]), &[""]).0,
        Ok("d".to_owned())
    );
    assert_eq!(
        ask(&question(false, None, &["a", "b"]), &["c", "b"]).0,
        Ok("b".to_owned())
    );
    assert!(ask(&question(false, None, &["a"]), &["c"]).0.is_err());
}

proptest! {
    #[test]
    fn no_form_and_no_typed_text_panics(
        kind in prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "x"]),
        words in prop::collection::vec(".{0,4}", 0..3),
        typed in prop::collection::vec(".{0,6}", 0..5),
    ) {
        let field = json!({ "type": kind, "enum": words, "items": { "enum": words } });
        let typed: Vec<&'static str> = typed.into_iter().map(|word| &*word.leak()).collect();
        let schema = json!({ "type": "object", "properties": { "x": field } });
        if let Ok(schema) = serde_json::from_value(schema) {
            fill("s", "", &schema, &mut Script::new(&typed));
        }
    }
}

#[test]
fn only_a_typed_yes_is_consent() {
    for (typed, is_agreed) in [
        (&["yes"][..], true),
        (&["", "maybe", "Y"], true),
        (&["no"], false),
        (&["", ""], false),
        (&[], false),
    ] {
        assert_eq!(
            confirm(&mut Script::new(typed), SERVER),
            is_agreed,
            "{typed:?}"
        );
    }
}
