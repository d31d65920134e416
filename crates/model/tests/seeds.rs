//! The examples of the documents the project grew from are read and written back unchanged.
//!
//! The documents are third parties' text and are not part of the repository: the test reads
//! them from the folder `PINTLE_SEED_DIR`. Without it the test is skipped, and fails in CI.

mod extract;

use std::path::Path;

use pintle_model::jsonrpc::{Message, ParamsRef, ResponseBody};
use pintle_model::method::{self, Method, Notice};
use pintle_model::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::documents::{self, report};
use extract::Example;

/// How many examples the documents have that can be read. A lower count is a broken extraction.
const EXPECTED: usize = 129;

// spec: 2025-11-25 SEED-06
#[test]
fn every_example_is_written_back_as_it_was_read() {
    let Some(folder) = documents::folder("PINTLE_SEED_DIR") else {
        return;
    };
    let (mut checked, mut faults) = (0, Vec::new());
    for page in pages(&folder) {
        let (examples, unreadable) = extract::examples(&page);
        for title in unreadable {
            report(&format!("not an example: {title}"));
        }
        for example in &examples {
            match round_trip(example) {
                Ok(()) => checked += 1,
                Err(fault) => faults.push(format!(
                    "{} ({}): {fault}",
                    example.definition, example.title
                )),
            }
        }
    }
    report(&format!("{checked} examples checked"));
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(checked >= EXPECTED, "only {checked} examples found");
}

fn pages(folder: &Path) -> Vec<String> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect()
}

fn round_trip(example: &Example) -> Result<(), String> {
    if example.json.get("jsonrpc").is_some() {
        return message(example);
    }
    let text = example.json.to_string();
    let written = object(&example.definition, &text)?;
    compare(&example.json, &written)
}

/// Reads an object by its definition and writes it again.
fn object(definition: &str, text: &str) -> Result<Value, String> {
    /// Chooses the type by the name of the definition.
    macro_rules! by_name {
        ($($name:literal)|+ => $first:ty, $($($names:literal)|+ => $type:ty),+ $(,)?) => {
            match definition {
                $($name)|+ => again::<$first>(text),
                $( $($names)|+ => again::<$type>(text), )+
                other => Err(format!("no type is known for {other}")),
            }
        };
    }
    by_name! {
        "InternalError" | "InvalidParamsError" | "MethodNotFoundError" | "ParseError" | "InvalidRequestError" => Error,
        "AudioContent" | "ImageContent" | "TextContent" | "EmbeddedResource" | "ResourceLink"
            | "ToolUseContent" | "ToolResultContent" => ContentBlock,
        "BlobResourceContents" | "TextResourceContents" => ResourceContents,
        "BooleanSchema" | "NumberSchema" | "StringSchema" | "TitledMultiSelectEnumSchema"
            | "TitledSingleSelectEnumSchema" | "UntitledMultiSelectEnumSchema"
            | "UntitledSingleSelectEnumSchema" => PrimitiveSchema,
        "CallToolRequestParams" => CallToolParams,
        "CallToolResult" => CallToolResult,
        "CancelledNotificationParams" => CancelledParams,
        "ClientCapabilities" => ClientCapabilities,
        "CompleteRequestParams" => CompleteParams,
        "CompleteResult" => CompleteResult,
        "CreateMessageRequestParams" => CreateMessageParams,
        "CreateMessageResult" => CreateMessageResult,
        "ElicitRequestFormParams" | "ElicitRequestURLParams" => ElicitParams,
        "ElicitResult" => ElicitResult,
        "GetPromptRequestParams" => GetPromptParams,
        "GetPromptResult" => GetPromptResult,
        "InitializeRequestParams" => InitializeParams,
        "InitializeResult" => InitializeResult,
        "ListPromptsResult" => ListPromptsResult,
        "ListResourcesResult" => ListResourcesResult,
        "ListResourceTemplatesResult" => ListResourceTemplatesResult,
        "ListRootsResult" => ListRootsResult,
        "ListToolsResult" => ListToolsResult,
        "LoggingMessageNotificationParams" => LogMessageParams,
        "ModelPreferences" => ModelPreferences,
        "PaginatedRequestParams" => ListParams,
        "ProgressNotificationParams" => ProgressParams,
        "ReadResourceResult" => ReadResourceResult,
        "Resource" => Resource,
        "ResourceUpdatedNotificationParams" => ResourceUpdatedParams,
        "Root" => Root,
        "SamplingMessage" => SamplingMessage,
        "ServerCapabilities" => ServerCapabilities,
        "SetLevelRequestParams" => SetLevelParams,
        "SubscribeRequestParams" | "UnsubscribeRequestParams" => SubscribeParams,
        "Tool" => Tool,
        "PingResult" | "SetLevelResult" | "SubscribeResult" | "UnsubscribeResult" => EmptyResult,
    }
}

/// Reads the envelope, and the body by its method or by the definition of the response.
fn message(example: &Example) -> Result<(), String> {
    let text = example.json.to_string();
    let message = Message::parse(text.as_bytes()).map_err(|fault| format!("{fault:?}"))?;
    let (member, written) = match message {
        Message::Request(request) => ("params", parameters(&request.method, request.params)?),
        Message::Notification(notice) => ("params", parameters(&notice.method, notice.params)?),
        Message::Response(response) => match response.body {
            ResponseBody::Result(result) => {
                let definition = example.definition.trim_end_matches("Response");
                ("result", object(definition, result.get())?)
            }
            ResponseBody::Error(error) => (
                "error",
                serde_json::to_value(error).expect("errors are written"),
            ),
            ResponseBody::Contradiction => return Err("the response contradicts itself".to_owned()),
        },
    };
    compare(
        example
            .json
            .get(member)
            .unwrap_or(&Value::Object(JsonObject::new())),
        &written,
    )
}

fn parameters(name: &str, params: Option<ParamsRef<'_>>) -> Result<Value, String> {
    /// Chooses the parameters by the name of the method.
    macro_rules! by_method {
        ($($marker:ident: $kind:ident),+ $(,)?) => {
            match name {
                $( <method::$marker as $kind>::NAME => {
                    again::<<method::$marker as $kind>::Params>(params.map_or("{}", |params| params.get()))
                } )+
                other => Err(format!("no method is called {other}")),
            }
        };
    }
    by_method! {
        Initialize: Method, Ping: Method, ListTools: Method, CallTool: Method,
        ListResources: Method, ListResourceTemplates: Method, ReadResource: Method,
        Subscribe: Method, Unsubscribe: Method, ListPrompts: Method, GetPrompt: Method,
        Complete: Method, SetLevel: Method, CreateMessage: Method, Elicit: Method,
        ListRoots: Method, Initialized: Notice, Cancelled: Notice, Progress: Notice,
        LogMessage: Notice, ToolsChanged: Notice, PromptsChanged: Notice,
        ResourcesChanged: Notice, ResourceUpdated: Notice, RootsChanged: Notice,
        ElicitationComplete: Notice,
    }
}

fn again<T: DeserializeOwned + Serialize>(text: &str) -> Result<Value, String> {
    let read: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    serde_json::to_value(&read).map_err(|error| error.to_string())
}

/// Compares byte by byte, members in the order of their names and numbers by value.
fn compare(read: &Value, written: &Value) -> Result<(), String> {
    let (read, written) = (canonical(read).to_string(), canonical(written).to_string());
    if read == written {
        return Ok(());
    }
    Err(format!("\n   read {read}\nwritten {written}"))
}

fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            sorted
                .into_iter()
                .map(|(name, value)| (name.clone(), canonical(value)))
                .collect()
        }
        Value::Array(values) => values.iter().map(canonical).collect(),
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        other => other.clone(),
    }
}
