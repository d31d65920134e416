use super::super::place::Place;
use super::{of_markdown, of_rust, test_names};

/// The place, the marker and the lines of each text in a Rust file.
fn rust(path: &str, source: &str) -> Vec<(Place, &'static str, String)> {
    let texts = of_rust(path, source).into_iter();
    let texts = texts.map(|text| {
        let lines: Vec<&str> = text.lines.iter().map(|(_, line)| line.as_str()).collect();
        (text.place, text.marker, lines.join("|"))
    });
    texts.collect()
}

/// The texts of errors in a Rust file.
fn errors(source: &str) -> Vec<String> {
    let texts = rust("crates/a/src/lib.rs", source).into_iter();
    let errors = texts.filter(|(place, ..)| *place == Place::Error);
    errors.map(|(_, _, text)| text).collect()
}

#[test]
fn comments_on_adjacent_lines_are_one_text() {
    let source = "//! One\n//! two.\n\n/// Three.\nfn a() {} // four\n";
    let expected = [
        (Place::Comment, "//!", "One|two.".to_owned()),
        (Place::Comment, "///", "Three.".to_owned()),
        (Place::Comment, "//", "four".to_owned()),
    ];

    assert_eq!(rust("a.rs", source), expected);
}

#[test]
fn code_and_marks_are_not_part_of_a_comment() {
    let source =
        "/// One.\n/// ```\n/// said();\n/// ```\nfn a() {}\n// spec: 2026-07-28 N-HDR-02\n";

    assert_eq!(
        rust("a.rs", source),
        [(Place::Comment, "///", "One.".to_owned())]
    );
}

#[test]
fn strings_are_not_comments() {
    assert!(rust("a.rs", "const A: &str = \"// told\";").is_empty());
}

#[test]
fn texts_of_derived_errors_are_found() {
    let source = "#[error(\"one {0}\")]\nA(u8),\n#[error(\n    \"two \\\n     three\"\n)]\nB,";

    assert_eq!(errors(source), ["one {0}", "two |     three"]);
}

#[test]
fn texts_in_the_display_of_an_error_are_found() {
    let source = "impl fmt::Display for A { fn fmt() { \"one\" } }\nimpl Error for A {}\n\
                  impl fmt::Display for B { fn fmt() { \"two\" } }";

    assert_eq!(errors(source), ["one"]);
}

#[test]
fn texts_passed_to_constructors_of_errors_are_found() {
    let source = "a(\"zero\"); Error::invalid_params(format!(\"one\", b(c))); UsageError(\"two\");";

    assert_eq!(errors(source), ["one", "two"]);
}

#[test]
fn texts_in_the_macro_of_errors_are_found() {
    assert_eq!(errors("errors! { A => \"one\" }"), ["one"]);
}

#[test]
fn test_code_has_no_error_texts() {
    let source = "#[error(\"one\")]\nA,";

    assert!(rust("crates/a/src/b/tests.rs", source).is_empty());
    assert!(errors(&format!("#[cfg(test)]\nmod tests {{ {source} }}")).is_empty());
}

#[test]
fn docs_and_attributes_of_arguments_are_help() {
    let source = "//! Arguments.\n\n/// One.\n#[command(after_help = \"two\")]\nstruct A;";
    let places = |path| -> Vec<_> { rust(path, source).into_iter().map(|it| it.0).collect() };

    assert_eq!(
        places("crates/cli/src/args.rs"),
        [Place::Help, Place::Help, Place::Help]
    );
    assert_eq!(places("crates/cli/src/plan.rs"), [Place::Comment; 2]);
}

#[test]
fn names_of_tests_stand_below_their_attributes() {
    let source = "#[cfg(test)]\nmod tests {\n#[tokio::test(start_paused = true)]\n// why\nasync fn one() {}\nfn two() {}\n#[test]\nfn three() {}\n}";

    assert_eq!(test_names(source), [(5, "one"), (8, "three")]);
}

#[test]
fn paragraphs_end_at_blank_lines() {
    let text = "One\ntwo.\n\n```text\ncode\n```\nThree.\n";
    let paragraphs = of_markdown("docs/a.md", text);
    let lines: Vec<_> = paragraphs.iter().map(|text| text.lines.len()).collect();

    assert_eq!(lines, [2, 1]);
    assert_eq!(paragraphs[1].lines[0].0, 7);
}

#[test]
fn released_sections_of_the_changelog_are_exempt() {
    let text = "## Unreleased\n\n- new\n\n## 0.1\n\n- old\n";

    assert_eq!(of_markdown("CHANGELOG.md", text).len(), 2);
    assert_eq!(of_markdown("docs/a.md", text).len(), 4);
}
