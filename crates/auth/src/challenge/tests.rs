use proptest::prelude::*;

use super::*;

/// Returns the challenges of a header in a short form.
fn read_all(line: &str) -> Vec<String> {
    let all = Challenge::parse(line).expect("challenges");
    all.iter().map(describe).collect()
}

fn describe(challenge: &Challenge) -> String {
    let named = |(name, value): &(Box<str>, Box<str>)| format!("{name}={value}");
    let mut parts = vec![challenge.scheme().to_owned()];
    parts.extend(challenge.token().map(|token| format!("[{token}]")));
    parts.extend(challenge.parameters.iter().map(named));
    parts.join("|")
}

// spec: 2025-11-25 AUTH-23, AUTH-RFC-06
// spec: 2026-07-28 N-AUTH-08
#[test]
fn challenges_are_read_in_all_their_forms() {
    let rows: [(&str, &[&str]); 18] = [
        ("", &[]),
        (" , ,", &[]),
        ("Bearer", &["Bearer"]),
        ("Bearer ", &["Bearer"]),
        ("bearer realm=x", &["bearer|realm=x"]),
        ("Bearer REALM=\"a b\"", &["Bearer|realm=a b"]),
        (
            "Bearer realm = \"x\" , scope\t=\ty",
            &["Bearer|realm=x|scope=y"],
        ),
        (
            "Bearer realm=\"a,b=\\\"c\\\\\"",
            &["Bearer|realm=a,b=\"c\\"],
        ),
        ("Bearer realm=\"\"", &["Bearer|realm="]),
        ("Basic, Bearer", &["Basic", "Bearer"]),
        (
            "Basic realm=x, Bearer scope=y",
            &["Basic|realm=x", "Bearer|scope=y"],
        ),
        (
            "Basic realm=x,,Bearer,scope=y",
            &["Basic|realm=x", "Bearer|scope=y"],
        ),
        (
            "Negotiate YWJj==, Bearer",
            &["Negotiate|[YWJj==]", "Bearer"],
        ),
        ("Negotiate a/b+c~", &["Negotiate|[a/b+c~]"]),
        (
            "DPoP algs=\"ES256 EdDSA\", Bearer",
            &["DPoP|algs=ES256 EdDSA", "Bearer"],
        ),
        ("Bearer realm=\"\u{e4}\"", &["Bearer|realm=\u{e4}"]),
        ("Bearer realm=\"a\tb\"", &["Bearer|realm=a\tb"]),
        (
            "Bearer error=\"invalid_token\", resource_metadata=\"https://a.example/.well-known/x?y=1\"",
            &["Bearer|error=invalid_token|resource_metadata=https://a.example/.well-known/x?y=1"],
        ),
    ];
    for (line, expected) in rows {
        assert_eq!(read_all(line), expected, "{line:?}");
    }
}

#[test]
fn a_header_that_breaks_the_grammar_is_rejected_whole() {
    for line in [
        "=",
        "\"x\"",
        "Bearer realm=\"x",
        "Bearer realm=\"x\\",
        "Bearer realm=\"x\"y",
        "Bearer realm=x scope=y",
        "Bearer realm=\"x\" Basic",
        "Bearer realm=x, scope=",
        "Bearer realm=, scope=y",
        "Bearer realm=a;b",
        "Bearer realm=\"a\u{0}b\"",
        "Bearer realm=\"a\nb\"",
        "Bearer\u{1}",
        "realm=x",
        "Negotiate abc, realm=x",
        "B\u{e4}rer",
    ] {
        let refused = Challenge::parse(line);
        assert!(
            matches!(refused, Err(ChallengeError::Syntax(_))),
            "{line:?}: {refused:?}"
        );
    }
    let twice = Challenge::parse("Bearer scope=a, SCOPE=b");
    assert_eq!(twice, Err(ChallengeError::Twice));
}

#[test]
fn the_limits_themselves_are_read_and_one_more_is_not() {
    let line = |bytes: usize| format!("Bearer x=\"{}\"", "y".repeat(bytes - 11));
    assert!(Challenge::parse(&line(LINE_BYTES)).is_ok());
    let too_large = Err(ChallengeError::TooLarge);
    assert_eq!(Challenge::parse(&line(LINE_BYTES + 1)), too_large);

    let schemes = |count: usize| vec!["Bearer"; count].join(",");
    assert_eq!(read_all(&schemes(CHALLENGES)).len(), CHALLENGES);
    assert_eq!(Challenge::parse(&schemes(CHALLENGES + 1)), too_large);

    let names = |count: usize| {
        (0..count)
            .map(|place| format!("p{place}=x"))
            .collect::<Vec<_>>()
    };
    let line = |count: usize| format!("Bearer {}", names(count).join(","));
    assert!(Challenge::parse(&line(PARAMETERS)).is_ok());
    assert_eq!(Challenge::parse(&line(PARAMETERS + 1)), too_large);
}

// spec: 2025-11-25 AUTH-RFC-06
#[test]
fn a_broken_header_does_not_hide_the_others() {
    let lines = ["Bearer realm=\"", "Basic", "Bearer scope=x"];
    let found: Vec<String> = challenges(lines).iter().map(describe).collect();
    assert_eq!(found, ["Basic", "Bearer|scope=x"]);
    assert_eq!(challenges(vec!["A, B"; 100]).len(), CHALLENGES);
}

#[test]
fn schemes_and_names_have_no_case_and_values_do() {
    let found = &Challenge::parse("BEARER Error=\"Invalid\"").expect("a challenge")[0];
    assert!(found.is("bearer") && !found.is("basic"));
    assert_eq!(found.parameter("ERROR"), Some("Invalid"));
    assert_eq!(found.parameter("scope"), None);
}

#[test]
fn a_written_value_cannot_leave_its_quotes() {
    let bearer = || Challenge::new("Bearer").expect("a scheme");
    for value in ["a\r\nSet-Cookie: x", "a\0", "\u{e4}", "a\tb"] {
        let refused = bearer().with("scope", value);
        assert_eq!(refused, Err(ChallengeError::Character), "{value:?}");
    }
    assert_eq!(bearer().with("a b", "x"), Err(ChallengeError::Character));
    assert_eq!(Challenge::new("a b"), Err(ChallengeError::Character));
    let twice = bearer()
        .with("scope", "x")
        .and_then(|one| one.with("Scope", "y"));
    assert_eq!(twice, Err(ChallengeError::Twice));
    let quoted = bearer().with("realm", "a\"b\\c, d").expect("a parameter");
    assert_eq!(quoted.to_string(), r#"Bearer realm="a\"b\\c, d""#);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(line in ".{0,200}") {
        let _ = Challenge::parse(&line);
    }

    #[test]
    fn texts_of_the_right_characters_are_read_or_refused(line in "[Aa=\", \\\\\tb/]{0,60}") {
        let read = Challenge::parse(&line);
        // A parsed challenge stays equal when it is written and parsed again.
        for challenge in read.into_iter().flatten() {
            let again = Challenge::parse(&challenge.to_string());
            prop_assert_eq!(again, Ok(vec![challenge]));
        }
    }

    #[test]
    fn a_written_value_is_read_back(
        values in proptest::collection::vec("[ -~]{0,20}", 0..6),
    ) {
        let mut challenge = Challenge::new("Bearer").expect("a scheme");
        for (place, value) in values.iter().enumerate() {
            challenge = challenge.with(&format!("p{place}"), value).expect("a parameter");
        }
        prop_assert_eq!(Challenge::parse(&challenge.to_string()), Ok(vec![challenge]));
    }
}
