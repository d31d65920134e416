//! Requests in the form in which they arrive.

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

/// A request that has arrived.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// The HTTP method: `POST`, `GET` or `DELETE`.
    pub verb: String,
    /// The path and the query.
    pub target: String,
    /// The headers in order, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; bytes that are not UTF-8 are replaced.
    pub body: String,
    /// The time at which the request was complete.
    pub at: Instant,
}

impl SeenRequest {
    /// The value of a header; its name is in lower case.
    ///
    /// # Panics
    ///
    /// If the request has it twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(own, _)| own == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} occurs twice");
        value
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The id of the message in the body.
    pub fn id(&self) -> Value {
        self.json()["id"].clone()
    }

    /// The method of the message in the body; empty if the body has no method.
    pub fn method(&self) -> String {
        let message = self.json();
        message["method"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns true if the request is a POST of this method of MCP.
    pub fn is(&self, method: &str) -> bool {
        self.verb == "POST" && self.method() == method
    }
}

/// Reads the next request; none at the end of the connection, or if the request is invalid.
pub(super) async fn request(
    stream: &mut (impl AsyncRead + Unpin),
    unread: &mut Vec<u8>,
) -> Option<SeenRequest> {
    let head = until(stream, unread, b"\r\n\r\n").await?;
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let mut line = lines.next()?.split(' ');
    let (verb, target) = (line.next()?.to_owned(), line.next()?.to_owned());
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<_> = pairs
        .map(|(name, value)| {
            let value = value.strip_prefix(' ').unwrap_or(value);
            (name.to_ascii_lowercase(), value.to_owned())
        })
        .collect();
    let of = |name: &str| headers.iter().find(|(own, _)| own == name);
    let body = match (of("transfer-encoding"), of("content-length")) {
        (Some(_), _) => chunked(stream, unread).await?,
        (None, Some((_, length))) => exactly(stream, unread, length.trim().parse().ok()?).await?,
        (None, None) => Vec::new(),
    };
    Some(SeenRequest {
        verb,
        target,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
        at: Instant::now(),
    })
}

async fn chunked(stream: &mut (impl AsyncRead + Unpin), unread: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = until(stream, unread, b"\r\n").await?;
        let line = String::from_utf8(line).ok()?;
        let length = line.split(';').next()?.trim();
        let length = usize::from_str_radix(length, 16).ok()?;
        let chunk = exactly(stream, unread, length.checked_add(2)?).await?;
        body.extend(&chunk[..length]);
        if length == 0 {
            return Some(body);
        }
    }
}

/// Reads up to `mark`, and returns everything including it.
async fn until(
    stream: &mut (impl AsyncRead + Unpin),
    unread: &mut Vec<u8>,
    mark: &[u8],
) -> Option<Vec<u8>> {
    loop {
        if let Some(at) = unread.windows(mark.len()).position(|some| some == mark) {
            return Some(unread.drain(..at + mark.len()).collect());
        }
        if stream.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    }
}

async fn exactly(
    stream: &mut (impl AsyncRead + Unpin),
    unread: &mut Vec<u8>,
    length: usize,
) -> Option<Vec<u8>> {
    while unread.len() < length {
        if stream.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    }
    Some(unread.drain(..length).collect())
}

#[cfg(test)]
mod tests {
    use super::request;

    #[tokio::test]
    async fn requests_are_read_in_order_with_a_length_or_with_chunks() {
        let mut sent: &[u8] = b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\n\r\n\
            {\"method\":\"a\"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
            8;x=y\r\n{\"method\r\n6\r\n\":\"b\"}\r\n0\r\n\r\nGET /mcp?a=b HTTP/1.1\r\n\r\nPOST /";
        let mut unread = Vec::new();

        let first = request(&mut sent, &mut unread).await.expect("one");
        assert_eq!(first.body, "{\"method\":\"a\"");
        assert_eq!(first.header("host"), Some("a"));
        let second = request(&mut sent, &mut unread).await.expect("another");
        assert!(second.is("b"), "{second:?}");
        let third = request(&mut sent, &mut unread).await.expect("a third");
        assert_eq!(
            (third.verb.as_str(), third.target.as_str()),
            ("GET", "/mcp?a=b")
        );
        assert!(
            request(&mut sent, &mut unread).await.is_none(),
            "half of one"
        );
    }
}
