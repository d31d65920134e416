use proptest::prelude::*;

use super::*;

fn template(source: &str) -> Template {
    Template::parse(source).unwrap()
}

/// The variables of RFC 6570, section 3.2.
fn rfc() -> Variables {
    let list =
        |texts: &[&str]| VariableValue::List(texts.iter().map(ToString::to_string).collect());
    let keys = [("semi", ";"), ("dot", "."), ("comma", ",")];
    let keys = keys.map(|(name, text)| (name.to_owned(), text.to_owned()));
    Variables::new()
        .with("count", list(&["one", "two", "three"]))
        .with("dub", "me/too")
        .with("hello", "Hello World!")
        .with("half", "50%")
        .with("var", "value")
        .with("who", "fred")
        .with("base", "http://example.com/home/")
        .with("path", "/foo/bar")
        .with("list", list(&["red", "green", "blue"]))
        .with("keys", VariableValue::Map(keys.to_vec()))
        .with("v", "6")
        .with("x", "1024")
        .with("y", "768")
        .with("empty", "")
        .with("empty_list", list(&[]))
}

fn text(source: &str, uri: &str, variable: &str) -> Option<String> {
    template(source).matches(uri)?.get(variable).ok()
}

fn refused(source: &str) -> TemplateError {
    Template::parse(source).unwrap_err()
}

// spec: 2025-11-25 RES-06
// spec: 2026-07-28 N-RSRC-09
#[test]
fn templates_of_all_levels_expand_as_in_the_rfc() {
    for (source, uri) in [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,undef}", "?1024"),
        ("{var:3}", "val"),
        ("{list}", "red,green,blue"),
        ("{list*}", "red,green,blue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("{+path}/here", "/foo/bar/here"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{+keys}", "semi,;,dot,.,comma,,"),
        ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("{#path:6}here", "#/foo/bhere"),
        ("{#keys*}", "#semi=;,dot=.,comma=,"),
        ("{.who,who}", ".fred.fred"),
        ("X{.list*}", "X.red.green.blue"),
        ("X{.empty_list}", "X"),
        ("X{.empty}", "X."),
        ("{/var,x}/here", "/value/1024/here"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;list*}", ";list=red;list=green;list=blue"),
        ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("{?x,y,undef}", "?x=1024&y=768"),
        ("{?var:3}", "?var=val"),
        ("{?list*}", "?list=red&list=green&list=blue"),
        ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&count}", "&count=one,two,three"),
        ("ü {var}", "%C3%BC%20value"),
    ] {
        assert_eq!(template(source).expand(&rfc()).unwrap(), uri, "{source}");
    }
}

// hardening: H-91
#[test]
fn what_is_no_template_is_refused_where_it_goes_wrong() {
    for (source, at) in [("a{b", 1), ("a}b", 1), ("{a{b}}", 0), ("{", 0), ("}", 0)] {
        assert_eq!(refused(source), TemplateError::LoneBrace { at }, "{source}");
    }
    for source in [
        "{}",
        "{a,}",
        "{,a}",
        "{a b}",
        "{a:0}",
        "{a:x}",
        "{a:10000}",
        "{a-b}",
        "{.}",
        "{a..b}",
        "{%4}",
        "{a:1*}",
        "{é}",
    ] {
        assert!(
            !matches!(refused(source), TemplateError::LoneBrace { .. }),
            "{source}"
        );
    }
    assert_eq!(
        refused("a{=b}"),
        TemplateError::Operator {
            operator: '=',
            at: 2
        }
    );
    assert_eq!(
        refused("a{b,c d}"),
        TemplateError::Variable {
            found: "c d".to_owned(),
            at: 4
        }
    );
}

// hardening: H-91
#[test]
fn templates_variables_and_uris_are_bounded() {
    let many = |count: usize| (0..count).map(|i| format!("{{v{i}}}/")).collect::<String>();
    assert!(Template::parse(&many(MAX_VARIABLES)).is_ok());
    assert_eq!(
        refused(&many(MAX_VARIABLES + 1)),
        TemplateError::TooManyVariables { limit: 256 }
    );
    assert!(Template::parse(&"a".repeat(MAX_TEMPLATE)).is_ok());
    assert_eq!(
        refused(&"a".repeat(MAX_TEMPLATE + 1)),
        TemplateError::TooLong { limit: 8192 }
    );
    assert_eq!(
        refused(&"{".repeat(MAX_TEMPLATE)),
        TemplateError::LoneBrace { at: 0 }
    );
    let uri = |length: usize| format!("a:{}", "b".repeat(length - 2));
    assert!(text("a:{x}", &uri(MAX_URI), "x").is_some());
    assert!(text("a:{x}", &uri(MAX_URI + 1), "x").is_none());
    let long = Variables::new().with("x", "b".repeat(MAX_URI + 1));
    assert_eq!(
        template("{x}").expand(&long),
        Err(TemplateError::UriTooLong { limit: MAX_URI })
    );
}

// spec: 2025-11-25 RES-06
// spec: 2026-07-28 N-RSRC-09
#[test]
fn each_operator_matches_what_it_expands() {
    for (source, uri, variable, value) in [
        ("docs://{slug}", "docs://a%20b", "slug", "a b"),
        ("docs://{slug}/edit", "docs://a/edit", "slug", "a"),
        ("docs://{a}/{b}", "docs://x/y", "b", "y"),
        ("docs://{name}.{ext}", "docs://a.b.txt", "ext", "txt"),
        ("docs://{a,b}", "docs://x,y", "b", "y"),
        ("file:///{+path}", "file:///a/b.txt", "path", "a/b.txt"),
        ("file:///{+path}{?x}", "file:///a/b?x=1", "path", "a/b"),
        ("x:a{/b,c}", "x:a/1/2", "c", "2"),
        ("x:a{.ext}", "x:a.tar.gz", "ext", "tar.gz"),
        ("x:a{;v,w}", "x:a;v=6;w", "v", "6"),
        ("x:a{;v,w}", "x:a;v=6;w", "w", ""),
        ("x:a{#part}", "x:a#one?two/three", "part", "one?two/three"),
        ("x:a?fixed=yes{&q}", "x:a?q=1&fixed=yes", "q", "1"),
        ("x:a?q={term}", "x:a?q=b%26c", "term", "b&c"),
    ] {
        assert_eq!(
            text(source, uri, variable).as_deref(),
            Some(value),
            "{source} {uri}"
        );
    }
    for (source, uri) in [
        ("docs://{slug}", "docs://"),
        ("docs://{slug}", "docs://a/b"),
        ("docs://{slug}", "docs://a?b=c"),
        ("docs://{slug}", "docs://a#b"),
        ("docs://{slug}", "xdocs://a"),
        ("docs://{slug}", "docs://%zz"),
        ("docs://{slug}", "docs://%FF"),
        ("docs://{slug}", "docs://a%"),
        ("docs://a.b", "docs://axb"),
        ("x:a?fixed=yes{&q}", "x:a?q=1"),
        ("x:a#b", "x:a"),
    ] {
        assert!(template(source).matches(uri).is_none(), "{source} {uri}");
    }
}

#[test]
fn lists_are_taken_apart_before_they_are_decoded() {
    for (source, uri) in [
        ("x:{v*}", "x:a,b%2Cc"),
        ("x:{/v*}", "x:/a/b%2Cc"),
        ("x:{.v*}", "x:.a.b%2Cc"),
        ("x:{;v*}", "x:;v=a;v=b%2Cc"),
        ("x:{?v*}", "x:?v=a&v=b%2Cc"),
    ] {
        let found = template(source).matches(uri).unwrap();
        assert_eq!(
            found.get::<Vec<String>>("v").unwrap(),
            ["a", "b,c"],
            "{source}"
        );
    }
    let none = template("x:a{/v*}").matches("x:a").unwrap();
    assert_eq!(none.get::<Vec<String>>("v"), Ok(Vec::new()));
}

#[test]
fn a_query_comes_in_any_order_or_not_at_all() {
    let search = template("notes://{folder}{?q,limit}");
    for (uri, q, limit) in [
        ("notes://a", None, None),
        ("notes://a?", None, None),
        ("notes://a?q=x", Some("x"), None),
        ("notes://a?limit=3&q=x%20y", Some("x y"), Some(3)),
        ("notes://a?other=1&q=", Some(""), None),
    ] {
        let found = search.matches(uri).unwrap();
        assert_eq!(
            found.get::<Option<String>>("q").unwrap().as_deref(),
            q,
            "{uri}"
        );
        assert_eq!(found.get::<Option<u32>>("limit").unwrap(), limit, "{uri}");
    }
    assert!(search.matches("notes://a?q=1&q=2").is_none());
    assert!(search.is_optional("q") && !search.is_optional("folder"));
    assert_eq!(
        search.variables().collect::<Vec<_>>(),
        ["folder", "q", "limit"]
    );
}

// A query that says nothing leaves no `?` before what follows it.
// spec: 2026-07-28 N-RSRC-09
#[test]
fn what_follows_a_query_that_says_nothing_is_found() {
    for (source, uri, n) in [
        ("s{?q}&", "s&", None),
        ("s{?q}&", "s?&", None),
        ("s{?q,n}&", "s&", None),
        ("s{?q,n}&", "s?n=1&", Some("1")),
        ("s{?q}{&n}", "s", None),
        ("s{?q}{&n}", "s&n=1", Some("1")),
        ("s{?q}{&n}", "s?n=1", Some("1")),
        ("s{?q}{&o,n}", "s&n=%26", Some("&")),
        ("s{?q}&k=v{&n}", "s&k=v", None),
        ("s{?q}&k=v{&n}", "s&k=v&n=", Some("")),
        ("s{?q}&n={n}", "s&n=1", Some("1")),
        ("s{n}{?q}{&o}", "sa&o=1", Some("a")),
        ("s{n}{?q}{&o}", "sa&b", Some("a&b")),
        ("s{+n}{?q}{&o}", "sa/b&o=1", Some("a/b")),
        ("s{+n}{?q}&", "sa&b&", Some("a&b")),
        ("s{+n}{?q}&k=v", "sa&b&k=v", Some("a&b")),
        ("s{;n}{?q}{&o}", "s;n=1&o=2", Some("1")),
        ("s{?q}{&n}{#f}", "s&n=1#f", Some("1")),
    ] {
        let found = template(source).matches(uri);
        let found = found.unwrap_or_else(|| panic!("{source} {uri}"));
        let value = found.get::<Option<String>>("n").unwrap();
        assert_eq!(value.as_deref(), n, "{source} {uri}");
    }
    for (source, uri) in [("s{?q}{&n*}", "s&n=1&n=2"), ("s{/n*}{?q}&", "s/1/2&")] {
        let found = template(source).matches(uri).expect(source);
        let list: Vec<String> = found.get("n").expect(source);
        assert_eq!(list, ["1", "2"], "{source} {uri}");
    }
    for (source, uri) in [
        ("s{?q}&k=v", "s"),
        ("s{?q}&k=v", "s&k=w"),
        ("s{?q}{&n}", "s&"),
        ("s{?q}{&n}", "sn=1"),
        ("s{?q}", "s&q=1"),
    ] {
        assert!(template(source).matches(uri).is_none(), "{source} {uri}");
    }
}

#[test]
fn a_template_that_cannot_be_matched_says_why() {
    for source in [
        "a{?x}b",
        "a{?x}b&c",
        "a?b{;x}",
        "a{?x}{;y}",
        "a{?x}{y}",
        "{x:3}",
        "{x}{x}",
        "{/x*,y}",
        "a{&x}",
        "a{?x}{?y}",
        "a{#x,y}",
        "a{#x}{y}",
        "a?b{x}",
        "a?b=c{x}",
    ] {
        let expandable = template(source);
        let refused = expandable.check_matchable();
        assert!(
            matches!(refused, Err(TemplateError::Unmatchable { .. })),
            "{source}"
        );
        assert!(expandable.matches("a").is_none());
    }
}

#[test]
fn variables_become_the_types_that_are_asked_for() {
    let found = template("x:{n}/{b}{?o}").matches("x:-5/true").unwrap();
    assert_eq!(found.get::<i64>("n"), Ok(-5));
    assert_eq!(found.get::<bool>("b"), Ok(true));
    assert_eq!(found.get::<Option<u8>>("o"), Ok(None));
    let error = found.get::<u8>("n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the variable `n` is not an integer between 0 and 255"
    );
    let error = found.get::<u8>("o").unwrap_err();
    assert_eq!(error.to_string(), "the variable `o` is missing");
    assert!(found.get::<bool>("n").is_err());
}

// spec: 2026-07-28 N-RSRC-14
// hardening: H-88
#[test]
fn a_path_segment_leads_nowhere_else() {
    let segment = |uri: &str| {
        template("docs://{slug}")
            .matches(uri)
            .map(|v| v.get::<PathSegment>("slug"))
    };
    assert_eq!(segment("docs://a.b").unwrap().unwrap().as_str(), "a.b");
    assert_eq!(segment("docs://...").unwrap().unwrap().as_str(), "...");
    for uri in [
        "docs://..",
        "docs://.",
        "docs://%2e%2e",
        "docs://%2E.",
        "docs://a%2Fb",
        "docs://%2Fetc",
        "docs://a%5Cb",
        "docs://a%00",
        "docs://C:",
        "docs://..%5C..",
    ] {
        let unsafe_value = segment(uri).unwrap().unwrap_err();
        assert!(
            matches!(unsafe_value.fault, VariableErrorKind::Unsafe { .. }),
            "{uri}"
        );
    }
    assert!(segment("docs://../a").is_none());
    assert!(segment("docs://a\0").is_none());
}

// spec: 2026-07-28 N-RSRC-14
// hardening: H-88
#[test]
fn a_relative_path_stays_below_its_root() {
    for source in ["file:///root/{+path}", "file:///root{/path*}"] {
        let file = template(source);
        let path = |rest: &str| {
            file.matches(&format!("file:///root/{rest}"))
                .map(|v| v.get::<RelativePath>("path"))
        };
        let good = path("a/b%20c/..d").unwrap().unwrap();
        assert_eq!(good.segments().collect::<Vec<_>>(), ["a", "b c", "..d"]);
        for rest in [
            "../a",
            "a/../../b",
            "%2e%2e/a",
            "a/%2E%2e",
            "a%2F..%2Fb",
            "%2Fetc/passwd",
            "..%5Ca",
            "a%00b",
            "C:/a",
            "a/.",
        ] {
            assert!(matches!(path(rest), None | Some(Err(_))), "{source} {rest}");
        }
        for rest in ["a//b", "/a", "a/"] {
            assert!(matches!(path(rest), None | Some(Err(_))), "{source} {rest}");
        }
    }
}

// hardening: H-88
#[test]
fn what_was_encoded_twice_is_decoded_once() {
    let slug = text("docs://{slug}", "docs://%252e%252e", "slug");
    assert_eq!(slug.as_deref(), Some("%2e%2e"));
    let path = text("docs://{+path}", "docs://a%252F..", "path");
    assert_eq!(path.as_deref(), Some("a%2F.."));
}

// hardening: H-112
#[test]
fn an_invalid_uri_matches_nothing() {
    let any = template("{+all}");
    for uri in ["", "a b", "a\nb", "a\u{7f}b", "\0"] {
        assert!(any.matches(uri).is_none(), "{uri:?}");
    }
}

// hardening: H-89
#[test]
fn hostile_uris_are_matched_in_linear_time() {
    let nested = template("{+a}/{+b}/{+c}-{+d}.{+e}{/f*}");
    for uri in [
        "/".repeat(50_000),
        "/-.".repeat(16_000),
        "a".repeat(50_000),
        "%2F".repeat(16_000),
    ] {
        let _ = nested.matches(&uri);
    }
    let query = template("x:{?a,b,c*}");
    let _ = query.matches(&format!("x:?{}", "&=".repeat(25_000)));
}

proptest! {
    // spec: 2026-07-28 N-RSRC-09
    #[test]
    fn an_expanded_uri_matches_its_template(
        a in "\\PC{1,12}", b in "[^,]{1,12}", q in proptest::option::of("\\PC{0,12}"),
        list in proptest::collection::vec("\\PC{1,6}", 1..4), frag in "[a-z?/ é]{0,8}",
    ) {
        let mut variables = Variables::new()
            .with("a", a.as_str()).with("b", b.as_str()).with("list", list).with("frag", frag.as_str());
        if let Some(q) = q {
            variables.insert("q", q);
        }
        for source in ["x://h/{a}/{b}{/list*}{?q}{#frag}", "x://h/{a}/-{b}{?list*,q}{#frag}", "x:{a,b}{;list*}{?q}{#frag}", "x:{list*}/{a}/{b}?q={q}{#frag}",
            "x://h/{a}/-{b}{/list*}{?q}{&frag}", "x://h/{a}/-{b}{?q}&k=v{&frag,list*}&"] {
            let uri = template(source).expand(&variables).unwrap();
            let found = template(source).matches(&uri);
            prop_assert!(found.is_some(), "{} {}", source, uri);
            let found = found.unwrap();
            for (name, value) in variables.iter() {
                prop_assert_eq!(found.value(name), Some(value), "{} {} {}", source, uri, name);
            }
        }
    }

    // hardening: H-91
    #[test]
    fn any_text_is_a_template_or_a_typed_error(source in "[a-c/{}?&#+.;*:,= ]{0,24}", uri in "[a-c/?&#+.;:,=%2]{0,24}") {
        if let Ok(template) = Template::parse(&source) {
            let _ = template.matches(&uri);
            let _ = template.expand(&rfc());
        }
    }
}
