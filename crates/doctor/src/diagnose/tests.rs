//! Findings of facts that a test cannot plant on every machine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use pintle_hosts::Host;

use super::*;
use crate::facts::{
    Contact, Conversation, Definition, Ending, EndpointFacts, Failure, Lookup, Place, ProgramFacts,
    RunFacts,
};

fn facts(state: State) -> Facts {
    let host = Host::by_id("cursor").expect("a known host");
    let lines: BTreeMap<_, _> = [("command", 4), ("url", 5), ("headers", 6)]
        .map(|(key, line)| (key.to_owned(), line))
        .into();
    Facts {
        place: Place {
            address: "@cursor/a".to_owned(),
            server: "a".to_owned(),
            host: host.name,
            rules: host.rules(),
            file: PathBuf::from("/h/mcp.json"),
            line: 3,
            lines,
        },
        definition: Definition::default(),
        state,
    }
}

fn at_url(contact: Contact, proxy: Option<&'static str>) -> Vec<(&'static str, usize)> {
    let endpoint = EndpointFacts {
        url: "https://a.example/mcp".to_owned(),
        contact,
        redirect: None,
        better_url: None,
        proxy,
        chain: Vec::new(),
        token: None,
        conversation: None,
    };
    let mut facts = facts(State::Endpoint(Box::new(endpoint)));
    facts.definition.url_key = Some("url".to_owned());
    rules_of(&facts)
}

fn rules_of(facts: &Facts) -> Vec<(&'static str, usize)> {
    let findings = diagnose(facts).into_iter();
    findings
        .map(|finding| (finding.rule.id, finding.line))
        .collect()
}

#[test]
fn each_failure_of_a_connection_has_its_rule() {
    let reason = || "x".to_owned();
    for (contact, rule) in [
        (Contact::NoAddress(reason()), "no-address"),
        (Contact::Proxy(reason()), "proxy"),
        (Contact::TimedOut, "hang"),
        (Contact::Broken(reason()), "broken"),
        (Contact::Tls(reason()), "tls"),
        (Contact::Refused, "refused"),
    ] {
        assert_eq!(at_url(contact, Some("HTTPS_PROXY")), [(rule, 5)]);
    }
    assert_eq!(at_url(Contact::Status(200), None), []);
}

fn started(conversation: Result<Conversation, Failure>) -> Vec<(&'static str, usize)> {
    let run = RunFacts {
        start_timeout: Duration::from_secs(1),
        strays: Vec::new(),
        stray_count: 0,
        conversation,
        stderr: String::new(),
        crash: None,
        ending: Ending::default(),
    };
    let program = ProgramFacts {
        command: "x".to_owned(),
        lookup: Lookup::Found(PathBuf::from("/bin/x")),
        directory: PathBuf::from("/"),
        has_directory: true,
        missing_file: None,
        run: Some(run),
    };
    let mut facts = facts(State::Program(Box::new(program)));
    facts.definition.command_key = Some("command".to_owned());
    rules_of(&facts)
}

#[test]
fn each_failure_of_a_handshake_has_its_rule() {
    let reason = || "x".to_owned();
    for (failure, rule) in [
        (Failure::NoCommonRevision(reason()), "no-revision"),
        (Failure::Other(reason()), "handshake"),
        (Failure::TimedOut, "hang"),
        (Failure::Ended, "crash"),
    ] {
        assert_eq!(started(Err(failure)), [(rule, 4)]);
    }
    assert_eq!(started(Ok(Conversation::default())), []);
}

#[test]
fn a_server_without_consent_has_a_note_at_its_line() {
    assert_eq!(rules_of(&facts(State::NoConsent)), [("not-examined", 3)]);
    assert_eq!(rules_of(&facts(State::Disabled)), []);
}
