//! Opens a conversation with the client of Pintle, and requests every list.

use std::time::{Duration, Instant};

use pintle::client::{Client, ClientOptions, ConnectError, EraMode, Item, List};
use pintle::model::{Feature, Implementation, Revision, Tool};
use pintle::proto::lifecycle::Binding;
use pintle::proto::{TransportError, TransportErrorKind};
use pintle::runtime::Connect;
use pintle_lint::{Host, Severity, lint};
use pintle_surface::Surface;
use tokio::time::timeout;

use crate::facts::{Conversation, Failure, ListFacts, ToolFinding};
use crate::options::DoctorOptions;
use crate::redact::Secrets;

/// Items of a list that no client can use, in one diagnosis.
const INVALID: usize = 10;
/// Longest text of an error, in characters.
const REASON: usize = 400;

/// The server of a conversation, and the limits.
#[derive(Clone, Copy)]
pub(super) struct Hosted<'h> {
    pub(super) address: &'h str,
    pub(super) start_timeout: Duration,
    pub(super) secrets: &'h Secrets,
    pub(super) options: &'h DoctorOptions,
}

/// Opens a conversation, requests the lists, and closes it.
pub(super) async fn converse<C: Connect>(
    connect: C,
    hosted: Hosted<'_>,
) -> Result<Conversation, Failure> {
    let began = Instant::now();
    let options = client_options(connect.binding(), hosted);
    let builder = Client::builder()
        .identity(Implementation::new(
            "pintle-doctor",
            env!("CARGO_PKG_VERSION"),
        ))
        .mode(EraMode::Auto)
        .options(options);
    let opened = timeout(hosted.start_timeout, builder.connect(connect)).await;
    let client = match opened {
        Ok(opened) => opened.map_err(|error| hosted.failure(&error))?,
        Err(_) => return Err(Failure::TimedOut),
    };
    let mut found = described(&client);
    found.opened_in = began.elapsed();
    list_all(&client, hosted, &mut found).await;
    client.close().await;
    Ok(found)
}

/// On a pipe the probe gets a third of the time. So a server that ignores the probe still gets a handshake.
fn client_options(binding: Binding, hosted: Hosted<'_>) -> ClientOptions {
    let mut options = ClientOptions::default();
    options.connect_timeout = hosted.start_timeout;
    options.probe_timeout = match binding {
        Binding::Pipe => (hosted.start_timeout / 3).min(options.probe_timeout),
        _ => hosted.start_timeout,
    };
    options.close_timeout = hosted.options.exit_timeout / 4;
    options.max_list_items = hosted.options.max_list_items;
    options.max_list_pages = 100;
    options.watch_cache = false;
    options
}

fn described(client: &Client) -> Conversation {
    let Some(server) = client.server() else {
        return Conversation::default();
    };
    // The server may support newer revisions than the one of this conversation.
    let newest = server.supported.iter().filter_map(|date| date.parse().ok());
    let newest: Vec<Revision> = newest.chain([server.revision]).collect();
    let is_current = |revision: &Revision| revision.has(Feature::StructuredContent);
    Conversation {
        revision: server.revision.to_string(),
        is_legacy: server.revision.has(Feature::Handshake),
        is_outdated: !newest.iter().any(is_current),
        server: server
            .identity
            .map(|identity| format!("{} {}", identity.name, identity.version)),
        ..Conversation::default()
    }
}

async fn list_all(client: &Client, hosted: Hosted<'_>, found: &mut Conversation) {
    let Some(server) = client.server() else {
        return;
    };
    let offers = &server.capabilities;
    let lists = &mut found.lists;
    if offers.tools.is_some() {
        let tools = hosted.list("tools/list", client.list_tools(), lists).await;
        found.tools = faults(hosted.address, &tools);
    }
    if offers.prompts.is_some() {
        hosted
            .list("prompts/list", client.list_prompts(), lists)
            .await;
    }
    if offers.resources.is_some() {
        hosted
            .list("resources/list", client.list_resources(), lists)
            .await;
    }
}

impl Hosted<'_> {
    async fn list<T: Item>(
        &self,
        method: &'static str,
        list: List<T>,
        all: &mut Vec<ListFacts>,
    ) -> Vec<T> {
        let limit = self.options.list_timeout;
        let (result, invalid, items) = match timeout(limit, list.timeout(limit)).await {
            Ok(Ok(listed)) => {
                let invalid = listed.spoiled.iter().take(INVALID).map(|item| {
                    let name = item.name.as_deref().unwrap_or("an item without a name");
                    self.shown(&format!("{name}: {}", item.reason))
                });
                (Ok(listed.items.len()), invalid.collect(), listed.items)
            }
            Ok(Err(error)) => (Err(self.shown(&chain(&error))), Vec::new(), Vec::new()),
            Err(_) => (
                Err(format!("no answer within {limit:?}")),
                Vec::new(),
                Vec::new(),
            ),
        };
        all.push(ListFacts {
            method,
            result,
            invalid,
        });
        items
    }

    fn failure(&self, error: &ConnectError) -> Failure {
        match error {
            ConnectError::TimedOut { .. } => Failure::TimedOut,
            ConnectError::NoCommonRevision { .. } | ConnectError::HandshakeRequired { .. } => {
                Failure::NoCommonRevision(self.shown(&error.to_string()))
            }
            ConnectError::Unreachable(source) | ConnectError::Unauthorized(source) => {
                self.transport_failure(source, error)
            }
            error => Failure::Other(self.shown(&chain(error))),
        }
    }

    fn transport_failure(&self, source: &TransportError, error: &ConnectError) -> Failure {
        match source.kind() {
            TransportErrorKind::Unauthorized(status) => Failure::Unauthorized(status),
            TransportErrorKind::Disconnected | TransportErrorKind::ProcessExited => Failure::Ended,
            TransportErrorKind::TimedOut => Failure::TimedOut,
            _ => Failure::Other(self.shown(&chain(error))),
        }
    }

    /// Returns a text of the server without secrets, cut off.
    fn shown(&self, text: &str) -> String {
        self.secrets.hide(text).chars().take(REASON).collect()
    }
}

/// Returns an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text.push_str(": ");
            text.push_str(&reason);
        }
        cause = error.source();
    }
    text
}

/// Returns the faults of tools by the rules of the host.
fn faults(address: &str, tools: &[Tool]) -> Vec<ToolFinding> {
    let surface = Surface::new("", "").with_tools(tools);
    let findings = lint(&surface, host_of(address).as_slice()).into_iter();
    let faults = findings.map(|finding| {
        let pointer = match finding.pointer.is_empty() {
            true => String::new(),
            false => format!(" at {}", finding.pointer),
        };
        ToolFinding {
            is_error: finding.rule.severity == Severity::Error,
            tool: finding.tool.clone().unwrap_or_default(),
            text: format!("{}{pointer}; found {}", finding.rule.limit, finding.found),
            fix: finding.rule.fix,
        }
    });
    faults.collect()
}

/// Returns the rules for the tools of a host.
fn host_of(address: &str) -> Option<Host> {
    let id = address.trim_start_matches('@').split('/').next();
    match id.unwrap_or_default() {
        "claude" | "claude-code" => Some(Host::Claude),
        "vscode" | "visual-studio" | "copilot" => Some(Host::Copilot),
        "cursor" => Some(Host::Cursor),
        "gemini" | "antigravity" => Some(Host::Gemini),
        "codex" => Some(Host::OpenAi),
        _ => None,
    }
}
