//! A question that is asked again because its answer did not fit.

use std::borrow::Cow;

use pintle_model::{ElicitParams, InputRequest};

/// Text between a question and the reason why its last answer was not accepted.
const BEFORE_REASON: &str = "\n\nThe previous answer was not accepted: ";
/// Length of a reason in characters: it may repeat parts of the answer.
const MAX_REASON_CHARS: usize = 500;

/// Adds the reason why the last answer was not accepted to the question. Only questions to a user
/// have a text for it.
pub(crate) fn with_reason(mut request: InputRequest, reason: &str) -> InputRequest {
    if let InputRequest::Elicit(params) = &mut request
        && let Some(message) = message_mut(params)
    {
        message.push_str(BEFORE_REASON);
        message.extend(reason.chars().take(MAX_REASON_CHARS));
    }
    request
}

/// The question without the reason: as its handler asks it.
pub(crate) fn without_reason(request: &InputRequest) -> Cow<'_, InputRequest> {
    let InputRequest::Elicit(params) = request else {
        return Cow::Borrowed(request);
    };
    let mut params = Cow::Borrowed(&**params);
    let reason_at = message_of(&params).and_then(|message| message.find(BEFORE_REASON));
    let Some(reason_at) = reason_at else {
        return Cow::Borrowed(request);
    };
    if let Some(message) = message_mut(params.to_mut()) {
        message.truncate(reason_at);
    }
    Cow::Owned(InputRequest::from(params.into_owned()))
}

fn message_of(params: &ElicitParams) -> Option<&String> {
    match params {
        ElicitParams::Form(form) => Some(&form.message),
        ElicitParams::Url(url) => Some(&url.message),
        _ => None,
    }
}

fn message_mut(params: &mut ElicitParams) -> Option<&mut String> {
    match params {
        ElicitParams::Form(form) => Some(&mut form.message),
        ElicitParams::Url(url) => Some(&mut url.message),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::{ElicitSchema, NoParams};

    use super::*;

    fn form(message: &str) -> InputRequest {
        ElicitParams::form(message, ElicitSchema::new()).into()
    }

    #[test]
    fn a_reason_follows_the_message_and_can_be_taken_off() {
        let again = with_reason(form("Where?"), "the field \"a\" is missing");
        let expected = "Where?\n\nThe previous answer was not accepted: the field \"a\" is missing";
        assert_eq!(again, form(expected));
        assert_eq!(*without_reason(&again), form("Where?"));
        let twice = with_reason(again, "again");
        assert_eq!(*without_reason(&twice), form("Where?"));
        assert_eq!(*without_reason(&form("Where?")), form("Where?"));
        let roots = InputRequest::ListRoots(NoParams::default());
        assert_eq!(with_reason(roots.clone(), "no"), roots);
    }

    #[test]
    fn a_reason_is_bounded() {
        let again = with_reason(form(""), &"ü".repeat(501));
        assert_eq!(again, form(&format!("{BEFORE_REASON}{}", "ü".repeat(500))));
    }
}
