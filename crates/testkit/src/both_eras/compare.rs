//! The comparison of two revisions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pintle_model::method::{CallTool, GetPrompt, Method, ReadResource};
use pintle_model::{
    CallToolResult, ClientCapabilities, ElicitParams, Feature, Fit, FitError, GetPromptResult,
    InputRequest, ReadResourceResult, Revision,
};
use pintle_proto::Terms;
use pintle_runtime::RequiredCapability;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Scenario;
use super::client::Played;

/// The common outcome of all revisions that have the needed features.
#[derive(Debug, Clone)]
pub struct Agreement {
    revisions: Vec<Revision>,
    skipped: Vec<Skipped>,
    asked: Vec<InputRequest>,
    ended: Value,
    effects: BTreeMap<String, usize>,
}

/// A revision that was left out, because it lacks a needed feature.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The revision that was left out.
    pub revision: Revision,
    /// The missing feature.
    pub lacks: String,
}

/// The reason why the revisions do not agree. Its text is written for the reader of a failed test.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DisagreementError {
    /// The server does not start.
    Start(String),
    /// There is no rule for a question.
    Unanswered {
        /// The revision in which it was asked.
        revision: Revision,
        /// The question, as JSON.
        question: String,
    },
    /// The request was not answered within the timeout of the test.
    Unending(Revision),
    /// The conversation ended before the answer.
    Lost {
        /// The revision of the conversation.
        revision: Revision,
        /// The reason of the loss.
        why: String,
    },
    /// A revision differs from the latest one.
    Parted {
        /// The revision that differs.
        revision: Revision,
        /// The differences, one a line.
        differences: Vec<String>,
    },
}

impl Agreement {
    pub(super) fn of(played: &Played) -> Self {
        Self {
            revisions: vec![played.revision],
            skipped: Vec::new(),
            asked: played
                .asked
                .iter()
                .map(|(asked, _)| asked.clone())
                .collect(),
            ended: played.ended.clone(),
            effects: played.effects.clone(),
        }
    }

    pub(super) fn add(&mut self, played: &Played) {
        self.revisions.push(played.revision);
    }

    pub(super) fn skip(&mut self, revision: Revision, lacks: String) {
        self.skipped.push(Skipped { revision, lacks });
    }

    /// The revisions that were compared, latest first.
    pub fn revisions(&self) -> &[Revision] {
        &self.revisions
    }

    /// The revisions that were left out.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The questions, in the order of the latest revision.
    pub fn asked(&self) -> &[InputRequest] {
        &self.asked
    }

    /// The response of the latest revision: an object with `result` or `error`.
    pub fn response(&self) -> &Value {
        &self.ended
    }

    /// The text of the result's first content block; empty if it has no text.
    pub fn text(&self) -> &str {
        let block = &self.ended["result"]["content"][0];
        block["text"].as_str().unwrap_or_default()
    }

    /// The count of a side effect in each revision.
    pub fn count(&self, effect: &str) -> usize {
        self.effects.get(effect).copied().unwrap_or_default()
    }
}

impl Played {
    /// Returns the feature that `revision` lacks to ask these questions.
    pub(super) fn unspeakable(&self, revision: Revision, plan: &Scenario) -> Option<String> {
        let terms = terms(revision, &plan.capabilities);
        self.asked.iter().find_map(|(request, response)| {
            let need = RequiredCapability::of(request).filter(|need| !need.is_met_by(&terms));
            if let Some(need) = need {
                return Some(need.to_string());
            }
            let question = request.clone().fit(revision).err();
            let unfit = question.or_else(|| response.clone().fit(revision).err());
            unfit.map(|unfit| match unfit {
                FitError::MissingFeature { needs } => format!("{needs:?}"),
                other => other.to_string(),
            })
        })
    }

    /// The questions in the form of `revision`, sorted.
    fn questions(&self, revision: Revision) -> Vec<String> {
        let asked = self.asked.iter().map(|(request, _)| {
            let mut request = plain(request.clone());
            // The result is ignored, because `unspeakable` has checked the fit.
            let _ = request.fit(revision);
            json(&request)
        });
        let mut asked: Vec<String> = asked.collect();
        asked.sort();
        asked
    }

    /// The response in the form of `revision`.
    fn outcome(&self, revision: Revision, method: &str) -> String {
        let result = &self.ended["result"];
        match method {
            _ if result.is_null() => error_text(&self.ended["error"], self.revision),
            CallTool::NAME => fitted::<CallToolResult>(result, revision),
            GetPrompt::NAME => fitted::<GetPromptResult>(result, revision),
            ReadResource::NAME => fitted::<ReadResourceResult>(result, revision),
            _ => bare(result.clone()),
        }
    }
}

fn terms(revision: Revision, capabilities: &ClientCapabilities) -> Terms {
    let mut terms = Terms::new(revision);
    terms.capabilities = capabilities.clone();
    // A capability that the revision lacks is removed.
    let _ = terms.capabilities.fit(revision);
    terms
}

/// A question without its id, because each copy has another.
fn plain(mut request: InputRequest) -> InputRequest {
    if let InputRequest::Elicit(params) = &mut request
        && let ElicitParams::Url(url) = &mut **params
    {
        url.elicitation_id = None;
    }
    request
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn fitted<R: DeserializeOwned + Serialize + Fit>(result: &Value, revision: Revision) -> String {
    let mut result = result.clone();
    without_envelope(&mut result);
    let Ok(mut typed) = serde_json::from_value::<R>(result.clone()) else {
        return bare(result);
    };
    match typed.fit(revision) {
        Ok(()) => json(&typed),
        Err(_) => bare(result),
    }
}

fn bare(mut result: Value) -> String {
    without_envelope(&mut result);
    result.to_string()
}

fn without_envelope(result: &mut Value) {
    if let Some(result) = result.as_object_mut() {
        result.remove("_meta");
        result.remove("resultType");
    }
}

/// An error as text; a code that changed between revisions is normalized.
fn error_text(error: &Value, revision: Revision) -> String {
    let is_old = !revision.has(Feature::ResourceNotFoundIsInvalidParams);
    let code = match error["code"].as_i64() {
        Some(-32002) if is_old => -32602,
        code => code.unwrap_or_default(),
    };
    format!("error {code}: {}", error["message"])
}

/// Compares a revision with the latest one.
pub(super) fn compare(
    latest: &Played,
    played: &Played,
    plan: &Scenario,
) -> Result<(), DisagreementError> {
    let revision = played.revision;
    let mut differences = Vec::new();
    let (here, there) = (played.questions(revision), latest.questions(revision));
    differences.extend(only("asked", revision, &here, &there));
    differences.extend(only("asked", latest.revision, &there, &here));
    let effects: BTreeSet<&String> = played.effects.keys().chain(latest.effects.keys()).collect();
    for effect in effects {
        let count = |of: &Played| of.effects.get(effect).copied().unwrap_or_default();
        if count(played) != count(latest) {
            differences.push(format!(
                "done {effect:?}: {} × in {revision}, {} × in {}; `Context::once` is for what must \
                 not be done again",
                count(played),
                count(latest),
                latest.revision
            ));
        }
    }
    let here = played.outcome(revision, &plan.method);
    let there = latest.outcome(revision, &plan.method);
    if here != there {
        differences.push(format!("came to, in {revision}: {here}"));
        differences.push(format!("came to, in {}: {there}", latest.revision));
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(DisagreementError::Parted {
        revision,
        differences,
    })
}

/// Returns the lines of `these` that `those` lacks; a repeated line counts each time.
fn only(what: &str, revision: Revision, these: &[String], those: &[String]) -> Vec<String> {
    let mut rest = those.to_vec();
    let mut lines = Vec::new();
    for this in these {
        match rest.iter().position(|that| that == this) {
            Some(at) => drop(rest.swap_remove(at)),
            None => lines.push(format!("{what} only in {revision}: {this}")),
        }
    }
    lines
}

impl fmt::Display for DisagreementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "the server does not start: {error}"),
            Self::Unanswered { revision, question } => {
                write!(f, "in {revision} no rule answers {question}")
            }
            Self::Unending(revision) => write!(f, "in {revision} the request was not answered"),
            Self::Lost { revision, why } => {
                write!(f, "in {revision} the conversation ended: {why}")
            }
            Self::Parted {
                revision,
                differences,
            } => {
                write!(f, "{revision} and {} differ:", Revision::LATEST)?;
                differences
                    .iter()
                    .try_for_each(|line| write!(f, "\n  {line}"))
            }
        }
    }
}

impl std::error::Error for DisagreementError {}
