use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pintle_model::{CallToolResult, Error, JsonObject, Outcome};
use pintle_runtime::{Context, Extensions, IntoService as _, Principal, Service as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::Server;
use crate::ability::{Extension, ExtractContext, State};
use crate::testing::{Log, context, context_of};

#[derive(Deserialize, JsonSchema)]
struct Page {
    query: String,
    #[schemars(range(min = 1, max = 50))]
    limit: Option<i32>,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

fn raw(arguments: Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(&arguments).unwrap()
}

async fn call(tool: &Tool, arguments: Value) -> Result<CallToolResult, Error> {
    call_in(tool, arguments, &context(), &Extensions::new()).await
}

async fn call_in(
    tool: &Tool,
    arguments: Value,
    context: &Context,
    state: &Extensions,
) -> Result<CallToolResult, Error> {
    tool.check().unwrap();
    let outcome = tool.call(
        Some((&*raw(arguments)).into()),
        ExtractContext::new(context, state),
    );
    match outcome.await? {
        Outcome::Complete(result) => Ok(result),
        other => panic!("a result was expected, not {other:?}"),
    }
}

async fn said(tool: &Tool, arguments: Value) -> String {
    let result = call(tool, arguments).await.unwrap();
    assert!(!result.has_failed(), "{result:?}");
    result.first_text().unwrap_or_default().to_owned()
}

async fn complaint(tool: &Tool, arguments: Value) -> String {
    let result = call(tool, arguments).await.unwrap();
    assert!(result.has_failed(), "{result:?}");
    result.first_text().unwrap_or_default().to_owned()
}

fn adder() -> Tool {
    Tool::new("add").handler(async |add: Add| add.a + add.b)
}

fn pager() -> Tool {
    Tool::new("page")
        .handler(async |page: Args<Page>| format!("{} {}", page.query, page.limit.unwrap_or(10)))
}

#[tokio::test]
async fn a_function_of_its_arguments_is_a_tool() {
    assert_eq!(said(&adder(), json!({ "a": 1, "b": 2 })).await, "3");
    let definition = adder().definition().clone();
    assert_eq!(definition.input_schema["required"], json!(["a", "b"]));
    assert_eq!(definition.annotations, None);
}

/// A rectangle
/// on a map.
#[derive(Deserialize, JsonSchema)]
struct Area {
    /// The first of the two corners.
    from: Corner,
    /// The name, if it has one.
    #[allow(dead_code)]
    name: Option<String>,
    #[schemars(description = "In metres.")]
    /// A comment that the attribute above replaces in the schema.
    #[allow(dead_code)]
    height: u32,
}

/// A point on a map, in degrees.
#[derive(Deserialize, JsonSchema)]
struct Corner {
    /// Degrees north of the equator.
    north: f64,
}

#[test]
fn doc_comments_of_an_argument_type_reach_the_schema() {
    let tool = Tool::new("survey")
        .description("Surveys an area.")
        .handler(async |Args(area): Args<Area>| area.from.north);
    let definition = tool.definition();
    assert_eq!(definition.description.as_deref(), Some("Surveys an area."));
    let schema = json!(definition.input_schema);
    assert_eq!(schema["description"], "A rectangle\non a map.");
    let properties = &schema["properties"];
    assert_eq!(
        properties["from"]["description"],
        "The first of the two corners."
    );
    assert_eq!(
        properties["name"]["description"],
        "The name, if it has one."
    );
    assert_eq!(properties["height"]["description"], "In metres.");
    assert!(
        schema.to_string().contains("Degrees north of the equator."),
        "{schema}"
    );
}

#[test]
fn tools_with_scopes_are_named_with_the_prefix_of_their_mount() {
    let open = Tool::new("open").handler(async || "");
    let scoped = |name: &str| Tool::new(name).scopes(["safe"]).handler(async || "");
    let part = Server::new("part", "1").add_tool(scoped("inner"));
    let server = Server::new("all", "1")
        .add_tool(open)
        .add_tool(scoped("outer"));
    let service = server.mount("part", part).into_service().unwrap();
    let names = service.tools_with_scopes();
    assert_eq!(names, ["outer".into(), "part_inner".into()]);
}

#[tokio::test]
async fn absent_and_null_arguments_are_an_empty_object() {
    let tool = Tool::new("now").handler(async || "noon");
    let (context, state) = (context(), Extensions::new());
    for arguments in [
        None,
        Some(raw(Value::Null)),
        Some(raw(json!({ "more": 1 }))),
    ] {
        let outcome = tool.call(
            arguments.as_deref().map(Into::into),
            ExtractContext::new(&context, &state),
        );
        let result = outcome.await.unwrap().into_complete().unwrap();
        assert_eq!(result.first_text(), Some("noon"));
    }
}

#[tokio::test]
async fn a_tool_without_parameters_is_listed_closed_and_accepts_members() {
    let tool = Tool::new("ping").handler(async || "pong");
    let expected = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    assert_eq!(json!(tool.definition().input_schema), expected);
    assert_eq!(said(&tool, json!({ "random_string": "" })).await, "pong");
}

// spec: 2026-07-28 N-TOOL-13
// spec: 2025-11-25 TOOL-24, AMB-55
#[tokio::test]
async fn arguments_that_are_no_object_are_a_protocol_error() {
    for arguments in [json!([1, 2]), json!("{}"), json!(1), json!(true)] {
        let error = call(&adder(), arguments).await.unwrap_err();
        assert_eq!(error.code, pintle_model::ErrorCode::INVALID_PARAMS);
    }
}

// spec: 2026-07-28 N-TOOL-14
// spec: 2025-11-25 TOOL-25, TOOL-29, AMB-55
// hardening: H-92
#[tokio::test]
async fn a_bad_argument_is_told_by_its_pointer_to_the_model() {
    let text = complaint(&adder(), json!({ "a": "one", "b": 2 })).await;
    assert_eq!(
        text,
        "invalid arguments: /a: expected an integer, found a string of 3 characters"
    );
    let text = complaint(&adder(), json!({ "a": 1 })).await;
    assert!(text.contains("/b") && text.contains("expected"), "{text}");
}

// hardening: H-92
#[tokio::test]
async fn a_handler_does_not_run_on_a_bad_argument() {
    let run = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&run);
    let tool = Tool::new("add").handler(move |add: Add| {
        seen.store(true, Ordering::SeqCst);
        std::future::ready(add.a + add.b)
    });
    for arguments in [json!({ "a": "one", "b": 2 }), json!({ "a": 1 })] {
        complaint(&tool, arguments).await;
        assert!(!run.load(Ordering::SeqCst));
    }
    said(&tool, json!({ "a": 1, "b": 2 })).await;
    assert!(run.load(Ordering::SeqCst));
}

// spec: 2026-07-28 N-TOOL-18 (inputs)
// spec: 2025-11-25 TOOL-29
#[tokio::test]
async fn what_a_schema_says_beyond_the_type_is_enforced() {
    assert_eq!(
        said(&pager(), json!({ "query": "q", "limit": 50 })).await,
        "q 50"
    );
    let text = complaint(&pager(), json!({ "query": "q", "limit": 51 })).await;
    assert!(text.contains("/limit") && text.contains("50"), "{text}");
}

#[tokio::test]
async fn integers_written_as_floats_and_nulls_for_nothing_are_mended() {
    assert_eq!(said(&adder(), json!({ "a": 1.0, "b": 2e0 })).await, "3");
    assert_eq!(
        said(&pager(), json!({ "query": "q", "limit": 5.0 })).await,
        "q 5"
    );
    assert_eq!(
        said(&pager(), json!({ "query": "q", "limit": null })).await,
        "q 10"
    );
}

#[tokio::test]
async fn a_schema_written_by_hand_is_enforced_whatever_the_handler_takes() {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string", "minLength": 2 } },
        "required": ["name"],
    });
    let Value::Object(schema) = schema else {
        unreachable!()
    };
    let tool = Tool::new("greet")
        .input_schema(schema.clone())
        .handler(async |arguments: JsonObject| arguments["name"].to_string());
    assert_eq!(tool.definition().input_schema, schema);
    assert_eq!(said(&tool, json!({ "name": "Ada" })).await, "\"Ada\"");
    assert!(
        complaint(&tool, json!({ "name": "A" }))
            .await
            .contains("/name")
    );
    assert!(complaint(&tool, json!({})).await.contains("name"));
}

#[tokio::test]
async fn abilities_come_from_the_request_and_the_server() {
    let mut attached = Extensions::new();
    attached.insert(7_u8);
    let mut state = Extensions::new();
    state.insert(String::from("db"));
    let context = context_of(Some(Principal::new("ada", ["read"])), attached);
    let tool = Tool::new("who").handler(
        async |db: State<String>, who: Principal, seven: Extension<u8>, cx: Context, add: Add| {
            let client = cx.terms().client.as_ref().map(|client| client.name.clone());
            format!(
                "{} {} {} {client:?} {}",
                *db,
                who.id(),
                *seven,
                add.a + add.b
            )
        },
    );
    assert_eq!(tool.required_state().len(), 1);
    assert!(tool.required_state()[0].is_met_by(&state));
    let result = call_in(&tool, json!({ "a": 1, "b": 1 }), &context, &state)
        .await
        .unwrap();
    assert_eq!(result.first_text(), Some("db ada 7 Some(\"tester\") 2"));
}

#[tokio::test]
async fn a_missing_principal_is_an_error() {
    let tool = Tool::new("who").handler(async |who: Principal| who.id().to_owned());
    assert_eq!(
        complaint(&tool, json!({})).await,
        "this request has no authorized caller"
    );
    let tool = Tool::new("who").handler(async |who: Option<Principal>| who.is_none());
    assert_eq!(said(&tool, json!({})).await, "true");
}

#[tokio::test]
async fn a_missing_extension_is_logged_by_its_type_and_not_sent() {
    #[derive(Clone)]
    struct Tenant;
    let tool = Tool::new("who").handler(async |_: Extension<Tenant>| ());
    let (log, _guard) = Log::scoped();
    let text = complaint(&tool, json!({})).await;
    assert_eq!(
        text,
        "the server lacks a value that it needs for this request"
    );
    let log = log.text();
    assert!(
        log.starts_with("ERROR\n") && log.contains("Tenant"),
        "{log}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_misses_its_limit_is_stopped_and_told() {
    let tool = Tool::new("slow")
        .timeout(Duration::from_secs(30))
        .handler(async || {
            tokio::time::sleep(Duration::from_secs(3600)).await;
        });
    let text = complaint(&tool, json!({})).await;
    assert_eq!(text, "the tool took longer than 30s and was stopped");
}

#[tokio::test]
async fn functions_that_block_run_on_their_pool_and_panic_in_the_call() {
    assert_eq!(blocking(|| 3).await, 3);
    let panicked = tokio::spawn(blocking(|| panic!("on purpose"))).await;
    assert!(panicked.unwrap_err().is_panic());
}

// The runtime of this test has one thread for functions that block, instead of the 512 of tokio.
#[test]
fn functions_that_block_wait_for_a_thread_of_the_runtime() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.max_blocking_threads(1).build().expect("a runtime");
    let (release, released) = std::sync::mpsc::channel();
    let (began, begins) = tokio::sync::oneshot::channel();
    let ended = Arc::new(AtomicBool::new(false));
    let first_ended = Arc::clone(&ended);
    runtime.block_on(async {
        let first = tokio::spawn(blocking(move || {
            let _ = began.send(());
            released.recv().expect("the test releases the thread");
            first_ended.store(true, Ordering::SeqCst);
        }));
        begins.await.expect("the first function runs");
        let second = tokio::spawn(blocking(move || ended.load(Ordering::SeqCst)));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        release.send(()).expect("the first function waits");
        first.await.expect("no panic");
        assert!(second.await.expect("no panic"), "it ran beside the first");
    });
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

// spec: 2026-07-28 N-TOOL-10, N-TOOL-12
// spec: 2025-11-25 TOOL-21, TOOL-22
#[tokio::test]
async fn data_has_the_schema_of_its_type_and_a_copy_as_text() {
    let tool = Tool::new("sum").handler(async |add: Add| Json(Sum { sum: add.a + add.b }));
    let schema = tool.definition().output_schema.clone().unwrap();
    assert_eq!(schema["properties"]["sum"]["type"], "integer");
    let result = call(&tool, json!({ "a": 1, "b": 2 })).await.unwrap();
    assert_eq!(result.structured_content, Some(json!({ "sum": 3 })));
    assert_eq!(result.first_text(), Some(r#"{"sum":3}"#));
}

// spec: 2026-07-28 N-TOOL-10
#[tokio::test]
async fn a_result_that_breaks_a_written_output_schema_is_the_servers_fault() {
    let Value::Object(schema) = json!({ "type": "object", "required": ["sum"] }) else {
        unreachable!()
    };
    let returning = |result: CallToolResult| {
        let tool = Tool::new("sum").output_schema(schema.clone());
        tool.handler(move || std::future::ready(result.clone()))
    };
    let good = returning(CallToolResult::structured(json!({ "sum": 3 })));
    assert!(call(&good, json!({})).await.is_ok());
    let failed = returning(CallToolResult::error("no"));
    assert!(call(&failed, json!({})).await.is_ok());
    for bad in [
        CallToolResult::structured(json!({})),
        CallToolResult::text("3"),
    ] {
        let error = call(&returning(bad), json!({})).await.unwrap_err();
        assert_eq!(error.code, pintle_model::ErrorCode::INTERNAL_ERROR);
    }
}

// spec: 2025-11-25 AMB-60
#[test]
fn a_name_that_the_protocol_advises_against_is_served_with_a_warning() {
    let start = |name: &str| {
        let tool = Tool::new(name).handler(async || ());
        Log::of(|| {
            drop(
                Server::new("s", "1")
                    .add_tool(tool)
                    .build()
                    .expect("starts"),
            )
        })
    };
    assert_eq!(start("files.read_all-2"), "");
    for name in ["files/read", "two words", "größe", &"x".repeat(129)] {
        let log = start(name);
        assert!(log.starts_with("WARN\n") && log.contains(name), "{log}");
    }
}

#[test]
fn tools_whose_names_differ_in_case_are_two_tools() {
    let tool = |name: &str| Tool::new(name).handler(async || ());
    let server = Server::new("s", "1")
        .add_tool(tool("Read"))
        .add_tool(tool("read"));
    assert!(server.build().is_ok());
}

#[test]
fn a_tool_that_cannot_be_offered_says_why_before_it_is_called() {
    assert_eq!(
        Tool::new("idle").check(),
        Err(ToolDefinitionError::NoHandler)
    );
    let unnamed = Tool::new("").handler(async || ());
    assert!(matches!(unnamed.check(), Err(ToolDefinitionError::Name(_))));
    let scalar = Tool::new("scalar").handler(async |number: i64| number);
    assert!(matches!(scalar.check(), Err(ToolDefinitionError::Input(_))));
    let twice = Tool::new("twice").handler(async |_: Add, _: Args<Page>| ());
    assert_eq!(twice.check(), Err(ToolDefinitionError::Ambiguous));
    let Value::Object(remote) = json!({ "$ref": "https://example.com/schema" }) else {
        unreachable!()
    };
    let remote = Tool::new("remote")
        .output_schema(remote)
        .handler(async || ());
    assert!(matches!(
        remote.check(),
        Err(ToolDefinitionError::Output(_))
    ));
}

// spec: 2026-07-28 N-XHDR-01
#[test]
fn arguments_repeated_in_headers_are_known_by_name_and_path() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Query {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: String,
    }
    let tool = Tool::new("query").handler(async |_: Query| ());
    let headers = tool.param_headers();
    assert_eq!(headers.len(), 1);
    assert_eq!(&*headers[0].name, "Region");
    assert_eq!(&*headers[0].path, ["region".into()]);
}
