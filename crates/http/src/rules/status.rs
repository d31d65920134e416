//! The HTTP status of each error of JSON-RPC: one table. `cause.rs` has the errors of HTTP alone.
//!
//! A client reads the JSON-RPC error first; the status is for proxies. Up to 2025-11-25 the status is
//! 200 for every request that reached the engine. Since 2026-07-28 errors of the protocol have their
//! own status, unless a stream has begun.
//!
//! Spec: [2026-07-28, Streamable HTTP][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

use http::StatusCode;
use pintle_model::ErrorCode;

/// The stage at which a request fails. Closed: no other stage exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Admission, before a handler runs.
    Admission,
    /// A handler, on terms that the request stated.
    Handler,
    /// Any stage, in a conversation that began with a handshake.
    Legacy,
}

/// Code; status at admission; status for an error of a handler.
const TABLE: &[(ErrorCode, StatusCode, StatusCode)] = &[
    (
        ErrorCode::METHOD_NOT_FOUND,
        StatusCode::NOT_FOUND,
        StatusCode::NOT_FOUND,
    ),
    (
        ErrorCode::HEADER_MISMATCH,
        StatusCode::BAD_REQUEST,
        StatusCode::BAD_REQUEST,
    ),
    (
        ErrorCode::MISSING_CLIENT_CAPABILITY,
        StatusCode::BAD_REQUEST,
        StatusCode::BAD_REQUEST,
    ),
    (
        ErrorCode::UNSUPPORTED_REVISION,
        StatusCode::BAD_REQUEST,
        StatusCode::BAD_REQUEST,
    ),
    (
        ErrorCode::PARSE_ERROR,
        StatusCode::BAD_REQUEST,
        StatusCode::OK,
    ),
    (
        ErrorCode::INVALID_REQUEST,
        StatusCode::BAD_REQUEST,
        StatusCode::OK,
    ),
    (
        ErrorCode::INVALID_PARAMS,
        StatusCode::BAD_REQUEST,
        StatusCode::OK,
    ),
    (
        ErrorCode::INTERNAL_ERROR,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::OK,
    ),
];

/// Returns the status of an error. It is 200 for unknown codes, which handlers define.
pub(crate) fn status_of(code: ErrorCode, stage: Stage) -> StatusCode {
    let row = TABLE.iter().find(|(row, ..)| *row == code);
    match (row, stage) {
        (Some((_, admission, _)), Stage::Admission) => *admission,
        (Some((.., handler)), Stage::Handler) => *handler,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-HTTP-21, N-HTTP-22, N-HTTP-23, N-HTTP-24, N-ERR-03 (server), N-ERR-10, A-08
    // spec: 2025-11-25 TRANS-HTTP-11
    #[test]
    fn a_status_follows_from_the_code_and_the_stage() {
        let rows = [
            (-32601, Stage::Admission, 404),
            (-32601, Stage::Handler, 404),
            (-32601, Stage::Legacy, 200),
            (-32602, Stage::Admission, 400),
            (-32602, Stage::Handler, 200),
            (-32021, Stage::Handler, 400),
            (-32022, Stage::Admission, 400),
            (-32020, Stage::Admission, 400),
            (-32700, Stage::Admission, 400),
            (-32603, Stage::Admission, 500),
            (-32603, Stage::Handler, 200),
            (-1, Stage::Handler, 200),
            // Codes of old libraries and early drafts, which have no status.
            (-32000, Stage::Handler, 200),
            (-32001, Stage::Handler, 200),
            (-32003, Stage::Handler, 200),
            (-32004, Stage::Handler, 200),
        ];
        for (code, stage, expected) in rows {
            let status = status_of(ErrorCode(code), stage);
            assert_eq!(status.as_u16(), expected, "{code} {stage:?}");
        }
    }
}
