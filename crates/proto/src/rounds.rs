//! The client's side of requests that take several rounds: how often, how fast, and what the retry
//! carries.
//!
//! Spec: [2026-07-28, Multi round-trip requests][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

use std::time::Duration;

use bytes::Bytes;

use pintle_model::errors;
use pintle_model::{InputRequired, InputResponses};

/// The pause before a retry that carries nothing but state; it doubles with every such round.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How many rounds one request has taken.
#[derive(Debug, Clone)]
pub struct Rounds {
    taken: u32,
    /// Rounds in a row without questions.
    idle: u32,
    limit: u32,
}

errors! {
    /// Why a request takes no further round; the server is to blame.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum RoundsError {
        /// The request has taken as many rounds as are allowed.
        TooMany {
            /// The limit, in rounds.
            limit: u32,
        } => "the server asked again after {limit} rounds of answers",
        /// The server sent neither a question nor a state: a retry would be the same request.
        Nothing => "retry requested without any input",
    }
}

impl Rounds {
    /// At most `limit` rounds.
    pub fn new(limit: u32) -> Self {
        Self {
            taken: 0,
            idle: 0,
            limit,
        }
    }

    /// Allows another round, after this pause; zero if there are questions to answer first.
    ///
    /// # Errors
    ///
    /// [`RoundsError`].
    pub fn next(&mut self, required: &InputRequired) -> Result<Duration, RoundsError> {
        if required.input_requests.is_none() && required.request_state.is_none() {
            return Err(RoundsError::Nothing);
        }
        if self.taken >= self.limit {
            return Err(RoundsError::TooMany { limit: self.limit });
        }
        self.taken += 1;
        let asks = required.input_requests.as_ref();
        if asks.is_some_and(|requests| !requests.is_empty()) {
            self.idle = 0;
            return Ok(Duration::ZERO);
        }
        let doubled = PAUSE.saturating_mul(1 << self.idle.min(16));
        self.idle += 1;
        Ok(doubled.min(LONGEST_PAUSE))
    }
}

/// The parameters of a retry: the original ones, the answers of this round, and this round's state
/// byte for byte. Of earlier rounds nothing is left.
///
/// # Panics
///
/// If `params` is not the text of an object.
pub fn retry_params(
    params: &[u8],
    responses: Option<&InputResponses>,
    state: Option<&str>,
) -> Bytes {
    let body = params.strip_suffix(b"}").expect("parameters are an object");
    let mut retry = Vec::with_capacity(body.len() + 256);
    retry.extend_from_slice(body);
    let mut add = |name: &[u8], text: String| {
        if retry.len() > 1 {
            retry.push(b',');
        }
        retry.extend_from_slice(name);
        retry.extend_from_slice(text.as_bytes());
    };
    let written = "answers and text are always writable";
    if let Some(responses) = responses {
        let text = serde_json::to_string(responses).expect(written);
        add(b"\"inputResponses\":", text);
    }
    if let Some(state) = state {
        let text = serde_json::to_string(state).expect(written);
        add(b"\"requestState\":", text);
    }
    retry.push(b'}');
    retry.into()
}

#[cfg(test)]
mod tests {
    use pintle_model::{ElicitParams, ElicitResult, InputRequests};
    use serde_json::{Value, json};

    use super::*;

    fn asking() -> InputRequired {
        let mut requests = InputRequests::new();
        requests.insert("a", ElicitParams::url("?", "https://example.org"));
        InputRequired::asking(requests)
    }

    // spec: 2026-07-28 A-20, N-MRTR-14
    #[test]
    fn rounds_are_counted() {
        let mut rounds = Rounds::new(3);
        for _ in 0..3 {
            assert_eq!(rounds.next(&asking()), Ok(Duration::ZERO));
        }
        let fault = RoundsError::TooMany { limit: 3 };
        assert_eq!(rounds.next(&asking()), Err(fault));
    }

    // spec: 2026-07-28 N-MRTR-17
    #[test]
    fn a_retry_that_answers_nothing_waits_longer_every_time() {
        let mut rounds = Rounds::new(100);
        let state = InputRequired::resume("s");
        let pauses: Vec<_> = (0..20)
            .map(|_| rounds.next(&state).expect("a round"))
            .collect();
        assert_eq!(pauses[..3], [PAUSE, PAUSE * 2, PAUSE * 4]);
        assert_eq!(pauses.last(), Some(&LONGEST_PAUSE));
        assert_eq!(rounds.next(&asking()), Ok(Duration::ZERO));
        assert_eq!(rounds.next(&state), Ok(PAUSE));
    }

    // spec: 2026-07-28 N-MRTR-04 (client refuses)
    #[test]
    fn a_round_without_questions_and_state_is_an_error() {
        let nothing = InputRequired::default();
        assert_eq!(Rounds::new(3).next(&nothing), Err(RoundsError::Nothing));
    }

    // spec: 2026-07-28 N-MRTR-18, N-MRTR-19, N-MRTR-20
    #[test]
    fn a_retry_is_the_request_with_this_rounds_answers_and_state() {
        let state = "\"\\ \u{1F512}\n\u{0}";
        let responses = InputResponses::from_iter([("a", ElicitResult::decline())]);
        let read = |bytes: Bytes| serde_json::from_slice::<Value>(&bytes).expect("JSON");
        let params = br#"{"name":"t"}"#;
        assert_eq!(
            read(retry_params(params, Some(&responses), Some(state))),
            json!({ "name": "t", "inputResponses": { "a": { "action": "decline" } }, "requestState": state })
        );
        assert_eq!(
            read(retry_params(params, Some(&responses), None)),
            json!({ "name": "t", "inputResponses": { "a": { "action": "decline" } } })
        );
        assert_eq!(
            read(retry_params(b"{}", None, Some("s"))),
            json!({ "requestState": "s" })
        );
    }
}
