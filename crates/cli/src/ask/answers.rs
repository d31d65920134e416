//! Answers to questions from the command line (`--answer`).

use std::collections::VecDeque;
use std::str::FromStr;

use pintle::model::JsonObject;
use pintle::runtime;
use serde_json::Value;

/// An answer to one question. Answers are used in the order of the questions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ScriptedAnswer {
    /// The content of a form, or a yes to a URL.
    Accept(JsonObject),
    /// The user declines the question.
    Decline,
    /// The user dismisses the question.
    Cancel,
}

/// The answers that are not used yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answers {
    left: VecDeque<ScriptedAnswer>,
}

impl FromStr for ScriptedAnswer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "accept" => Ok(Self::Accept(JsonObject::new())),
            "decline" => Ok(Self::Decline),
            "cancel" => Ok(Self::Cancel),
            json => match serde_json::from_str(json) {
                Ok(Value::Object(members)) => Ok(Self::Accept(members)),
                _ => Err("expected a JSON object, `accept`, `decline` or `cancel`".to_owned()),
            },
        }
    }
}

impl From<Vec<ScriptedAnswer>> for Answers {
    fn from(answers: Vec<ScriptedAnswer>) -> Self {
        Self {
            left: answers.into(),
        }
    }
}

impl Answers {
    /// Returns the next answer as one to a form, if an answer is left.
    pub(crate) fn next_form(&mut self) -> Option<runtime::Answer<JsonObject>> {
        Some(match self.left.pop_front()? {
            ScriptedAnswer::Accept(members) => runtime::Answer::Accepted(members),
            ScriptedAnswer::Decline => runtime::Answer::Declined,
            ScriptedAnswer::Cancel => runtime::Answer::Cancelled,
        })
    }

    /// Returns the next answer as one to a URL, if an answer is left.
    pub(crate) fn next_visit(&mut self) -> Option<runtime::Answer<()>> {
        Some(match self.next_form()? {
            runtime::Answer::Accepted(_) => runtime::Answer::Accepted(()),
            runtime::Answer::Declined => runtime::Answer::Declined,
            runtime::Answer::Cancelled => runtime::Answer::Cancelled,
        })
    }
}
