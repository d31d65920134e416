use super::super::prose::Prose;
use super::{Hit, doc_empty, doc_start, long_sentences, phrases, test_name};

/// The rules that a text breaks.
fn broken(text: &str) -> Vec<&'static str> {
    let hits = phrases(&Prose::of(&[(1, text)]));
    hits.iter().map(|hit| hit.rule).collect()
}

/// Checks that each text breaks `rule` once, and nothing else.
fn assert_each(rule: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(broken(text), [rule], "{text}");
    }
}

/// Checks that no text breaks a rule.
fn assert_clean(texts: &[&str]) {
    for text in texts {
        assert_eq!(broken(text), [""; 0], "{text}");
    }
}

#[test]
fn persons_are_found() {
    assert_each(
        "persons",
        &["Whoever calls", "for nobody", "if somebody waits"],
    );
    assert_clean(&["However long", "the body of a request"]);
}

#[test]
fn is_not_is_required_except_after_there() {
    assert_each(
        "is-no",
        &["it is no number", "the host is none", "they were no ids"],
    );
    assert_clean(&[
        "there is no number",
        "it is no longer open",
        "is not a number",
        "must be no more than 3",
        "this is noise",
    ]);
}

#[test]
fn noun_clauses_are_found() {
    assert_each(
        "what-is",
        &[
            "what is sent",
            "of what comes",
            "what\nhas ended",
            "what it is",
        ],
    );
    assert_clean(&["what changed", "somewhat isolated"]);
}

#[test]
fn verbs_of_speech_are_found() {
    assert_each(
        "say",
        &["it says so", "was told", "The server said", "telling it"],
    );
    assert_clean(&["essay", "`say` it", "https://said.example/told"]);
}

#[test]
fn verbs_of_hearing_are_found() {
    assert_each(
        "hear",
        &["hears of it", "greets the peer", "a farewell", "goodbye"],
    );
    assert_clean(&["heart", "shear"]);
}

#[test]
fn verbs_of_desire_are_found() {
    assert_each("want", &["wants a retry", "as it wishes"]);
    assert_clean(&["unwanted", "wishful"]);
}

#[test]
fn verbs_with_back_are_found() {
    assert_each("back", &["comes back", "was taken back", "gives back"]);
    assert_clean(&["sends back", "goes backwards"]);
}

#[test]
fn phrases_with_make_of_are_found() {
    assert_each(
        "make-of",
        &["makes a tool of it", "made one of", "make nothing of"],
    );
    assert_clean(&["makes use of", "makes a tool for it"]);
}

#[test]
fn idioms_are_found() {
    assert_each(
        "idiom",
        &[
            "waits for ever",
            "gives way",
            "came to nothing",
            "let go of it",
        ],
    );
    assert_clean(&["for every call", "nothing came"]);
}

#[test]
fn a_hit_has_the_line_of_its_phrase() {
    let hits = phrases(&Prose::of(&[(7, "One line,"), (8, "and it says so.")]));
    let hit = Hit {
        rule: "say",
        line: 8,
        words: "says".to_owned(),
    };

    assert_eq!(hits, [hit]);
}

#[test]
fn a_doc_begins_with_a_verb_or_a_noun() {
    let start = |text| doc_start(&Prose::of(&[(1, text)])).map(|hit| hit.words);

    assert_eq!(start("What is sent."), Some("what".to_owned()));
    assert_eq!(start("How it ends."), Some("how it".to_owned()));
    assert_eq!(start("Returns the size."), None);
    assert_eq!(start("Whether the call ended."), None);
    assert_eq!(start("Items that end."), None);
}

#[test]
fn a_doc_of_two_words_is_empty() {
    let is_empty = |doc| doc_empty(1, doc).is_some();

    assert!(is_empty("Name.") && is_empty("The name."));
    assert!(!is_empty("Maximum size in bytes.") && !is_empty("The name"));
}

#[test]
fn a_sentence_ends_with_its_mark() {
    let long = |text: &str| long_sentences(&Prose::of(&[(1, text)])).len();
    let words = |count| vec!["word"; count].join(" ");

    assert_eq!(long(&words(25)), 0);
    assert_eq!(long(&words(26)), 1);
    assert_eq!(long(&format!("{}; {}.", words(20), words(20))), 0);
    assert_eq!(long(&format!("{}.x {}", words(20), words(20))), 1);
}

#[test]
fn names_of_tests_are_checked() {
    let broken = |name: &str| -> Vec<_> { test_name(1, name).iter().map(|hit| hit.rule).collect() };

    assert_eq!(broken("who_asks_waits"), ["test-name"]);
    assert_eq!(broken("a_name_is_no_id"), ["test-name"]);
    assert_eq!(broken(&"a".repeat(71)), ["test-long"]);
    assert_eq!(broken("a_whole_name_is_not_an_id"), [""; 0]);
}
