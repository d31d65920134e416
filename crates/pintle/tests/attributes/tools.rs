//! The items that `#[tool]` generates.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use pintle::model::{CallToolResult, Outcome};
use pintle::prelude::*;
use pintle::runtime::Extensions;
use pintle::server::{Ability, ExtractContext, IntoTool, MissingAbilityError, ToolSet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::attributes::context::context;

mod arithmetic {
    use pintle::tool;

    /// Adds two numbers,
    /// exactly.
    ///
    /// # Overflow
    ///
    /// Wraps.
    #[tool(read_only, title = "Addition")]
    pub(crate) async fn add(
        /// The first addend.
        a: i64,
        /** The second addend. */
        b: i64,
    ) -> i64 {
        a.wrapping_add(b)
    }

    #[tool]
    pub(crate) fn sub(a: i64, b: i64) -> i64 {
        a - b
    }
}

use arithmetic::{add, sub};

/// The result of a tool, failed or not.
async fn call(tool: &Tool, arguments: Value) -> CallToolResult {
    call_with(tool, arguments, &Extensions::new()).await
}

/// As [`call`], on a server with this state.
async fn call_with(tool: &Tool, arguments: Value, state: &Extensions) -> CallToolResult {
    tool.check().expect("the tool can be offered");
    let arguments = serde_json::value::to_raw_value(&arguments).expect("JSON");
    let context = context();
    match tool
        .call(
            Some((&*arguments).into()),
            ExtractContext::new(&context, state),
        )
        .await
    {
        Ok(Outcome::Complete(result)) => result,
        other => panic!("a result was expected, not {other:?}"),
    }
}

fn definition<T: IntoTool>() -> Value {
    serde_json::to_value(T::into_tool().definition()).expect("JSON")
}

async fn text<T: IntoTool>(arguments: Value) -> String {
    let result = call(&T::into_tool(), arguments).await;
    result.first_text().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_function_stays_as_it_was_and_is_a_tool_too() {
    assert_eq!(add(1, 2).await, 3);
    assert_eq!(sub(3, 2), 1);
    assert_eq!(text::<add>(json!({ "a": 1, "b": 2 })).await, "3");
    assert_eq!(text::<sub>(json!({ "a": 1, "b": 2 })).await, "-1");
}

#[test]
fn comments_and_parameters_are_the_definition() {
    assert_eq!(
        definition::<add>(),
        json!({
            "name": "add",
            "title": "Addition",
            "description": "Adds two numbers, exactly.\n\n# Overflow\n\nWraps.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "a": { "type": "integer", "description": "The first addend." },
                    "b": { "type": "integer", "description": "The second addend." },
                },
                "required": ["a", "b"],
            },
            "annotations": { "readOnlyHint": true },
        })
    );
}

#[test]
fn absent_options_are_not_sent() {
    #[tool]
    async fn silent() {}

    let expected = json!({ "name": "silent", "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false } });
    assert_eq!(definition::<silent>(), expected);
}

#[test]
fn tools_come_in_tuples() {
    let tools = <(add, sub)>::into_tools();
    assert_eq!(
        tools.iter().map(Tool::name).collect::<Vec<_>>(),
        ["add", "sub"]
    );
}

#[test]
fn every_option_is_part_of_the_definition() {
    const TITLE: &str = "Deploy";

    /// A doc that the option replaces.
    #[tool(
        name = "ops.deploy",
        title = TITLE,
        description = concat!("Ships", " it."),
        icon = "https://example.com/ship.png",
        read_only = false,
        destructive,
        idempotent = true,
        open_world = false,
        timeout = "10m",
        scopes("ops:write", "ops:read"),
        task = optional
    )]
    async fn deploy() {}

    let tool = deploy::into_tool();
    assert_eq!(
        serde_json::to_value(tool.definition()).expect("JSON"),
        json!({
            "name": "ops.deploy",
            "title": "Deploy",
            "description": "Ships it.",
            "icons": [{ "src": "https://example.com/ship.png" }],
            "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
            "annotations": {
                "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false,
            },
            "execution": { "taskSupport": "optional" },
        })
    );
    assert_eq!(
        tool.required_scopes(),
        ["ops:write", "ops:read"].map(Box::<str>::from)
    );
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    Terse,
    Long,
}

/// Searches the index.
#[tool]
async fn search(
    /// The words to find.
    #[arg(min_len = 1, max_len = 80, pattern = "^[a-z ]+$")]
    query: String,
    #[arg(default = 10, min = 1, max = 50)] limit: u32,
    #[arg(default = "all", one_of("all", "titles"))] scope: String,
    #[arg(default, max_len = 3)] tags: Vec<String>,
    #[arg(rename = "page-token")] page_token: Option<String>,
    #[arg(header = "Region")] region: String,
    r#type: Option<Style>,
) -> String {
    let kind = r#type.map(|style| match style {
        Style::Terse => "terse",
        Style::Long => "long",
    });
    format!("{query} {limit} {scope} {tags:?} {page_token:?} {region} {kind:?}")
}

#[test]
fn constraints_are_part_of_the_schema() {
    let schema = &definition::<search>()["inputSchema"];
    assert_eq!(schema["required"], json!(["query", "region"]));
    let properties = &schema["properties"];
    assert_eq!(
        properties["query"],
        json!({ "type": "string", "description": "The words to find.", "minLength": 1, "maxLength": 80, "pattern": "^[a-z ]+$" })
    );
    assert_eq!(
        properties["limit"],
        json!({ "type": "integer", "minimum": 1, "maximum": 50, "default": 10 })
    );
    assert_eq!(
        properties["scope"],
        json!({ "type": "string", "default": "all", "enum": ["all", "titles"] })
    );
    assert_eq!(properties["tags"]["maxItems"], 3);
    assert_eq!(properties["page-token"]["type"], "string");
    assert_eq!(
        properties["region"],
        json!({ "type": "string", "x-mcp-header": "Region" })
    );
    assert_eq!(properties["type"]["enum"], json!(["terse", "long"]));
}

#[tokio::test]
async fn arguments_that_may_be_left_out_have_their_default() {
    let said = text::<search>(json!({ "query": "tea", "region": "eu" })).await;
    assert_eq!(said, "tea 10 all [] None eu None");
    let all = json!({
        "query": "tea", "limit": 3, "scope": "titles", "tags": ["a"], "page-token": "p", "region": "eu", "type": "long",
    });
    assert_eq!(
        text::<search>(all).await,
        r#"tea 3 titles ["a"] Some("p") eu Some("long")"#
    );
}

type MaybeCount = Option<u8>;

fn no_quote() -> Quote {
    let symbol = "none".to_owned();
    Quote { symbol }
}

#[tool]
fn prices(count: MaybeCount, #[arg(default = no_quote())] quote: Quote) -> String {
    format!("{count:?} {}", quote.symbol)
}

#[tokio::test]
async fn the_type_of_an_argument_decides_whether_it_is_required() {
    let schema = &definition::<prices>()["inputSchema"];
    assert_eq!(schema.get("required"), None);
    // `Quote` is not written as JSON.
    assert_eq!(schema["properties"]["quote"].get("default"), None);
    assert_eq!(text::<prices>(json!({})).await, "None none");
    assert_eq!(text::<prices>(json!({ "count": null })).await, "None none");
}

// spec: 2026-07-28 N-TOOL-14, N-TOOL-18 (inputs)
// spec: 2025-11-25 TOOL-25, TOOL-29
#[tokio::test]
async fn constraints_are_enforced_and_every_breach_is_reported() {
    let bad = json!({ "query": "Tea!", "limit": 51, "scope": "s", "tags": ["a", "b", "c", "d"], "region": "eu", "type": "loud" });
    let result = call(&search::into_tool(), bad).await;
    assert!(result.has_failed());
    let text = result.first_text().expect("a text");
    for pointer in ["/query", "/limit", "/scope", "/tags", "/type"] {
        assert!(text.contains(pointer), "{text}");
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Quote {
    symbol: String,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Price {
    symbol: String,
    cents: u64,
}

#[derive(Debug)]
struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the exchange is closed")
    }
}

impl Error for Closed {}

#[tool]
async fn quote(Args(quote): Args<Quote>) -> Result<Json<Price>, Closed> {
    match quote.symbol.as_str() {
        "" => Err(Closed),
        symbol => Ok(Json(Price {
            symbol: symbol.to_owned(),
            cents: 100,
        })),
    }
}

#[tokio::test]
async fn the_arguments_may_be_taken_whole_and_data_be_returned() {
    assert_eq!(
        definition::<quote>()["inputSchema"]["required"],
        json!(["symbol"])
    );
    assert_eq!(
        definition::<quote>()["outputSchema"]["required"],
        json!(["symbol", "cents"])
    );
    let result = call(&quote::into_tool(), json!({ "symbol": "X" })).await;
    assert_eq!(
        result.structured_content,
        Some(json!({ "symbol": "X", "cents": 100 }))
    );
    let failed = call(&quote::into_tool(), json!({ "symbol": "" })).await;
    assert!(failed.has_failed());
    assert_eq!(failed.first_text(), Some("the exchange is closed"));
}

struct ClientName(String);

impl Ability for ClientName {
    fn from_scope(scope: &ExtractContext<'_>) -> Result<Self, MissingAbilityError> {
        let client = scope.context().terms().client.as_ref();
        client
            .map(|client| Self(client.name.clone()))
            .ok_or(MissingAbilityError::of::<Self>())
    }
}

#[tool]
async fn whoami(
    db: State<String>,
    ctx: Context,
    caller: Option<Principal>,
    #[ability] ClientName(client): ClientName,
    greeting: String,
) -> String {
    format!(
        "{greeting} {client} {} {} {}",
        *db,
        caller.is_none(),
        ctx.is_cancelled()
    )
}

#[tokio::test]
async fn abilities_are_provided_and_have_no_place_in_the_schema() {
    let tool = whoami::into_tool();
    assert_eq!(
        definition::<whoami>()["inputSchema"]["properties"],
        json!({ "greeting": { "type": "string" } })
    );
    assert!(!tool.required_state()[0].is_met_by(&Extensions::new()));
    let mut state = Extensions::new();
    state.insert("db".to_owned());
    let said = call_with(&tool, json!({ "greeting": "hi" }), &state).await;
    assert_eq!(said.first_text(), Some("hi tester db true false"));
}

#[tool]
async fn visit(page: String, visits: Locked<HashMap<String, u64>>) -> u64 {
    let mut visits = visits.lock();
    let count = visits.entry(page).or_default();
    *count += 1;
    *count
}

#[tokio::test]
async fn a_locked_value_is_shared_by_calls_and_not_in_the_schema() {
    assert_eq!(
        definition::<visit>()["inputSchema"]["properties"],
        json!({ "page": { "type": "string" } })
    );
    let visited = HashMap::from([("a".to_owned(), 4_u64)]);
    let server = Server::new("pages", "1").locked(visited).tool::<visit>();
    let mut state = Extensions::new();
    state.insert(server.handle());
    let tool = visit::into_tool();
    for (page, count) in [("a", "5"), ("b", "1"), ("a", "6")] {
        let result = call_with(&tool, json!({ "page": page }), &state).await;
        assert_eq!(result.first_text(), Some(count));
    }
    server.build().expect("no state is missing");
}

#[tool(blocking, timeout = "5s")]
fn checksum(text: String) -> usize {
    std::thread::sleep(Duration::from_millis(1));
    text.len()
}

#[tokio::test]
async fn a_function_that_blocks_runs_on_its_pool() {
    assert_eq!(text::<checksum>(json!({ "text": "four" })).await, "4");
}

mod elsewhere {
    pub(crate) use pintle as my_pintle;
}

#[tool(crate = elsewhere::my_pintle)]
async fn renamed(a: Option<u8>) -> String {
    format!("{a:?}")
}

#[tokio::test]
async fn the_crate_may_have_another_name() {
    assert_eq!(text::<renamed>(json!({ "a": 1 })).await, "Some(1)");
}

macro_rules! make {
    ($name:ident, $state:ty) => {
        #[tool]
        async fn $name(state: State<$state>, by: u8) -> u8 {
            *state + by
        }
    };
}

make!(made, u8);

#[tokio::test]
async fn macros_may_make_tools() {
    let mut state = Extensions::new();
    state.insert(1_u8);
    let result = call_with(&made::into_tool(), json!({ "by": 2 }), &state).await;
    assert_eq!(result.first_text(), Some("3"));
}

#[tokio::test]
async fn tools_may_stand_inside_functions_and_be_compiled_only_sometimes() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Local(u8);

    #[tool]
    async fn inner(local: Local, mut more: u8) -> u8 {
        more += local.0;
        more
    }

    #[tool]
    #[cfg(any())]
    async fn never(nothing: Nothing) {}

    assert_eq!(text::<inner>(json!({ "local": 1, "more": 2 })).await, "3");
}

#[test]
fn a_default_outside_its_bounds_is_refused_at_the_start() {
    #[tool]
    async fn page(#[arg(default = 0, min = 1)] number: u32) -> u32 {
        number
    }

    let error = Server::new("s", "1").tool::<page>().build();
    assert_eq!(
        format!("{:?}", error.expect_err("does not start")),
        "the tool `page` cannot be offered: the schema of the arguments cannot be used: \
         invalid default at \"/properties/number\": expected a number at least 1, found 0"
    );
}

#[test]
fn a_described_parameter_keeps_the_docs_of_its_variants() {
    /// How to write.
    #[derive(Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Style {
        /// Uses few words.
        Terse,
        Long,
    }

    #[tool]
    async fn summarize(
        /// How the summary is written.
        style: Style,
    ) -> bool {
        matches!(style, Style::Terse)
    }

    let schema = &definition::<summarize>()["inputSchema"]["properties"]["style"];
    assert_eq!(
        schema["description"],
        "How the summary is written.\n\n- terse: Uses few words."
    );
}
