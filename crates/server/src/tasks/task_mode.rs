//! Whether a call becomes a task.

use std::time::Duration;

use pintle_model::RawJson;
use pintle_model::{
    Error, ErrorCode, Feature, JsonObject, ServerCapabilities, TASKS_EXTENSION, TaskSupport,
    TasksCapability,
};
use pintle_proto::Terms;
use serde_json::Value;

use super::wire::{declares_extension, needs_extension};

/// How a call goes. Closed: these are all.
#[derive(Debug, PartialEq)]
pub(crate) enum TaskMode {
    /// To its answer.
    Plain,
    /// As a task from its beginning, with the time to live that the client wishes for.
    Task(Option<Duration>),
    /// As a task once it takes too long to wait for.
    InTime,
    /// Nowhere: to clients of this revision the tool is not there.
    Unknown,
}

impl TaskMode {
    /// The way of a call, by what the tool says of tasks, what the call asks for, and what both
    /// sides know of tasks.
    ///
    /// # Errors
    ///
    /// - -32601 if the tool does not do what the call asks for (2025-11-25).
    /// - -32602 if what it asks for makes no sense.
    /// - -32021 if the tool takes a client that knows tasks (2026-07-28).
    pub(crate) fn of(
        support: &TaskSupport,
        wish: Option<RawJson<'_>>,
        terms: &Terms,
    ) -> Result<Self, Error> {
        if terms.has(Feature::CoreTasks) {
            return Self::of_core(support, wish);
        }
        let has_extension = terms.has(Feature::TasksExtension);
        match support {
            TaskSupport::Required if !has_extension => Ok(Self::Unknown),
            TaskSupport::Required if !declares_extension(terms) => Err(needs_extension()),
            TaskSupport::Optional | TaskSupport::Required
                if has_extension && declares_extension(terms) =>
            {
                Ok(Self::InTime)
            }
            _ => Ok(Self::Plain),
        }
    }

    fn of_core(support: &TaskSupport, wish: Option<RawJson<'_>>) -> Result<Self, Error> {
        let wish = wish.filter(|wish| !wish.is_null());
        match (support, wish) {
            (TaskSupport::Optional | TaskSupport::Required, Some(wish)) => {
                Ok(Self::Task(time_to_live(wish)?))
            }
            (TaskSupport::Required, None) => Err(refused("the tool runs as a task only")),
            (_, Some(_)) => Err(refused("the tool does not run as a task")),
            (_, None) => Ok(Self::Plain),
        }
    }
}

/// Reads what is wished for: milliseconds; none if nothing is said.
fn time_to_live(wish: RawJson<'_>) -> Result<Option<Duration>, Error> {
    let no_object = |_| Error::invalid_params("task is an object");
    let wish: JsonObject = wish.decode().map_err(no_object)?;
    match wish.get("ttl") {
        None | Some(Value::Null) => Ok(None),
        Some(ttl) => {
            let millis = ttl.as_f64().filter(|millis| *millis >= 0.0);
            let millis = millis.ok_or_else(|| {
                Error::invalid_params("task.ttl is a number of milliseconds that is not negative")
            })?;
            // Beyond what a number holds is the longest there is, which is bounded anyway.
            Ok(Some(Duration::from_millis(millis as u64)))
        }
    }
}

/// -32601, as the specification has it for a tool that is called the wrong way.
fn refused(message: &'static str) -> Error {
    Error::new(ErrorCode::METHOD_NOT_FOUND, message)
}

/// Says that there are tasks, in the words of both revisions that have them.
pub(crate) fn tasks_capability(capabilities: ServerCapabilities) -> ServerCapabilities {
    let mut core = TasksCapability::default().with_request("tools/call");
    (core.list, core.cancel) = (Some(JsonObject::new()), Some(JsonObject::new()));
    let mut capabilities = capabilities.with_extension(TASKS_EXTENSION, JsonObject::new());
    capabilities.tasks = Some(core);
    capabilities
}

#[cfg(test)]
mod tests {
    use pintle_model::RawJson;
    use pintle_model::{ClientCapabilities, Revision};

    use serde_json::value::RawValue;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    fn core(support: TaskSupport, wish: Option<&str>) -> Result<TaskMode, i64> {
        let terms = Terms::new(Revision::V2025_11_25);
        let wish = wish.map(raw);
        TaskMode::of(&support, wish.as_deref().map(RawJson::from), &terms)
            .map_err(|error| error.code.0)
    }

    // spec: 2025-11-25 TASK-09, TASK-10, TASK-11, TASK-12, TASK-13, TASK-76, AMB-84
    #[test]
    fn a_tool_is_called_the_way_it_says() {
        use TaskSupport::{Forbidden, Optional, Required};
        let unknown = TaskSupport::Unknown("perhaps".into());
        assert_eq!(core(Required, None), Err(-32601));
        for tool in [Forbidden, unknown] {
            assert_eq!(core(tool.clone(), Some("{}")), Err(-32601));
            assert_eq!(core(tool.clone(), Some("null")), Ok(TaskMode::Plain));
            assert_eq!(core(tool, None), Ok(TaskMode::Plain));
        }
        assert_eq!(core(Optional, None), Ok(TaskMode::Plain));
        for tool in [Optional, Required] {
            assert_eq!(core(tool, Some("{}")), Ok(TaskMode::Task(None)));
        }
    }

    // spec: 2025-11-25 TASK-14, TASK-15, AMB-88
    #[test]
    fn a_wish_is_a_number_of_milliseconds() {
        let wish = |text: &str| core(TaskSupport::Optional, Some(text));
        let millis = |millis| Ok(TaskMode::Task(Some(Duration::from_millis(millis))));
        assert_eq!(wish(r#"{"ttl":60000,"x":1}"#), millis(60_000));
        assert_eq!(wish(r#"{"ttl":0}"#), millis(0));
        assert_eq!(wish(r#"{"ttl":1500.7}"#), millis(1_500));
        assert_eq!(wish(r#"{"ttl":1e30}"#), millis(u64::MAX));
        assert_eq!(wish(r#"{"ttl":null}"#), Ok(TaskMode::Task(None)));
        for nonsense in [
            r#"{"ttl":-1}"#,
            r#"{"ttl":"1"}"#,
            r#"{"ttl":{}}"#,
            "[]",
            "true",
            "5",
        ] {
            assert_eq!(wish(nonsense), Err(-32602), "{nonsense}");
        }
    }

    // spec: 2026-07-28 X-TASK-03, X-TASK-06, X-TASK-11, X-TASK-35
    #[test]
    fn only_a_client_that_knows_the_extension_gets_its_tasks() {
        use TaskSupport::{Forbidden, Optional, Required};
        let extension =
            || ClientCapabilities::default().with_extension(TASKS_EXTENSION, JsonObject::new());
        let mut able = Terms::new(Revision::V2026_07_28);
        able.capabilities = extension();
        let unable = Terms::new(Revision::V2026_07_28);
        let wish = raw(r#"{"ttl":"nonsense"}"#);
        let way = |tool, terms: &Terms| {
            TaskMode::of(&tool, Some((&*wish).into()), terms).map_err(|error| error.code.0)
        };
        assert_eq!(way(Optional, &able), Ok(TaskMode::InTime));
        assert_eq!(way(Required, &able), Ok(TaskMode::InTime));
        assert_eq!(way(Forbidden, &able), Ok(TaskMode::Plain));
        assert_eq!(way(Optional, &unable), Ok(TaskMode::Plain));
        assert_eq!(way(Required, &unable), Err(-32021));
        for revision in [Revision::V2024_11_05, Revision::V2025_06_18] {
            let mut old = Terms::new(revision);
            old.capabilities = extension();
            assert_eq!(way(Required, &old), Ok(TaskMode::Unknown));
            assert_eq!(way(Optional, &old), Ok(TaskMode::Plain));
        }
        let mut core = Terms::new(Revision::V2025_11_25);
        core.capabilities = extension();
        assert_eq!(
            TaskMode::of(&Optional, None, &core).ok(),
            Some(TaskMode::Plain)
        );
    }
}
