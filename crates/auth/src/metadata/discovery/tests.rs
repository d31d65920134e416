use super::*;

const SERVER: &str = "https://mcp.example/x";
const RESOURCE: &str =
    r#"{"resource":"https://mcp.example/x","authorization_servers":["https://as.example"]}"#;

fn url(text: &str) -> WebUrl {
    WebUrl::parse(text).expect(text)
}

/// Runs a discovery against a site with these pages. Returns the requested URLs and the last step.
fn search(
    named: Option<&str>,
    page: impl Fn(&str) -> Result<FetchResponse, FetchError>,
) -> (Vec<String>, DiscoveryStep<ResourceMetadata>) {
    let fetch_policy = FetchPolicy::of(&url(SERVER));
    let mut probe = ResourceProbe::of_resource(&url(SERVER), named, &fetch_policy);
    let mut asked = Vec::new();
    let mut step = probe.begin();
    while let DiscoveryStep::Fetch(request) = step {
        let answer = page(&request.url);
        asked.push(request.url);
        step = probe.take(answer);
    }
    (asked, step)
}

const BY_PATH: &str = "https://mcp.example/.well-known/oauth-protected-resource/x";
const ROOT: &str = "https://mcp.example/.well-known/oauth-protected-resource";

// spec: 2025-11-25 AUTH-10, AUTH-16, AUTH-17
// spec: 2026-07-28 N-AUTH-07
#[test]
fn the_challenge_is_asked_first_then_the_path_then_the_root() {
    let named = "https://mcp.example/elsewhere";
    for (has, expected) in [
        (named, &[named][..]),
        (BY_PATH, &[named, BY_PATH]),
        (ROOT, &[named, BY_PATH, ROOT]),
    ] {
        let (asked, end) = search(Some(named), |place| match place == has {
            true => Ok(FetchResponse::new(200, RESOURCE)),
            false => Ok(FetchResponse::new(404, "")),
        });
        assert_eq!(asked, expected);
        assert!(matches!(end, DiscoveryStep::Found(found) if found.place == has));
    }
    let (asked, _) = search(Some(BY_PATH), |_| Ok(FetchResponse::new(404, "")));
    assert_eq!(asked, [BY_PATH, ROOT], "no place is asked twice");
}

#[test]
fn an_invalid_document_leads_to_the_next_url() {
    let faults: [fn() -> Result<FetchResponse, FetchError>; 5] = [
        || Ok(FetchResponse::new(404, RESOURCE)),
        || Ok(FetchResponse::new(401, "")),
        || Ok(FetchResponse::new(200, "<html>")),
        || Ok(FetchResponse::new(200, "{}")),
        || Err(FetchError::TooLarge(1)),
    ];
    for fault in faults {
        let (asked, end) = search(None, |place| match place == ROOT {
            true => Ok(FetchResponse::new(200, RESOURCE)),
            false => fault(),
        });
        assert_eq!(asked, [BY_PATH, ROOT]);
        assert!(matches!(end, DiscoveryStep::Found(_)));
    }
}

#[test]
fn only_a_plain_no_from_everywhere_is_certain() {
    for (status, expected) in [(404, true), (405, true), (410, true), (401, false)] {
        let (_, end) = search(None, |_| Ok(FetchResponse::new(status, "")));
        let DiscoveryStep::Nowhere { tried, is_certain } = end else {
            panic!("nothing is there");
        };
        assert_eq!((tried.len(), is_certain), (2, expected), "{status}");
    }
}

// A document that cannot be read now is not absent: another place may have another one.
//
// spec: 2025-11-25 AUTH-16, AUTH-27
// spec: 2026-07-28 N-AUTH-07, N-AUTH-11
#[test]
fn a_place_that_fails_for_now_ends_the_search() {
    let faults: [fn() -> Result<FetchResponse, FetchError>; 6] = [
        || Ok(FetchResponse::new(500, RESOURCE)),
        || Ok(FetchResponse::new(503, "")),
        || Ok(FetchResponse::new(429, "")),
        || Ok(FetchResponse::new(408, "")),
        || Err(FetchError::TimedOut(std::time::Duration::from_secs(30))),
        || Err(FetchError::unreachable("reset")),
    ];
    for fault in faults {
        let (asked, end) = search(None, |place| match place == ROOT {
            true => Ok(FetchResponse::new(200, RESOURCE)),
            false => fault(),
        });
        assert_eq!(asked, [BY_PATH], "{:?}", fault());
        assert!(matches!(end, DiscoveryStep::Unavailable(place, _) if place == BY_PATH));
        let fetch_policy = FetchPolicy::of(&url(SERVER));
        let mut probe =
            ServerProbe::of_server("https://as.example/t", &fetch_policy).expect("an issuer");
        probe.begin();
        let end = probe.take(fault());
        assert!(matches!(end, DiscoveryStep::Unavailable(..)), "{end:?}");
    }
}

// hardening: H-33
#[test]
fn a_document_of_another_resource_ends_the_search() {
    let evil = RESOURCE.replace("mcp.example", "evil.example");
    let (asked, end) = search(None, |_| Ok(FetchResponse::new(200, evil.clone())));
    assert_eq!(asked.len(), 1);
    assert!(matches!(end, DiscoveryStep::Refused(place, _) if place == BY_PATH));
}

// hardening: H-29
#[test]
fn a_challenge_leads_into_no_private_network() {
    for named in [
        "http://169.254.169.254/latest/meta-data",
        "http://mcp.example/x",
        "https://localhost:8080/",
        "file:///etc/passwd",
        "nonsense",
    ] {
        let (asked, _) = search(Some(named), |_| Ok(FetchResponse::new(404, "")));
        assert_eq!(asked, [BY_PATH, ROOT], "{named}");
    }
}

// spec: 2025-11-25 SEC-12
// spec: 2026-07-28 N-SEC-04
// hardening: H-30
#[test]
fn redirects_stay_at_home_and_end() {
    let to = |location: &str| Ok(FetchResponse::new(302, "").header("Location", location));
    for elsewhere in [
        "https://evil.example/x",
        "//evil.example/x",
        "http://mcp.example/x",
        "https://169.254.169.254/",
        "file:///etc/passwd",
        "relative",
    ] {
        let (asked, end) = search(None, |_| to(elsewhere));
        assert_eq!(asked, [BY_PATH, ROOT], "{elsewhere}");
        assert!(matches!(
            end,
            DiscoveryStep::Nowhere {
                is_certain: false,
                ..
            }
        ));
    }
    let (asked, _) = search(None, |_| to("/loop"));
    assert_eq!(asked.len(), 2 * (1 + usize::from(REDIRECTS)));
    let (_, end) = search(None, |place| match place {
        BY_PATH => to("/moved"),
        _ => Ok(FetchResponse::new(200, RESOURCE)),
    });
    assert!(matches!(end, DiscoveryStep::Found(found) if found.place == BY_PATH));
}

// spec: 2026-07-28 N-AUTH-13
// hardening: H-34
#[test]
fn the_document_of_another_issuer_ends_the_search() {
    let fetch_policy = FetchPolicy::of(&url(SERVER));
    let mut probe = ServerProbe::of_server("https://as.example", &fetch_policy).expect("an issuer");
    assert!(matches!(probe.begin(), DiscoveryStep::Fetch(_)));
    let body = r#"{"issuer":"https://attacker.example"}"#;
    let end = probe.take(Ok(FetchResponse::new(200, body)));
    assert!(matches!(end, DiscoveryStep::Refused(..)));
    for issuer in [
        "http://as.example",
        "https://10.0.0.1",
        "https://as.example?x",
        "x",
    ] {
        assert!(
            ServerProbe::of_server(issuer, &fetch_policy).is_err(),
            "{issuer}"
        );
    }
}
