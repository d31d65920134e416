use super::{Place, in_file};

/// The place, the rule and the line of each hit in a file.
fn hits(path: &str, text: &str) -> Vec<(Place, &'static str, usize)> {
    let found = in_file(path, text).into_iter();
    found
        .map(|it| (it.place, it.hit.rule, it.hit.line))
        .collect()
}

#[test]
fn each_place_follows_from_the_path() {
    let expected = |place| [(place, "say", 1)];
    for (path, place) in [
        ("docs/a.md", Place::Markdown),
        ("README.md", Place::Page),
        ("SECURITY.md", Place::Page),
    ] {
        assert_eq!(hits(path, "It says so."), expected(place));
    }
    for (path, place) in [
        ("crates/pintle/src/lib.rs", Place::Rustdoc),
        ("crates/cli/src/args/access.rs", Place::Help),
        ("crates/cli/src/plan.rs", Place::Comment),
    ] {
        assert_eq!(hits(path, "//! The server says so."), expected(place));
    }
}

#[test]
fn a_hit_in_code_has_its_line() {
    let text = "//! One.\n\n/// What ends the call.\nfn a() {}\n#[test]\nfn who_ends() {}\n#[error(\"none is told\")]";
    let expected = [
        (Place::Comment, "doc-start", 3),
        (Place::Error, "say", 7),
        (Place::Test, "test-name", 6),
    ];

    assert_eq!(hits("crates/a/src/lib.rs", text), expected);
}

#[test]
fn docs_of_wire_types_may_be_short() {
    assert!(hits("crates/model/src/lib.rs", "/// Name.").is_empty());
    assert_eq!(hits("crates/a/src/lib.rs", "/// Name.").len(), 1);
}

#[test]
fn the_map_of_the_specification_is_exempt() {
    assert!(hits("docs/SPEC-MAP.md", "it is told").is_empty());
}

#[test]
fn a_sentence_ends_with_its_list_item() {
    let item = format!("/// - {}\n", vec!["word"; 20].join(" "));
    let long = format!("/// {}\n", vec!["word"; 26].join(" "));

    assert!(hits("crates/a/src/lib.rs", &item.repeat(2)).is_empty());
    assert_eq!(
        hits("crates/a/src/lib.rs", &long),
        [(Place::Comment, "long", 1)]
    );
}
