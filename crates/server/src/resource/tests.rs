use std::sync::Arc;
use std::time::{Duration, Instant};

use pintle_model::jsonrpc::Message;
use pintle_model::{
    Error, ErrorCode, Freshness, Implementation, Outcome, ReadResourceResult, ResourceContents,
    Revision, ServerCapabilities,
};
use pintle_proto::{Connection, Event, Limits, ServerProfile, Terms};
use pintle_runtime::{Context, Extensions, SharedEngine};
use serde_json::{Value, json};

use super::*;
use crate::ability::State;
use crate::testing::context;
use crate::tool::{Json, ProtocolError};

/// The context of a request on the terms of a revision.
fn context_at(revision: Revision) -> Context {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    let profile = ServerProfile::new(Implementation::new("test", "1.0.0"), capabilities);
    let terms = Arc::new(Terms::new(revision));
    let mut engine = Connection::exchange(Arc::new(profile), Arc::new(Limits::default()), terms);
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test"}}"#;
    engine.receive(Instant::now(), Message::parse(line).unwrap());
    match engine.poll_event() {
        Some(Event::Request(_, incoming)) => {
            Context::new(incoming, Arc::new(SharedEngine::new(engine)))
        }
        other => panic!("the request was not admitted: {other:?}"),
    }
}

async fn read_in(
    resource: &Resource,
    uri: &str,
    context: &Context,
    state: &Extensions,
) -> Result<ReadResourceResult, Error> {
    resource.check().unwrap();
    match resource
        .read(uri, ExtractContext::new(context, state))
        .await?
    {
        Outcome::Complete(result) => Ok(result),
        other => panic!("a result was expected, not {other:?}"),
    }
}

async fn read(resource: &Resource, uri: &str) -> Result<ReadResourceResult, Error> {
    read_in(resource, uri, &context(), &Extensions::new()).await
}

async fn contents(resource: &Resource, uri: &str) -> Value {
    let result = read(resource, uri).await.unwrap();
    serde_json::to_value(result.contents).unwrap()
}

async fn refusal(resource: &Resource, uri: &str) -> Error {
    read(resource, uri).await.unwrap_err()
}

fn doc() -> Resource {
    let page = async |slug: PathSegment| match slug.as_str() {
        "intro" => Ok("# Welcome"),
        _ => Err(NotFound),
    };
    Resource::new("docs://pages/{slug}", "doc")
        .mime("text/markdown")
        .reader(page)
}

// spec: 2025-11-25 RES-08, RES-10
// spec: 2026-07-28 N-RSRC-08
#[tokio::test]
async fn a_text_has_its_uri_its_type_and_its_size_in_bytes() {
    let readme = Resource::text("docs://readme", "readme", "Größe");

    assert_eq!(readme.definition().size, Some(7));
    assert_eq!(
        contents(&readme, "docs://readme").await,
        json!([{"uri": "docs://readme", "mimeType": "text/plain", "text": "Größe"}])
    );
}

// spec: 2025-11-25 RES-08, RES-10, RES-19
// spec: 2026-07-28 N-RSRC-08
#[tokio::test]
async fn bytes_are_a_blob_in_base64() {
    let logo = Resource::bytes("docs://logo", "logo", vec![0xfb, 0xff], "image/png");

    assert_eq!(logo.definition().size, Some(2));
    assert_eq!(
        contents(&logo, "docs://logo").await,
        json!([{"uri": "docs://logo", "mimeType": "image/png", "blob": "+/8="}])
    );
}

// spec: 2025-11-25 RES-06
// spec: 2026-07-28 N-RSRC-09
#[tokio::test]
async fn a_template_is_read_at_the_uri_that_was_asked_for() {
    assert_eq!(
        contents(&doc(), "docs://pages/intro").await,
        json!([{"uri": "docs://pages/intro", "mimeType": "text/markdown", "text": "# Welcome"}])
    );
}

// spec: 2025-11-25 RES-16, AMB-61
// spec: 2026-07-28 N-RSRC-03
// hardening: H-112
#[tokio::test]
async fn what_is_not_there_has_the_code_of_its_revision_and_names_the_uri() {
    for revision in Revision::ALL {
        let code = match revision {
            Revision::V2026_07_28 => ErrorCode::INVALID_PARAMS,
            _ => ErrorCode::RESOURCE_NOT_FOUND,
        };
        for uri in ["docs://pages/none", "docs://elsewhere", "no uri at all", ""] {
            let context = context_at(revision);
            let error = read_in(&doc(), uri, &context, &Extensions::new())
                .await
                .unwrap_err();
            assert_eq!(
                (error.code, error.data),
                (code, Some(Box::new(json!({ "uri": uri })))),
                "{revision}"
            );
        }
    }
}

// hardening: H-112
#[test]
fn a_huge_uri_is_not_sent_back() {
    let error = resource_not_found(&"é".repeat(MAX), Revision::LATEST);
    assert_eq!(error.data, None);
}

const MAX: usize = template::MAX_URI;

// spec: 2026-07-28 N-RSRC-03
// hardening: H-112
#[tokio::test]
async fn no_contents_at_all_is_not_found() {
    let empty =
        Resource::new("docs://empty", "empty").reader(async || Vec::<ResourceContents>::new());
    let error = refusal(&empty, "docs://empty").await;

    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert_eq!(error.data.as_deref(), Some(&json!({"uri": "docs://empty"})));
}

// spec: 2025-11-25 RES-17
// spec: 2026-07-28 N-RSRC-14
// hardening: H-88
#[tokio::test]
async fn a_variable_that_leaves_its_place_is_not_found_and_no_reader_runs() {
    let open = Resource::new("file:///srv/{+path}", "file")
        .reader(async |path: RelativePath| format!("read {path}"));
    for path in [
        "../secret",
        "a/../../secret",
        "%2e%2e/secret",
        "..%2fsecret",
        "..%5csecret",
        "/etc/passwd",
        "a%00b",
        "C:/secret",
    ] {
        let uri = format!("file:///srv/{path}");
        let error = refusal(&open, &uri).await;
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{path}");
        assert_eq!(
            error.data.as_deref(),
            Some(&json!({ "uri": uri })),
            "{path}"
        );
    }
    assert_eq!(
        contents(&open, "file:///srv/a/b").await[0]["text"],
        "read a/b"
    );
}

#[tokio::test]
async fn a_variable_that_is_no_number_is_not_found_and_says_why() {
    let issue = Resource::new("issues://{number}", "issue")
        .reader(async |number: u32| format!("issue {number}"));

    assert_eq!(contents(&issue, "issues://7").await[0]["text"], "issue 7");
    let message = refusal(&issue, "issues://seven").await.message;
    assert!(
        message.starts_with("resource not found: the variable `number` is not"),
        "{message}"
    );
}

#[tokio::test]
async fn a_query_may_be_left_out() {
    let list = Resource::new("issues://all{?page,label}", "issues")
        .reader(async |page: Option<u32>, label: Option<String>| format!("{page:?} {label:?}"));

    assert_eq!(
        contents(&list, "issues://all").await[0]["text"],
        "None None"
    );
    assert_eq!(
        contents(&list, "issues://all?label=bug&page=2").await[0]["text"],
        "Some(2) Some(\"bug\")"
    );
    assert!(read(&list, "issues://all?page=two").await.is_err());
}

// spec: 2025-11-25 RES-16
// spec: 2026-07-28 N-RSRC-04
#[tokio::test]
async fn the_peer_learns_nothing_of_why_a_reader_failed() {
    let failing = Resource::new("docs://failing", "failing")
        .reader(async || Err::<String, _>("the password is wrong"));
    let error = refusal(&failing, "docs://failing").await;

    assert_eq!(error, Error::internal());
}

#[tokio::test]
async fn a_protocol_error_is_made_on_purpose_only() {
    let strange = Resource::new("docs://strange", "strange")
        .reader(async || Err::<String, _>(ProtocolError(Error::new(ErrorCode(7), "strange"))));

    assert_eq!(
        refusal(&strange, "docs://strange").await,
        Error::new(ErrorCode(7), "strange")
    );
}

#[derive(Debug)]
struct Because<E>(E);

impl<E> std::fmt::Display for Because<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("there was a reason")
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Because<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

// spec: 2026-07-28 N-RSRC-03
#[test]
fn an_error_because_nothing_is_there_is_not_found() {
    fn is_not_found(error: impl std::error::Error + Send + Sync + 'static) -> bool {
        matches!(
            Err::<String, _>(error).into_read_result(),
            Err(ReadError::NotFound)
        )
    }
    assert!(is_not_found(Because(NotFound)));
    assert!(is_not_found(std::io::Error::from(
        std::io::ErrorKind::NotFound
    )));
    assert!(!is_not_found(std::io::Error::from(
        std::io::ErrorKind::PermissionDenied
    )));
}

// spec: 2025-11-25 RES-08
// spec: 2026-07-28 N-RSRC-06
#[tokio::test]
async fn several_contents_keep_what_they_say_of_themselves() {
    let directory = Resource::new("docs://all", "all")
        .mime("text/plain")
        .reader(async || {
            vec![
                ResourceContents::text("", "index"),
                ResourceContents::text("docs://all/a", "a").with_mime_type("text/markdown"),
            ]
        });

    assert_eq!(
        contents(&directory, "docs://all").await,
        json!([
            {"uri": "docs://all", "mimeType": "text/plain", "text": "index"},
            {"uri": "docs://all/a", "mimeType": "text/markdown", "text": "a"},
        ])
    );
}

#[tokio::test]
async fn data_is_json_unless_the_resource_has_a_media_type() {
    let config = Resource::new("app://config", "config").reader(async || Json(vec![1, 2]));
    let shape = Resource::new("app://shape", "shape")
        .mime("application/geo+json")
        .reader(async || Ok::<_, NotFound>(Json(vec![1, 2])));

    assert_eq!(
        config.definition().mime_type.as_deref(),
        Some("application/json")
    );
    assert_eq!(
        contents(&config, "app://config").await,
        json!([{"uri": "app://config", "mimeType": "application/json", "text": "[1,2]"}])
    );
    assert_eq!(
        contents(&shape, "app://shape").await[0]["mimeType"],
        "application/geo+json"
    );
}

// spec: 2026-07-28 N-CACHE-01
#[tokio::test]
async fn freshness_is_the_resource_s_unless_the_reader_says_otherwise() {
    let minute = Duration::from_secs(60);
    let readme = Resource::text("docs://readme", "readme", "x").ttl(minute);
    let result = read(&readme, "docs://readme").await.unwrap();
    assert_eq!(result.freshness, Some(Freshness::private(minute)));

    let shared = readme.cache_scope(CacheScope::Public);
    let result = read(&shared, "docs://readme").await.unwrap();
    assert_eq!(result.freshness, Some(Freshness::public(minute)));

    let once = shared.reader(async || {
        let mut result = ReadResourceResult::text("", "x");
        result.freshness = Some(Freshness::default());
        result
    });
    let result = read(&once, "docs://readme").await.unwrap();
    assert_eq!(result.freshness, Some(Freshness::default()));
}

// spec: 2026-07-28 N-RSRC-09
// spec: 2025-11-25 RES-07
#[test]
fn a_template_says_of_itself_what_was_said_of_it() {
    let described = doc()
        .title("Page")
        .description("One page.")
        .meta("com.example/x", 1);
    let first = serde_json::to_value(described.template_definition()).unwrap();
    assert_eq!(
        first,
        json!({"uriTemplate": "docs://pages/{slug}", "name": "doc", "title": "Page",
            "description": "One page.", "mimeType": "text/markdown",
            "_meta": {"com.example/x": 1}})
    );
    let renamed = described.renamed("page");
    assert_eq!(renamed.template_definition().name, "page");
}

#[tokio::test]
async fn readers_take_abilities_beside_variables() {
    struct Shelf(&'static str);
    async fn book(
        shelf: State<Shelf>,
        title: PathSegment,
        all: Variables,
        _context: Context,
    ) -> String {
        format!("{title} on {}, {} variable", shelf.0.0, all.iter().count())
    }
    let book = Resource::new("books://{title}", "book").reader(book);
    let mut state = Extensions::new();
    assert!(!book.required_state()[0].is_met_by(&state));
    state.insert(Shelf("shelf 3"));

    assert!(book.required_state()[0].is_met_by(&state));
    let result = read_in(&book, "books://emma", &context(), &state)
        .await
        .unwrap();
    assert_eq!(
        result.contents[0].as_text(),
        Some("emma on shelf 3, 1 variable")
    );
}

#[tokio::test]
async fn a_resource_of_the_macro_is_read() {
    async fn doc(slug: PathSegment, page: Option<u8>, _cx: Context) -> Result<String, NotFound> {
        Ok(format!("{slug} {page:?}"))
    }
    let doc = Resource::new("docs://{slug}{?page}", "doc")
        .needs::<Context>()
        .on_read(|__call: &ReadCall<'_>| {
            Ok(doc(
                __call.variable::<PathSegment>("slug")?,
                __call.optional::<u8>("page")?,
                __call.ability::<Context>()?,
            ))
        });

    assert_eq!(
        contents(&doc, "docs://intro?page=2").await[0]["text"],
        "intro Some(2)"
    );
    assert!(read(&doc, "docs://intro?page=300").await.is_err());
}

fn fault(uri: &str) -> Option<ResourceDefinitionError> {
    Resource::new(uri, "x").reader(async || "x").check().err()
}

// spec: 2025-11-25 RES-15, RES-17
// spec: 2026-07-28 N-RSRC-13, N-RSRC-14
#[test]
fn an_address_that_is_no_uri_is_refused_at_start() {
    for uri in ["a:b", "docs://x/%20y?z=1#f", "urn:isbn:1", "x-my.app+1:///"] {
        assert_eq!(fault(uri), None, "{uri}");
    }
    for uri in [
        "",
        "docs",
        "/docs",
        "://x",
        "1a:b",
        "my_app://x",
        "a:b c",
        "a:ü",
        "a:%2",
        "a:\n",
        "{x}",
        "my app:{x}",
    ] {
        assert!(
            matches!(fault(uri), Some(ResourceDefinitionError::Uri { .. })),
            "{uri}"
        );
    }
}

// spec: 2026-07-28 N-RSRC-09
// hardening: H-91
#[test]
fn a_template_that_cannot_be_used_is_refused_at_start() {
    let huge = format!("a:{{{}}}", "x".repeat(1 << 20));
    for template in [
        "a:{x",
        "a:x}",
        "a:{}",
        "a:{{x}}",
        "a:{x}/{x}",
        "a:{x:3}",
        &huge,
    ] {
        assert!(
            matches!(fault(template), Some(ResourceDefinitionError::Template(_))),
            "{template:.40}"
        );
    }
}

// spec: 2025-11-25 RES-06
#[test]
fn what_does_not_fit_the_template_is_refused_at_start() {
    let two = || Resource::new("a:{x}/{y}", "two").reader(async || "x");
    assert_eq!(
        two().complete("x", ["1"]).complete("y", ["1"]).check(),
        Ok(())
    );

    let name = "z".into();
    assert_eq!(
        two().complete("z", ["1"]).check(),
        Err(ResourceDefinitionError::NoVariable { name })
    );
    let twice = two().complete("x", ["1"]).complete("x", ["2"]).check();
    assert_eq!(
        twice,
        Err(ResourceDefinitionError::CompletedTwice { name: "x".into() })
    );
    let one_of_two = Resource::new("a:{x}/{y}", "two")
        .reader(async |x: String| x)
        .check();
    assert_eq!(
        one_of_two,
        Err(ResourceDefinitionError::Parameters { taken: 1, all: 2 })
    );
    assert_eq!(two().size(1).check(), Err(ResourceDefinitionError::Sized));
    assert_eq!(
        two().renamed("").check(),
        Err(ResourceDefinitionError::EmptyName)
    );
    assert_eq!(
        Resource::new("a:b", "b").check(),
        Err(ResourceDefinitionError::NoHandler)
    );
}
