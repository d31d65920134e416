//! The stored inputs of fuzzing are replayed and changed at random: bounded, and the same on every
//! machine.
//!
//! `PINTLE_SEED` chooses other changes, `PINTLE_TIMES` more of them. The bytes that broke something
//! are written to a file that is named, to be kept in `fuzz/corpus`.

use std::path::PathBuf;

use pintle_trials::fuzz::{TARGETS, Target};

/// How often the corpus of one target is changed.
const TIMES: usize = 300;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn rehearse(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.expect("a target of this name");
    let seed = number("PINTLE_SEED").unwrap_or(0);
    let times = number("PINTLE_TIMES").and_then(|times| usize::try_from(times).ok());
    let times = times.unwrap_or(TIMES);
    let rehearsed = target.rehearse(seed, times, |bytes| keep(target, bytes));
    rehearsed.expect("there is a corpus");
}

fn keep(target: &Target, bytes: &[u8]) {
    let name = format!("pintle-fuzz-{}-{}", target.name, std::process::id());
    let file: PathBuf = std::env::temp_dir().join(name);
    // Without a file there is still the panic.
    let kept = std::fs::write(&file, bytes);
    let text = String::from_utf8_lossy(bytes);
    panic!(
        "{} is broken by {} ({kept:?}): {:?}",
        target.name,
        file.display(),
        text.chars().take(2_000).collect::<String>()
    );
}

#[test]
fn every_target_has_a_corpus_and_a_test() {
    let source = include_str!("fuzz.rs");
    for target in TARGETS {
        let corpus = target.corpus().expect("a folder");
        assert!(
            corpus.len() >= 3,
            "{} has {} files",
            target.name,
            corpus.len()
        );
        let test = format!("rehearse(\"{}\")", target.name);
        assert!(source.contains(&test), "{test}");
    }
}

// hardening: H-117, H-118, H-119, H-120, H-121
#[test]
fn lines_are_cut_by_the_rules() {
    rehearse("lines");
}

// hardening: H-154, H-155, H-156
#[test]
fn events_do_not_depend_on_how_they_arrive() {
    rehearse("sse");
}

// hardening: H-114
#[test]
fn a_message_is_the_same_after_it_was_written() {
    rehearse("message");
}

// hardening: H-102, H-103, H-106, H-113, H-125
#[test]
fn our_reader_and_a_json_tree_agree_about_a_message() {
    rehearse("differential");
}

// hardening: H-109, H-116, H-124, H-133
#[test]
fn a_server_sends_only_messages_for_any_input() {
    rehearse("conversation");
}

// hardening: H-49, H-50, H-51, H-52
#[test]
fn a_call_is_made_only_when_its_head_agrees() {
    rehearse("headers");
}

// hardening: H-1, H-2, H-3, H-7, H-8
#[test]
fn a_request_is_served_or_refused_with_a_reason() {
    rehearse("classify");
}

// hardening: H-23
#[test]
fn nothing_passes_for_a_state_that_we_sealed() {
    rehearse("state");
}

#[test]
fn a_uri_that_matches_makes_variables_that_match() {
    rehearse("templates");
}

#[test]
fn challenges_are_the_same_after_they_were_written() {
    rehearse("challenges");
}

#[test]
fn forms_are_the_same_after_they_were_written() {
    rehearse("forms");
}

#[test]
fn schemas_come_to_an_end() {
    rehearse("schemas");
}

#[test]
fn files_of_other_hosts_are_read_or_refused() {
    rehearse("hosts");
}
