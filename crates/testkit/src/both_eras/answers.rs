//! The answers of the client: rules that match questions.

use pintle_model::{
    CreateMessageParams, CreateMessageResult, ElicitMode, ElicitParams, ElicitResult, InputRequest,
    InputResponse, ListRootsResult, Root,
};
use serde_json::Value;

type Rule = Box<dyn Fn(&InputRequest) -> Option<InputResponse> + Send + Sync>;

/// The rules of a client, in their order.
#[derive(Default)]
pub(super) struct Answers(Vec<Rule>);

impl Answers {
    pub(super) fn add(
        &mut self,
        rule: impl Fn(&InputRequest) -> Option<InputResponse> + Send + Sync + 'static,
    ) {
        self.0.push(Box::new(rule));
    }

    /// The answer of the first rule that has one.
    pub(super) fn to(&self, request: &InputRequest) -> Option<InputResponse> {
        self.0.iter().find_map(|rule| rule(request))
    }
}

pub(super) fn accepting(
    part: &str,
    content: Value,
) -> impl Fn(&InputRequest) -> Option<InputResponse> + use<> {
    let part = part.to_owned();
    move |request| {
        let is_form = elicited(request, &part)?.mode() == ElicitMode::Form;
        let content = content.as_object().cloned().unwrap_or_default();
        is_form.then(|| ElicitResult::accept(content).into())
    }
}

pub(super) fn consenting(part: &str) -> impl Fn(&InputRequest) -> Option<InputResponse> + use<> {
    let part = part.to_owned();
    move |request| {
        let is_url = elicited(request, &part)?.mode() == ElicitMode::Url;
        is_url.then(|| ElicitResult::accept(None).into())
    }
}

pub(super) fn declining(part: &str) -> impl Fn(&InputRequest) -> Option<InputResponse> + use<> {
    let part = part.to_owned();
    move |request| elicited(request, &part).map(|_| ElicitResult::decline().into())
}

pub(super) fn cancelling(part: &str) -> impl Fn(&InputRequest) -> Option<InputResponse> + use<> {
    let part = part.to_owned();
    move |request| elicited(request, &part).map(|_| ElicitResult::cancel().into())
}

pub(super) fn sampling(
    part: &str,
    text: &str,
) -> impl Fn(&InputRequest) -> Option<InputResponse> + use<> {
    let (part, text) = (part.to_owned(), text.to_owned());
    move |request| match request {
        InputRequest::CreateMessage(params) if last_words(params).contains(&part) => {
            Some(CreateMessageResult::new(text.as_str(), "testkit").into())
        }
        _ => None,
    }
}

pub(super) fn roots(roots: Vec<Root>) -> impl Fn(&InputRequest) -> Option<InputResponse> {
    move |request| match request {
        InputRequest::ListRoots(_) => Some(ListRootsResult::new(roots.clone()).into()),
        _ => None,
    }
}

/// Returns the parameters of an elicitation whose message contains `part`.
fn elicited<'r>(request: &'r InputRequest, part: &str) -> Option<&'r ElicitParams> {
    match request {
        InputRequest::Elicit(params) if params.message()?.contains(part) => Some(params),
        _ => None,
    }
}

fn last_words(params: &CreateMessageParams) -> String {
    let Some(last) = params.messages.last() else {
        return String::new();
    };
    let texts = last.content.blocks().iter();
    texts.filter_map(|block| block.as_text()).collect()
}
