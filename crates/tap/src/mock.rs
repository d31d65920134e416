//! A server that is written by hand, as a TOML file.

mod provider;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use pintle_model::{
    CallToolResult, ElicitAction, Error, InputRequest, InputResponse, JsonObject, Outcome,
};
use pintle_runtime::Context;
use pintle_server::{Server, ToolReply};
use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// Maximum delay of an answer, in milliseconds: one hour.
const MAX_DELAY_MS: u64 = 3_600_000;

/// A server that is written by hand: tools, resources and prompts with fixed answers.
///
/// # Examples
///
/// ```
/// use pintle_tap::Mock;
///
/// let mock: Mock = r#"
///     name = "weather"
///
///     [[tool]]
///     name = "forecast"
///     text = "sunny"
///     delay_ms = 200
///
///     [[tool.case]]
///     when = { city = "Bergen" }
///     structured = { sky = "rain" }
/// "#
/// .parse()?;
/// let server = mock.server();
/// # server.build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mock {
    #[serde(default = "mock_name")]
    name: String,
    #[serde(default = "mock_version")]
    version: String,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default, rename = "tool")]
    tools: Vec<MockTool>,
    #[serde(default, rename = "resource")]
    resources: Vec<MockResource>,
    #[serde(default, rename = "prompt")]
    prompts: Vec<MockPrompt>,
}

fn mock_name() -> String {
    "mock".to_owned()
}

fn mock_version() -> String {
    "0.0.0".to_owned()
}

/// A tool. The first case whose arguments fit answers, otherwise the tool itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MockTool {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Option<JsonObject>,
    #[serde(default)]
    output_schema: Option<JsonObject>,
    #[serde(default, rename = "case")]
    cases: Vec<MockCase>,
    // As in `MockAnswer`, because unknown members are errors only without `flatten`.
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    structured: Option<Value>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    question: Option<MockQuestion>,
}

/// An answer to calls with some arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MockCase {
    when: JsonObject,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    structured: Option<Value>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    question: Option<MockQuestion>,
}

/// A question to the user before the answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MockQuestion {
    message: String,
    /// The fields of the form, as properties of JSON Schema.
    #[serde(default)]
    fields: JsonObject,
    /// The text if the user does not accept.
    #[serde(default)]
    declined: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MockResource {
    uri: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    text: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MockPrompt {
    name: String,
    #[serde(default)]
    description: Option<String>,
    /// The names of the arguments. `{name}` in the text is replaced by the value.
    #[serde(default)]
    arguments: Vec<String>,
    text: String,
}

/// An answer of a tool.
struct MockAnswer<'a> {
    text: Option<&'a String>,
    structured: Option<&'a Value>,
    error: Option<&'a String>,
    delay_ms: u64,
    question: Option<&'a MockQuestion>,
}

/// Why a file is not a server.
#[derive(Debug)]
#[non_exhaustive]
pub enum MockError {
    /// The file cannot be read.
    Io(std::io::Error),
    /// The file is not TOML, or has other members.
    Toml(Box<toml::de::Error>),
    /// A value is invalid.
    Invalid(String),
}

impl fmt::Display for MockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the file cannot be read: {error}"),
            Self::Toml(error) => write!(f, "invalid file: {error}"),
            Self::Invalid(reason) => write!(f, "invalid file: {reason}"),
        }
    }
}

impl std::error::Error for MockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Toml(error) => Some(error),
            Self::Invalid(_) => None,
        }
    }
}

impl std::str::FromStr for Mock {
    type Err = MockError;

    fn from_str(text: &str) -> Result<Self, MockError> {
        let mock: Self = toml::from_str(text).map_err(|error| MockError::Toml(Box::new(error)))?;
        mock.check().map_err(MockError::Invalid)?;
        Ok(mock)
    }
}

impl Mock {
    /// Reads a file of at most 16 MiB.
    ///
    /// # Errors
    ///
    /// [`MockError`], if the file is not a server.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MockError> {
        let file = std::fs::File::open(path).map_err(MockError::Io)?;
        let mut text = String::new();
        let mut file = std::io::Read::take(file, MAX_FILE_BYTES + 1);
        std::io::Read::read_to_string(&mut file, &mut text).map_err(MockError::Io)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(MockError::Invalid(format!(
                "it has more than {MAX_FILE_BYTES} bytes"
            )));
        }
        text.parse()
    }

    /// Returns the server.
    pub fn server(self) -> Server {
        let server = Server::new(self.name.clone(), self.version.clone());
        let server = match &self.instructions {
            Some(instructions) => server.instructions(instructions.clone()),
            None => server,
        };
        server.provider(self)
    }

    fn check(&self) -> Result<(), String> {
        for tool in &self.tools {
            for answer in
                std::iter::once(tool.answer()).chain(tool.cases.iter().map(MockCase::answer))
            {
                answer
                    .check()
                    .map_err(|reason| format!("tool {}: {reason}", tool.name))?;
            }
            serde_json::from_value::<pintle_model::Tool>(tool.listed())
                .map_err(|error| format!("tool {}: {error}", tool.name))?;
        }
        Ok(())
    }
}

impl MockTool {
    fn answer(&self) -> MockAnswer<'_> {
        MockAnswer {
            text: self.text.as_ref(),
            structured: self.structured.as_ref(),
            error: self.error.as_ref(),
            delay_ms: self.delay_ms,
            question: self.question.as_ref(),
        }
    }

    /// Returns the answer to a call with these arguments.
    fn answer_to(&self, arguments: &Value) -> MockAnswer<'_> {
        let fits = |case: &&MockCase| {
            case.when
                .iter()
                .all(|(name, value)| arguments.get(name) == Some(value))
        };
        self.cases
            .iter()
            .find(fits)
            .map_or_else(|| self.answer(), MockCase::answer)
    }

    fn listed(&self) -> Value {
        let mut tool = json!({
            "name": self.name,
            "inputSchema": self.input_schema.clone().unwrap_or_else(any_object),
        });
        let others = [
            ("title", self.title.clone().map(Value::from)),
            ("description", self.description.clone().map(Value::from)),
            ("outputSchema", self.output_schema.clone().map(Value::from)),
        ];
        for (name, value) in others {
            if let Some(value) = value {
                tool[name] = value;
            }
        }
        tool
    }
}

fn any_object() -> JsonObject {
    JsonObject::from_iter([("type".to_owned(), "object".into())])
}

impl MockCase {
    fn answer(&self) -> MockAnswer<'_> {
        MockAnswer {
            text: self.text.as_ref(),
            structured: self.structured.as_ref(),
            error: self.error.as_ref(),
            delay_ms: self.delay_ms,
            question: self.question.as_ref(),
        }
    }
}

impl MockAnswer<'_> {
    fn check(&self) -> Result<(), String> {
        if self.error.is_some() && (self.text.is_some() || self.structured.is_some()) {
            return Err("error stands in place of text and structured".to_owned());
        }
        if self.delay_ms > MAX_DELAY_MS {
            return Err(format!("delay_ms is above {MAX_DELAY_MS}"));
        }
        if let Some(question) = self.question {
            question
                .request()
                .map_err(|error| format!("question: {error}"))?;
        }
        Ok(())
    }

    async fn play(&self, cx: &Context) -> ToolReply {
        if let Some(question) = self.question
            && let Some(declined) = question.ask(cx).await?
        {
            return Ok(Outcome::Complete(CallToolResult::text(declined)));
        }
        // A retry with the answer does not wait again.
        let delay = tokio::time::sleep(Duration::from_millis(self.delay_ms));
        cx.once("pintle/delay", delay).await;
        Ok(Outcome::Complete(self.result()))
    }

    fn result(&self) -> CallToolResult {
        if let Some(error) = self.error {
            return CallToolResult::error(error.clone());
        }
        let text = self.text.cloned();
        let text = text
            .or_else(|| self.structured.map(Value::to_string))
            .unwrap_or_default();
        let mut result = CallToolResult::text(text);
        result.structured_content = self.structured.cloned();
        result
    }
}

impl MockQuestion {
    fn request(&self) -> serde_json::Result<InputRequest> {
        let schema = json!({ "type": "object", "properties": self.fields });
        let params = json!({ "message": self.message, "requestedSchema": schema });
        serde_json::from_value(json!({ "method": "elicitation/create", "params": params }))
    }

    /// Asks the user. Returns the text of the answer if the user does not accept.
    async fn ask(&self, cx: &Context) -> Result<Option<String>, Error> {
        let request = self.request().map_err(|_| Error::internal())?;
        let answer = cx.ask(request).await.map_err(|error| error.to_error())?;
        let is_accepted = matches!(&answer, InputResponse::Elicit(answer) if answer.action == ElicitAction::Accept);
        let declined = self
            .declined
            .clone()
            .unwrap_or_else(|| "declined".to_owned());
        Ok((!is_accepted).then_some(declined))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_unknown_members_is_invalid() {
        for (text, part) in [
            ("[[tool]]\nname = \"a\"\ntxt = \"b\"", "txt"),
            ("[[tool]]\ntext = \"b\"", "name"),
            (
                "[[tool]]\nname = \"a\"\ntext = \"b\"\nerror = \"c\"",
                "tool a: error stands",
            ),
            ("[[tool]]\nname = \"a\"\ndelay_ms = 3600001", "delay_ms"),
            (
                "[[tool]]\nname = \"a\"\n[[tool.case]]\nwhen = {}\ndelay_ms = 3600001",
                "delay_ms",
            ),
            ("x", "invalid file"),
        ] {
            let error = text.parse::<Mock>().expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_first_case_that_fits_answers() {
        let mock: Mock = concat!(
            "[[tool]]\nname = \"a\"\ntext = \"other\"\n",
            "[[tool.case]]\nwhen = { x = 1, y = \"b\" }\ntext = \"both\"\n",
            "[[tool.case]]\nwhen = { x = 1 }\ntext = \"one\"\n",
        )
        .parse()
        .expect("a server");
        let text = |arguments: Value| mock.tools[0].answer_to(&arguments).text.cloned();
        assert_eq!(
            text(json!({ "x": 1, "y": "b", "z": 0 })).as_deref(),
            Some("both")
        );
        assert_eq!(text(json!({ "x": 1 })).as_deref(), Some("one"));
        assert_eq!(text(json!({ "x": 2 })).as_deref(), Some("other"));
        assert_eq!(text(Value::Null).as_deref(), Some("other"));
    }
}
