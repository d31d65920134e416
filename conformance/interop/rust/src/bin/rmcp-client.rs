//! A client on rmcp visits the showcase: `rmcp-client ERA URL` or `rmcp-client ERA -- COMMAND WORDS…`.
//!
//! ERA is `legacy`, `modern` (pinned) or `auto` (finds out). A line for each step: `verdict TAB step TAB reason`.

use std::process::ExitCode;
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};

const STEP_TIMEOUT: Duration = Duration::from_secs(20);

type Fault = Box<dyn std::error::Error>;
type Session = RunningService<RoleClient, Visitor>;

/// Accepts every form with the same berth.
struct Visitor;

impl ClientHandler for Visitor {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("interop-rmcp", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let berth = json!({"berth": "grain-pier", "hours": 6, "shore_power": true});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(berth))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut failed = 0;
    let Some(session) = report("connect", connect(&words), &mut failed).await else {
        return ExitCode::FAILURE;
    };
    report("list", lists(&session), &mut failed).await;
    report("call", calls(&session), &mut failed).await;
    report("wrong", is_refused(&session), &mut failed).await;
    report("read", reads(&session), &mut failed).await;
    report("prompt", gets_a_prompt(&session), &mut failed).await;
    report("ask", fills_in_a_form(&session), &mut failed).await;
    report("close", close(session), &mut failed).await;
    ExitCode::from(u8::from(failed > 0))
}

async fn report<T>(
    step: &str,
    taken: impl Future<Output = Result<T, Fault>>,
    failed: &mut u32,
) -> Option<T> {
    let ended = match tokio::time::timeout(STEP_TIMEOUT, taken).await {
        Ok(ended) => ended,
        Err(_) => Err("the step takes too long".into()),
    };
    match ended {
        Ok(value) => {
            println!("ok\t{step}\t");
            Some(value)
        }
        Err(fault) => {
            *failed += 1;
            println!(
                "FAIL\t{step}\t{}",
                fault.to_string().replace(['\n', '\t'], " ")
            );
            None
        }
    }
}

fn expect(holds: bool, found: impl std::fmt::Debug) -> Result<(), Fault> {
    match holds {
        true => Ok(()),
        false => Err(format!("unexpected: {found:?}").into()),
    }
}

async fn connect(words: &[String]) -> Result<Session, Fault> {
    let (revision, lifecycle) = match words[0].as_str() {
        "modern" => (ProtocolVersion::V_2026_07_28, discover()),
        "auto" => (ProtocolVersion::V_2026_07_28, find_out()),
        _ => (
            ProtocolVersion::V_2025_11_25,
            ClientLifecycleMode::Initialize,
        ),
    };
    let session = match words[1].as_str() {
        "--" => {
            let mut command = tokio::process::Command::new(&words[2]);
            command.args(&words[3..]);
            Visitor
                .serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle)
                .await?
        }
        url => {
            let transport = StreamableHttpClientTransport::from_uri(url);
            Visitor.serve_with_lifecycle(transport, lifecycle).await?
        }
    };
    let server = session.peer_info().ok_or("the server is not known")?;
    expect(server.protocol_version == revision, &server)?;
    expect(
        server
            .instructions
            .as_deref()
            .is_some_and(|text| text.contains("harbour pilot")),
        &server,
    )?;
    Ok(session)
}

fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

fn find_out() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

async fn lists(session: &Session) -> Result<(), Fault> {
    let tools = session.list_all_tools().await?;
    let tool = tools.iter().find(|tool| tool.name == "under_keel");
    expect(tools.len() > 5, &tools)?;
    expect(tool.is_some_and(|tool| tool.output_schema.is_some()), tool)?;
    let resources = session.list_all_resources().await?;
    expect(
        resources
            .iter()
            .any(|resource| resource.uri == "harbour://guide"),
        &resources,
    )?;
    let prompts = session.list_all_prompts().await?;
    expect(
        prompts.iter().any(|prompt| prompt.name == "passage_plan"),
        &prompts,
    )
}

fn call(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

async fn calls(session: &Session) -> Result<(), Fault> {
    let arguments = json!({"charted_depth": 8, "tide": 2, "draught": 6.8});
    let result = session.call_tool(call("under_keel", arguments)).await?;
    let structured = result.structured_content.as_ref();
    expect(
        structured.is_some_and(|water| water["is_safe"] == json!(true)),
        &result,
    )
}

async fn is_refused(session: &Session) -> Result<(), Fault> {
    let arguments = json!({"charted_depth": "deep", "tide": 2, "draught": 6.8});
    let result = session.call_tool(call("under_keel", arguments)).await?;
    expect(result.is_error == Some(true), &result)?;
    let unknown = session.call_tool(call("no_such_tool", json!({}))).await;
    expect(unknown.is_err(), unknown)
}

async fn reads(session: &Session) -> Result<(), Fault> {
    let read = ReadResourceRequestParams::new("harbour://guide");
    let result = session.read_resource(read).await?;
    match result.contents.first() {
        Some(ResourceContents::TextResourceContents { text, .. }) => {
            expect(text.starts_with("# Pilotage guide"), text)
        }
        other => expect(false, other),
    }
}

async fn gets_a_prompt(session: &Session) -> Result<(), Fault> {
    let arguments = json!({"call_sign": "RECK", "berth": "grain-pier", "hours": "1.5"});
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let get = GetPromptRequestParams::new("passage_plan").with_arguments(arguments);
    let prompt = session.get_prompt(get).await?;
    expect(
        format!("{prompt:?}").contains("RECK to grain-pier, 1.5 hours"),
        &prompt,
    )
}

async fn fills_in_a_form(session: &Session) -> Result<(), Fault> {
    let result = session
        .call_tool(call("allot_berth", json!({"call_sign": "RECK"})))
        .await?;
    let text = result.content.first().and_then(ContentBlock::as_text);
    let text = text.map(|block| block.text.as_str());
    expect(
        text == Some("RECK lies at grain-pier for 6 hours, with power"),
        &result,
    )
}

async fn close(session: Session) -> Result<(), Fault> {
    session.cancel().await?;
    Ok(())
}
