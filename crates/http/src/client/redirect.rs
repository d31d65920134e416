//! Redirects, which are followed within the same origin only.
//!
//! A redirect to another origin would send the token, the session and the arguments there. One that
//! turns a POST into a GET would lose the message.

use http::header::LOCATION;
use http::{HeaderMap, StatusCode};

use crate::client::endpoint_url::{EndpointUrl, UrlOrigin};
use crate::rules::headers::single;

/// The reason why a redirect was not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectError {
    /// The redirect leads to another origin.
    #[error("the redirect from {from} to {to} is not followed; use the new URL if you trust it")]
    OtherOrigin {
        /// HTTP status code.
        status: u16,
        /// Origin of the request.
        from: UrlOrigin,
        /// Target of the redirect.
        to: UrlOrigin,
    },
    /// The status does not preserve the method and the body.
    #[error("a redirect with status {0} is not followed; only 307 and 308 keep a message")]
    Status(u16),
    /// The target is missing, or is not an HTTP URL.
    #[error("a redirect with status {0} has no valid HTTP URL")]
    Location(u16),
    /// The number of redirects in a row is above the limit.
    #[error("more than {most} redirects in a row")]
    TooMany {
        /// The status of the last one.
        status: u16,
        /// Maximum number of redirects.
        most: u8,
    },
}

impl RedirectError {
    /// Returns the status of the redirect.
    pub fn status(&self) -> u16 {
        match self {
            Self::OtherOrigin { status, .. }
            | Self::Status(status)
            | Self::Location(status)
            | Self::TooMany { status, .. } => *status,
        }
    }
}

/// Returns the target of a redirect or the reason not to follow it, or `None` for other responses.
pub(crate) fn redirect(
    from: &EndpointUrl,
    status: StatusCode,
    headers: &HeaderMap,
) -> Option<Result<EndpointUrl, RedirectError>> {
    // 304 and 300 are excluded, because they answer requests that this client never makes.
    status
        .is_redirection()
        .then(|| follow(from, status, headers))
}

fn follow(
    from: &EndpointUrl,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<EndpointUrl, RedirectError> {
    if !matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    ) {
        return Err(RedirectError::Status(status.as_u16()));
    }
    let location = single(headers, &LOCATION).ok().flatten();
    let to = location
        .and_then(|location| from.resolve(location).ok())
        .ok_or(RedirectError::Location(status.as_u16()))?;
    if to.origin() != from.origin() {
        return Err(RedirectError::OtherOrigin {
            status: status.as_u16(),
            from: from.origin(),
            to: to.origin(),
        });
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn decide(status: u16, locations: &[&'static str]) -> Option<Result<String, RedirectError>> {
        let from = EndpointUrl::parse("https://a.example/mcp?x").expect("a URL");
        let mut headers = HeaderMap::new();
        for location in locations {
            headers.append(LOCATION, HeaderValue::from_static(location));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        redirect(&from, status, &headers).map(|to| to.map(|to| to.as_str().to_owned()))
    }

    // hardening: H-32
    #[test]
    fn only_the_same_origin_and_only_with_the_message() {
        assert_eq!(decide(200, &["/x"]), None);
        for status in [307, 308] {
            let to = |to: &str| Some(Ok(to.to_owned()));
            assert_eq!(decide(status, &["/mcp/"]), to("https://a.example/mcp/"));
            assert_eq!(
                decide(status, &["https://A.example:443/y"]),
                to("https://A.example:443/y")
            );
            for elsewhere in [
                "http://a.example/mcp",
                "//b.example/",
                "https://a.example:444/",
            ] {
                let refused = decide(status, &[elsewhere]).expect("a redirect");
                assert!(
                    matches!(refused, Err(RedirectError::OtherOrigin { .. })),
                    "{elsewhere}"
                );
            }
            for nowhere in [
                &[][..],
                &["file:///etc/passwd"],
                &["/a", "/b"],
                &["https://u@a.example/"],
            ] {
                assert_eq!(
                    decide(status, nowhere),
                    Some(Err(RedirectError::Location(status)))
                );
            }
        }
        for status in [300, 301, 302, 303, 304, 305] {
            assert_eq!(
                decide(status, &["/x"]),
                Some(Err(RedirectError::Status(status)))
            );
        }
    }
}
