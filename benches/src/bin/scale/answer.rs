//! Checks of answers, which cost little beside the answers.

use std::io::BufRead;

use serde_json::Value;

use pintle_bench::process::Result;

use crate::row::Row;

/// Bytes at each end of an answer in which its members are looked for.
const END_BYTES: usize = 512;

/// The checks of one row. The first answer is read as JSON, and each later one has its size.
#[derive(Debug)]
pub(crate) struct Checks {
    row: Row,
    length: Option<usize>,
}

impl Checks {
    pub(crate) fn new(row: Row) -> Self {
        Self { row, length: None }
    }

    /// Checks the answer to the request with this id.
    pub(crate) fn check(&mut self, id: u64, answer: &[u8]) -> Result<()> {
        let answer = answer.trim_ascii();
        let is_right = match self.length {
            Some(length) => {
                answer.len() == length && id_of(answer) == Some(id) && !is_error(answer)
            }
            None => self.is_right(id, answer),
        };
        if !is_right {
            let start = &answer[..answer.len().min(300)];
            let text = String::from_utf8_lossy(start);
            return Err(format!(
                "the answer to {id} is wrong, {} bytes: {text}",
                answer.len()
            )
            .into());
        }
        self.length = Some(answer.len());
        Ok(())
    }

    fn is_right(&self, id: u64, answer: &[u8]) -> bool {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        let result = &answer["result"];
        answer["id"] == id && result["isError"] != true && self.row.is_result(result)
    }
}

/// The message in a body: the body, or the first event of a stream that has one.
pub(crate) fn message(body: &[u8], is_stream: bool) -> Result<&[u8]> {
    if !is_stream {
        return Ok(body);
    }
    // An event without a message may come first, and its data is empty.
    let event = after(body, b"data: {\"jsonrpc\"").ok_or("a stream without a message")?;
    let start = body.len() - event.len() - b"{\"jsonrpc\"".len();
    // The reader searches for the end faster than an iterator does.
    let length = (&body[start..]).skip_until(b'\n')?;
    Ok(&body[start..start + length])
}

/// The id of an answer. The text of a result cannot contain it, because its quotes are escaped.
pub(crate) fn id_of(answer: &[u8]) -> Option<u64> {
    let after = at_ends(answer, b"\"id\":")?;
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit());
    digits
        .map(|digit| u64::from(digit - b'0'))
        .reduce(|id, digit| id * 10 + digit)
}

/// Returns true for a result with an error of the tool. An error of the protocol has another size.
fn is_error(answer: &[u8]) -> bool {
    at_ends(answer, b"\"isError\":true").is_some()
}

/// Returns the bytes after a text that is near the start or the end of an answer.
fn at_ends<'a>(answer: &'a [u8], text: &[u8]) -> Option<&'a [u8]> {
    let first = &answer[..answer.len().min(END_BYTES)];
    let last = &answer[answer.len().saturating_sub(END_BYTES)..];
    after(first, text).or_else(|| after(last, text))
}

fn after<'a>(bytes: &'a [u8], text: &[u8]) -> Option<&'a [u8]> {
    let at = bytes
        .windows(text.len())
        .position(|window| window == text)?;
    Some(&bytes[at + text.len()..])
}
