//! What a request shows for itself.

use http::header::AUTHORIZATION;
use http::request::Parts;

use super::bearer_error::BearerError;
use crate::Secret;

/// Authentication scheme of a token. The list is complete: other schemes are not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Bearer,
    Dpop,
}

/// A token, as it came.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) scheme: Scheme,
    pub(crate) token: Secret,
}

impl Credentials {
    /// Reads the only header that a token may come in.
    pub(crate) fn of(parts: &Parts, most: usize) -> Result<Self, BearerError> {
        if has_token(parts.uri.query().unwrap_or_default()) {
            return Err(BearerError::Malformed(
                "a token does not belong into an address: send it in the header Authorization",
            ));
        }
        let mut lines = parts.headers.get_all(AUTHORIZATION).iter();
        let line = match (lines.next(), lines.next()) {
            (None, _) => return Err(BearerError::Missing),
            (Some(line), None) => line.to_str(),
            (Some(_), Some(_)) => {
                return Err(BearerError::Malformed(
                    "the header Authorization is there twice",
                ));
            }
        };
        let line =
            line.map_err(|_| BearerError::Malformed("the header Authorization is not ASCII"))?;
        let (scheme, token) = line.split_once(' ').unwrap_or((line, ""));
        let scheme = match scheme {
            scheme if scheme.eq_ignore_ascii_case("bearer") => Scheme::Bearer,
            scheme if scheme.eq_ignore_ascii_case("dpop") => Scheme::Dpop,
            _ => return Err(BearerError::Missing),
        };
        let token = token.trim_matches(' ');
        if !is_token(token) {
            return Err(BearerError::Malformed(
                "there is no token in the header Authorization",
            ));
        }
        if token.len() > most {
            return Err(BearerError::Invalid("the token is too large".into()));
        }
        Ok(Self {
            scheme,
            token: token.into(),
        })
    }
}

/// RFC 6750, section 2.1.
fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_char = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && body.bytes().all(is_char)
}

/// Whether a query has a parameter that is called like a token, however it is written.
fn has_token(query: &str) -> bool {
    query.split('&').any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        decoded(name) == b"access_token"
    })
}

fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let (bytes, mut at, mut out) = (text.as_bytes(), 0, Vec::with_capacity(text.len()));
    while let Some(byte) = bytes.get(at) {
        let pair = (digit(bytes.get(at + 1)), digit(bytes.get(at + 2)));
        let (byte, used) = match (byte, pair) {
            (b'%', (Some(high), Some(low))) => ((high * 16 + low) as u8, 3),
            (byte, _) => (*byte, 1),
        };
        out.push(byte);
        at += used;
    }
    out
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn read(uri: &str, lines: &[&[u8]]) -> Result<(Scheme, String), &'static str> {
        let mut request = Request::get(uri);
        for line in lines {
            request = request.header("authorization", *line);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        match Credentials::of(&parts, 8) {
            Ok(shown) => Ok((shown.scheme, shown.token.reveal().clone())),
            Err(BearerError::Missing) => Err("missing"),
            Err(BearerError::Malformed(_)) => Err("malformed"),
            Err(BearerError::Invalid(_)) => Err("invalid"),
            Err(_) => Err("else"),
        }
    }

    // spec: 2025-11-25 AUTH-67, AUTH-RFC-05
    // spec: 2026-07-28 N-AUTH-47
    #[test]
    fn a_token_comes_in_one_header_and_nowhere_else() {
        let bearer = |token: &str| Ok((Scheme::Bearer, token.to_owned()));
        let rows: [(&str, &[&[u8]], _); 15] = [
            ("/mcp", &[b"Bearer abc"], bearer("abc")),
            ("/mcp", &[b"bEARER  a-._~+/="], bearer("a-._~+/=")),
            ("/mcp", &[b"DPoP abc"], Ok((Scheme::Dpop, "abc".into()))),
            ("/mcp", &[], Err("missing")),
            ("/mcp", &[b"Basic abc"], Err("missing")),
            ("/mcp", &[b"Bearerabc"], Err("missing")),
            ("/mcp", &[b"Bearer"], Err("malformed")),
            ("/mcp", &[b"Bearer a b"], Err("malformed")),
            ("/mcp", &[b"Bearer ="], Err("malformed")),
            ("/mcp", &[b"Bearer \xff"], Err("malformed")),
            ("/mcp", &[b"Bearer a", b"Bearer a"], Err("malformed")),
            ("/mcp?access_token=abc", &[], Err("malformed")),
            (
                "/mcp?a=1&access%5Ftoken",
                &[b"Bearer abc"],
                Err("malformed"),
            ),
            (
                "/mcp?x_access_token=abc&%zz",
                &[b"Bearer abc"],
                bearer("abc"),
            ),
            ("/mcp", &[b"Bearer 12345678"], bearer("12345678")),
        ];
        for (uri, lines, expected) in rows {
            assert_eq!(read(uri, lines), expected, "{uri} {lines:?}");
        }
        assert_eq!(read("/mcp", &[b"Bearer 123456789"]), Err("invalid"));
    }
}
