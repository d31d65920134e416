//! The authorizer for a token from a header or a variable: it reports why the server rejects it.

use pintle::auth::{Challenge, challenges};
use pintle::runtime::{
    AuthChallenge, AuthHeaders, Authorizer, AuthorizerError, RequestSummary, RetryDecision,
};

/// Adds nothing to a request, and reports the reason of the server for a rejection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RejectionReporter;

impl Authorizer for RejectionReporter {
    async fn authorize(&self, _: RequestSummary<'_>) -> Result<AuthHeaders, AuthorizerError> {
        Ok(AuthHeaders::none())
    }

    async fn handle_challenge(
        &self,
        _: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthorizerError> {
        match description(&refused.challenges) {
            Some(reason) => {
                let status = refused.status;
                let reason = format!("the server answered {status}: {reason}");
                Err(AuthorizerError::new(reason))
            }
            None => Ok(RetryDecision::GiveUp),
        }
    }
}

/// The error of the first challenge that has one, with its description.
fn description(lines: &[String]) -> Option<String> {
    let all = challenges(lines.iter().map(String::as_str));
    all.iter().find_map(|challenge: &Challenge| {
        let error = challenge.parameter("error")?;
        Some(match challenge.parameter("error_description") {
            Some(description) => format!("{error}: {description}"),
            None => error.to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_described_by_its_challenge() {
        let line = |line: &str| description(&[line.to_owned()]);
        let old = r#"Bearer error="invalid_token", error_description="the token is old""#;
        assert_eq!(
            line(old),
            Some("invalid_token: the token is old".to_owned())
        );
        assert_eq!(
            line(r#"Bearer error="invalid_token""#),
            Some("invalid_token".to_owned())
        );
        assert_eq!(line(r#"Bearer scope="a""#), None);
        assert_eq!(line("nonsense ="), None);
    }
}
