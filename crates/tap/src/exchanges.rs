//! The requests of a recording, with everything that happened until their answers.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde_json::{Map, Value};

use crate::observer::Direction;
use crate::recording::{RecordedMessage, Recording};
use crate::redact::redact;

/// Members of parameters that do not belong to the question: each client chooses them.
const OF_CLIENT: [&str; 4] = ["_meta", "inputResponses", "requestState", "task"];

/// A request of a client, and its answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedExchange {
    /// The method of the request.
    pub method: String,
    /// The parameters without `_meta`, answers to questions, and secrets.
    pub params: Value,
    /// The messages of the server before its answer, in their order.
    pub steps: Vec<RecordedStep>,
    /// The result, or the error object.
    pub answer: Result<Value, Value>,
}

/// A message of the server before its answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RecordedStep {
    /// A notification, such as progress or a log message.
    Notice {
        /// The method of the notification.
        method: String,
        /// The parameters of the notification.
        params: Value,
    },
    /// A question to the client.
    Question {
        /// The method of the question.
        method: String,
        /// The parameters of the question.
        params: Value,
        /// The answer of the client; absent if the client sent none.
        answer: Option<Value>,
    },
}

/// The description of the recorded server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedServer {
    /// The identity: `serverInfo`.
    pub identity: Value,
    /// The capabilities that the server stated.
    pub capabilities: Value,
    /// The instructions for the model.
    pub instructions: Option<String>,
}

impl Recording {
    /// Returns the requests of clients that were answered, in the order of their begin. Retries with answers to
    /// questions (2026-07-28) belong to the first request.
    pub fn exchanges(&self) -> Vec<RecordedExchange> {
        let mut reader = Reader::default();
        for message in &self.messages {
            match &message.message {
                Value::Array(batch) => batch.iter().for_each(|inner| reader.read(message, inner)),
                single => reader.read(message, single),
            }
        }
        reader.finish()
    }

    /// Returns the description of the server, from the answer to `initialize` or `server/discover`.
    pub fn server(&self) -> Option<RecordedServer> {
        let openings = ["initialize", "server/discover"];
        let exchanges = self.exchanges();
        let opening = exchanges.iter().find(|exchange| {
            openings.contains(&exchange.method.as_str()) && exchange.answer.is_ok()
        })?;
        let result = opening.answer.as_ref().ok()?;
        let in_meta = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        Some(RecordedServer {
            identity: match &result["serverInfo"] {
                Value::Null => in_meta.clone(),
                identity => identity.clone(),
            },
            capabilities: result["capabilities"].clone(),
            instructions: result["instructions"].as_str().map(str::to_owned),
        })
    }
}

/// Returns the parameters by which requests are compared: without members of the client, and without secrets.
pub(crate) fn normalized(params: Option<&Value>) -> Value {
    let mut params = match params {
        Some(Value::Object(params)) => params.clone(),
        _ => Map::new(),
    };
    for member in OF_CLIENT {
        params.remove(member);
    }
    let is_empty = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
    if params.get("arguments").is_some_and(is_empty) {
        params.remove("arguments");
    }
    let params = Value::Object(params);
    serde_json::from_str(&redact(&params.to_string())).unwrap_or(params)
}

type ById = HashMap<(Scope, String), usize, RandomState>;

/// The scope of ids: a session, or one HTTP exchange without a session.
type Scope = (u64, Option<u64>);

/// Reads the messages of a recording, in their order.
#[derive(Debug, Default)]
struct Reader {
    exchanges: Vec<Open>,
    /// Requests without an answer.
    open: ById,
    /// Questions without an answer: the exchange, and the step in it.
    questions: HashMap<(Scope, String), (usize, usize), RandomState>,
}

#[derive(Debug)]
struct Open {
    method: String,
    params: Value,
    token: Option<Value>,
    scope: Scope,
    stream: Option<u64>,
    steps: Vec<RecordedStep>,
    /// The keys of the questions that a retry answers, with their steps.
    keys: Vec<(String, usize)>,
    answer: Option<Result<Value, Value>>,
    is_parked: bool,
}

impl Reader {
    fn read(&mut self, outer: &RecordedMessage, message: &Value) {
        let scope = match outer.session {
            0 => (0, outer.stream),
            session => (session, None),
        };
        let id = message
            .get("id")
            .filter(|id| !id.is_null())
            .map(Value::to_string);
        let method = message.get("method").and_then(Value::as_str);
        match (outer.direction, method, id) {
            (Direction::ToServer, Some(method), Some(id)) => {
                self.begin(scope, outer.stream, method, id, message)
            }
            (Direction::ToServer, None, Some(id)) => self.answer_question(scope, id, message),
            (Direction::ToClient, Some(method), id) => {
                self.step(scope, outer.stream, method, id, message)
            }
            (Direction::ToClient, None, Some(id)) => self.end(scope, id, message),
            _ => {}
        }
    }

    fn begin(
        &mut self,
        scope: Scope,
        stream: Option<u64>,
        method: &str,
        id: String,
        message: &Value,
    ) {
        let raw = message.get("params");
        let params = normalized(raw);
        let token = raw
            .and_then(|raw| raw.get("_meta")?.get("progressToken"))
            .cloned();
        let is_retry = raw.is_some_and(|raw| {
            raw.get("inputResponses").is_some() || raw.get("requestState").is_some()
        });
        if is_retry && let Some(index) = self.parked(method, &params) {
            let open = &mut self.exchanges[index];
            open.resume(raw.and_then(|raw| raw.get("inputResponses")));
            (open.scope, open.stream, open.token) = (scope, stream, token);
            self.open.insert((scope, id), index);
            return;
        }
        self.open.insert((scope, id), self.exchanges.len());
        self.exchanges.push(Open {
            method: method.to_owned(),
            params,
            token,
            scope,
            stream,
            steps: Vec::new(),
            keys: Vec::new(),
            answer: None,
            is_parked: false,
        });
    }

    fn parked(&self, method: &str, params: &Value) -> Option<usize> {
        self.exchanges
            .iter()
            .rposition(|open| open.is_parked && open.method == method && open.params == *params)
    }

    fn answer_question(&mut self, scope: Scope, id: String, message: &Value) {
        let found = self.questions.remove(&(scope, id.clone())).or_else(|| {
            // Without a session, the answer comes in an exchange of its own.
            let key = self
                .questions
                .keys()
                .find(|(_, known)| *known == id)
                .cloned();
            self.questions.remove(&key?)
        });
        if let Some((exchange, step)) = found
            && let Some(RecordedStep::Question { answer, .. }) =
                self.exchanges[exchange].steps.get_mut(step)
        {
            *answer = message.get("result").cloned();
        }
    }

    /// Adds a message of the server to the request that it belongs to.
    fn step(
        &mut self,
        scope: Scope,
        stream: Option<u64>,
        method: &str,
        id: Option<String>,
        message: &Value,
    ) {
        let params = message.get("params").cloned().unwrap_or_default();
        let Some(index) = self.owner(scope, stream, &params) else {
            return;
        };
        let open = &mut self.exchanges[index];
        let method = method.to_owned();
        match id {
            None => open.steps.push(RecordedStep::Notice { method, params }),
            Some(id) => {
                self.questions
                    .insert((scope, id), (index, open.steps.len()));
                open.steps.push(RecordedStep::Question {
                    method,
                    params,
                    answer: None,
                });
            }
        }
    }

    /// Returns the open request of a progress token, or else of the HTTP exchange, or else the oldest.
    fn owner(&self, scope: Scope, stream: Option<u64>, params: &Value) -> Option<usize> {
        let mut open: Vec<usize> = self.open.values().copied().collect();
        open.sort_unstable();
        open.retain(|&index| {
            let exchange = &self.exchanges[index];
            exchange.scope == scope && exchange.method != "subscriptions/listen"
        });
        let find = |is_it: &dyn Fn(&Open) -> bool| {
            open.iter()
                .copied()
                .find(|&index| is_it(&self.exchanges[index]))
        };
        match params.get("progressToken") {
            Some(token) => find(&|open| open.token.as_ref() == Some(token)),
            None => find(&|open| open.stream == stream).or_else(|| open.first().copied()),
        }
    }

    fn end(&mut self, scope: Scope, id: String, message: &Value) {
        let Some(index) = self.open.remove(&(scope, id)) else {
            return;
        };
        let open = &mut self.exchanges[index];
        match (message.get("result"), message.get("error")) {
            (Some(result), _) if result["resultType"] == "input_required" => open.park(result),
            (Some(result), _) => open.answer = Some(Ok(result.clone())),
            (None, Some(error)) => open.answer = Some(Err(error.clone())),
            (None, None) => {}
        }
    }

    fn finish(self) -> Vec<RecordedExchange> {
        let answered = |open: Open| {
            Some(RecordedExchange {
                method: open.method,
                params: open.params,
                steps: open.steps,
                answer: open.answer?,
            })
        };
        self.exchanges.into_iter().filter_map(answered).collect()
    }
}

impl Open {
    /// The answer is a list of questions. A retry follows.
    fn park(&mut self, result: &Value) {
        self.is_parked = true;
        for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
            self.keys.push((key.clone(), self.steps.len()));
            self.steps.push(RecordedStep::Question {
                method: question["method"].as_str().unwrap_or_default().to_owned(),
                params: question["params"].clone(),
                answer: None,
            });
        }
    }

    fn resume(&mut self, responses: Option<&Value>) {
        self.is_parked = false;
        for (key, step) in self.keys.drain(..) {
            if let Some(RecordedStep::Question { answer, .. }) = self.steps.get_mut(step) {
                *answer = responses.and_then(|responses| responses.get(&key)).cloned();
            }
        }
    }
}

#[cfg(test)]
mod tests;
