//! The arguments of `pintle check`.

use std::path::PathBuf;

use clap::ValueEnum;
use pintle_check::{AllowedTool, Level};
use serde_json::Value;

use super::server::ServerArgs;
use super::words::UsageError;

/// The arguments of `pintle check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Judge a client: the command behind `--`, or any client that visits the printed URLs
    #[arg(long, conflicts_with = "tools")]
    pub(crate) client: bool,

    /// Relay the standard streams to the scripted server at this address
    #[arg(long, value_name = "ADDRESS", requires = "client", hide = true)]
    pub(crate) relay: Option<String>,

    /// List the checks and count the requirements that they show
    #[arg(long)]
    pub(crate) list: bool,

    /// Least strict level to check: every level by default
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) level: Option<CheckLevel>,

    /// Make only the check with this id; the option can be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) only: Vec<String>,

    /// Allow a call of this tool with these arguments; key:=json has another type than text
    #[arg(long = "tool", value_names = ["NAME", "KEY=TEXT"], num_args = 1..)]
    pub(crate) tools: Vec<String>,

    /// Write the findings to this file in the XML of JUnit
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the failures to this file as SARIF
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
}

/// A level of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CheckLevel(pub(crate) Level);

impl ValueEnum for CheckLevel {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [CheckLevel; 3] = [
            CheckLevel(Level::Must),
            CheckLevel(Level::Should),
            CheckLevel(Level::Robust),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.as_str()))
    }
}

/// Reads the words of `--tool`: a word without `=` is a name, and the others are its arguments.
///
/// # Errors
///
/// [`UsageError`] for an argument without a name before it, and for JSON that is not valid.
pub(crate) fn allowed_tools(words: &[String]) -> Result<Vec<AllowedTool>, UsageError> {
    let mut tools: Vec<AllowedTool> = Vec::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            tools.push(AllowedTool::new(word, serde_json::Map::new()));
            continue;
        };
        let missing = || {
            UsageError(format!(
                "--tool requires the name of a tool before `{word}`"
            ))
        };
        let tool = tools.last_mut().ok_or_else(missing)?;
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => (key, parsed(word, value)?),
            None => (key, Value::from(value)),
        };
        tool.arguments.insert(key.to_owned(), value);
    }
    Ok(tools)
}

fn parsed(word: &str, value: &str) -> Result<Value, UsageError> {
    serde_json::from_str(value)
        .map_err(|error| UsageError(format!("`{word}` has invalid JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_can_be_named() {
        let named: Vec<_> = CheckLevel::value_variants()
            .iter()
            .map(|level| level.0)
            .collect();
        assert_eq!(named, Level::ALL);
    }

    #[test]
    fn words_with_an_equals_sign_are_arguments_of_the_tool_before() {
        let words = ["echo", "message=a=b", "add", "a:=1", "b:=[2]"].map(str::to_owned);
        let tools = allowed_tools(&words).expect("valid");
        let shown: Vec<_> = tools
            .iter()
            .map(|tool| format!("{} {}", tool.name, Value::Object(tool.arguments.clone())))
            .collect();
        assert_eq!(
            shown,
            ["echo {\"message\":\"a=b\"}", "add {\"a\":1,\"b\":[2]}"]
        );
        assert!(allowed_tools(&["a=1".to_owned()]).is_err());
        assert!(allowed_tools(&["t".to_owned(), "a:=x".to_owned()]).is_err());
    }
}
