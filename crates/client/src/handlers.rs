//! Handlers of a client for questions and notifications of its server, for all eras.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use pintle_model::method::{CreateMessage, Elicit, Method};
use pintle_model::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitSchema, Error,
    InputRequest, InputResponse, JsonObject, LogMessageParams, Root, TASKS_EXTENSION,
    TasksCapability, Tool,
};
use pintle_proto::{Change, IncomingNotice};
use pintle_runtime::sync::Mutex;
use pintle_runtime::{Answer, BoxFuture};

use crate::error::SamplingError;
use crate::question_types::{FormQuestion, UrlQuestion};

type Handler<Q, A> = Arc<dyn Fn(Q) -> BoxFuture<'static, A> + Send + Sync>;
type Listener<T> = Arc<dyn Fn(T) + Send + Sync>;

/// The registered handlers. Cloning is cheap.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) form: Option<Handler<FormQuestion, Answer<JsonObject>>>,
    /// Whether fields that an answer leaves out get no defaults.
    pub(crate) leaves_defaults: bool,
    pub(crate) visit: Option<Handler<UrlQuestion, Answer<()>>>,
    /// Answers all questions in place of the other handlers.
    pub(crate) any: Option<AnyQuestion>,
    pub(crate) sample:
        Option<Handler<CreateMessageParams, Result<CreateMessageResult, SamplingError>>>,
    pub(crate) takes_tools: bool,
    pub(crate) roots: Option<Roots>,
    pub(crate) log: Option<Listener<LogMessageParams>>,
    pub(crate) change: Option<Listener<Change>>,
    pub(crate) changed_tool: Option<Listener<Tool>>,
    pub(crate) visited: Option<Listener<String>>,
    pub(crate) notice: Option<Listener<IncomingNotice>>,
    /// Extensions that other code implements, with their settings.
    pub(crate) declared: Vec<(String, JsonObject)>,
    /// Whether the client does not declare the tasks extension.
    pub(crate) ignores_tasks: bool,
    /// Whether the server may turn its questions into tasks.
    pub(crate) answers_in_tasks: bool,
}

/// The handler of all questions, and the capabilities that it declares.
#[derive(Clone)]
pub(crate) struct AnyQuestion {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) answer: Handler<InputRequest, Result<InputResponse, Error>>,
}

/// The roots, which may change while the client lives.
#[derive(Clone, Default)]
pub(crate) struct Roots(Arc<Mutex<Vec<Root>>>);

impl Roots {
    pub(crate) fn get(&self) -> Vec<Root> {
        self.0.lock().clone()
    }

    pub(crate) fn set(&self, roots: Vec<Root>) {
        *self.0.lock() = roots;
    }
}

pub(crate) fn handler<Q, A, F, Fut>(handle: F) -> Handler<Q, A>
where
    F: Fn(Q) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = A> + Send + 'static,
{
    Arc::new(move |question| Box::pin(handle(question)))
}

impl Handlers {
    /// Returns the declared capabilities: those with a handler, and no others.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        if let Some(any) = &self.any {
            return any.capabilities.clone();
        }
        let mut can = ClientCapabilities::default();
        if self.form.is_some() {
            can = can.with_form_elicitation();
        }
        if self.visit.is_some() {
            can = can.with_url_elicitation();
        }
        if self.sample.is_some() {
            can = can.with_sampling();
            if self.takes_tools {
                can = can.with_sampling_tools();
            }
        }
        if self.roots.is_some() {
            can = can.with_roots();
            if let Some(roots) = &mut can.roots {
                roots.list_changed = Some(true);
            }
        }
        can.tasks = self.tasks_capability();
        if !self.ignores_tasks {
            can = can.with_extension(TASKS_EXTENSION, JsonObject::new());
        }
        for (id, settings) in &self.declared {
            can = can.with_extension(id, settings.clone());
        }
        can
    }

    /// Returns the questions that the server may turn into tasks (2025-11-25).
    fn tasks_capability(&self) -> Option<TasksCapability> {
        let elicits = self.form.is_some() || self.visit.is_some();
        let samples = self.sample.is_some();
        if !self.answers_in_tasks || !(elicits || samples) {
            return None;
        }
        let mut tasks = TasksCapability::default();
        (tasks.list, tasks.cancel) = (Some(JsonObject::new()), Some(JsonObject::new()));
        if elicits {
            tasks = tasks.with_request(Elicit::NAME);
        }
        if samples {
            tasks = tasks.with_request(CreateMessage::NAME);
        }
        Some(tasks)
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: BTreeMap<&str, bool> = BTreeMap::from([
            ("form", self.form.is_some()),
            ("visit", self.visit.is_some()),
            ("sample", self.sample.is_some()),
            ("roots", self.roots.is_some()),
            ("log", self.log.is_some()),
            ("change", self.change.is_some()),
        ]);
        f.debug_tuple("Handlers").field(&named).finish()
    }
}

/// Returns the default values of a form's fields.
pub(crate) fn defaults(schema: &ElicitSchema) -> JsonObject {
    let written = serde_json::to_value(schema).unwrap_or_default();
    let fields = written
        .get("properties")
        .and_then(|fields| fields.as_object());
    fields
        .into_iter()
        .flatten()
        .filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())))
        .collect()
}

/// Checks that a root is a `file://` URI that names one place. Percent-encoded bytes count as the
/// bytes themselves, because servers decode them.
pub(crate) fn check_root(root: &Root) -> Result<(), String> {
    let Some(path) = root.uri.strip_prefix("file://") else {
        return Err(format!("the root {:?} is not a file:// URI", root.uri));
    };
    let path = decoded(path);
    let mut parts = path.split(|byte| [b'/', b'\\'].contains(byte));
    if parts.any(|part| part == b"..") || path.contains(&0) {
        return Err(format!("the root {:?} climbs out of itself", root.uri));
    }
    Ok(())
}

/// Returns the bytes of a path, with percent-encoded ones decoded once.
fn decoded(path: &str) -> Vec<u8> {
    let mut rest = path.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((first, tail)) = rest.split_first() {
        let encoded = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match encoded {
            Some((high, low)) => bytes.push(high << 4 | low),
            None => bytes.push(*first),
        }
        rest = if encoded.is_some() { &tail[2..] } else { tail };
    }
    bytes
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2025-11-25 ROOT-04, ROOT-07
    // spec: 2026-07-28 N-ROOT-03, N-ROOT-04 (traversal)
    #[test]
    fn a_root_is_a_file_that_does_not_climb() {
        for good in [
            "file:///src",
            "file:///",
            "file:///a..b/c",
            "file:///C:/x",
            "file:///a%20b/%C3%A9",
            "file:///a%2fb/..%2e",
            "file:///100%/50%2",
            "file:///a/%252e%252e/b",
        ] {
            assert_eq!(check_root(&Root::new(good)), Ok(()), "{good}");
        }
        for bad in [
            "https://example.org",
            "/src",
            "",
            "file:///a/../b",
            "file:///a/%2E%2e/b",
            "file:///src/.%2e/etc",
            "file:///src/%2e./etc",
            "file:///a%2f..%2fb",
            "file:///a%5C%2e.",
            "file:///a%00",
            "file:///a\\..\\b",
            "file:///a\0",
        ] {
            assert!(check_root(&Root::new(bad)).is_err(), "{bad:?}");
        }
    }

    // spec: 2025-11-25 ROOT-01, SAMP-03, SAMP-04, ELIC-08, ELIC-10, LIFE-14
    // spec: 2026-07-28 N-ELIC-01, N-SAMP-01 (sampling and tools), N-ROOT-01, N-EXT-01, N-EXT-03
    #[test]
    fn a_client_declares_the_questions_that_have_handlers() {
        let none = Handlers {
            ignores_tasks: true,
            ..Handlers::default()
        };
        assert_eq!(json!(none.capabilities()), json!({}));
        let only_tasks = json!({ "extensions": { TASKS_EXTENSION: {} } });
        assert_eq!(json!(Handlers::default().capabilities()), only_tasks);
        let all = Handlers {
            form: Some(handler(|_| async { Answer::Declined })),
            visit: Some(handler(|_| async { Answer::Declined })),
            sample: Some(handler(|_| async { Err(SamplingError::Refused) })),
            takes_tools: true,
            roots: Some(Roots::default()),
            ..Handlers::default()
        };
        assert_eq!(
            json!(all.capabilities()),
            json!({
                "extensions": { TASKS_EXTENSION: {} },
                "elicitation": { "form": {}, "url": {} },
                "sampling": { "tools": {} },
                "roots": { "listChanged": true },
            })
        );
    }

    // spec: 2026-07-28 X-CC-05
    #[test]
    fn a_client_declares_the_configured_extensions() {
        const MACHINES: &str = "io.modelcontextprotocol/oauth-client-credentials";
        let handlers = Handlers {
            ignores_tasks: true,
            declared: vec![(MACHINES.to_owned(), JsonObject::new())],
            ..Handlers::default()
        };
        let expected = json!({ "extensions": { MACHINES: {} } });
        assert_eq!(json!(handlers.capabilities()), expected);
    }

    // spec: 2025-11-25 TASK-01, TASK-03, TASK-06, TASK-07
    // spec: 2026-07-28 X-TASK-01
    #[test]
    fn a_client_declares_the_questions_that_may_be_tasks() {
        let mut handlers = Handlers {
            answers_in_tasks: true,
            ..Handlers::default()
        };
        assert_eq!(handlers.capabilities().tasks, None, "nobody answers");
        handlers.sample = Some(handler(|_| async { Err(SamplingError::Refused) }));
        assert_eq!(
            json!(handlers.capabilities().tasks),
            json!({ "list": {}, "cancel": {}, "requests": { "sampling": { "createMessage": {} } } })
        );
        handlers.visit = Some(handler(|_| async { Answer::Declined }));
        assert_eq!(
            json!(handlers.capabilities().tasks)["requests"],
            json!({ "sampling": { "createMessage": {} }, "elicitation": { "create": {} } })
        );
        handlers.answers_in_tasks = false;
        assert_eq!(handlers.capabilities().tasks, None);
    }
}
