//! The id in a text that is not a message, for the call that the text answers.

use super::RequestId;
use super::depth::string_end;

/// The id of the call that a malformed text answers. None unless the text is an object with exactly
/// one id and no method, and has a result or an error or is complete.
///
/// The text need not be JSON, nor UTF-8: only its own members are read, by quotes and brackets.
pub(super) fn answered_id(text: &[u8]) -> Option<RequestId> {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if text.get(start) != Some(&b'{') {
        return None;
    }
    let mut members = Members::default();
    let is_complete = members.read(text, start + 1);
    let is_answer = !members.has_method && (members.has_body || is_complete);
    members.id.filter(|_| is_answer && members.ids == 1)
}

/// Members found in the outermost object.
#[derive(Default)]
struct Members {
    ids: usize,
    id: Option<RequestId>,
    has_method: bool,
    has_body: bool,
}

impl Members {
    /// Reads members from `at`; returns true if the object ends.
    fn read(&mut self, text: &[u8], mut at: usize) -> bool {
        // The name of the member that is being read, and where its value begins.
        let (mut name, mut value) = (None, None);
        let mut depth = 1_usize;
        while let Some(byte) = text.get(at) {
            match byte {
                b'"' => {
                    let end = string_end(text, at + 1);
                    if depth == 1 && value.is_none() {
                        name = text.get(at + 1..end);
                    }
                    at = end;
                }
                b':' if depth == 1 && value.is_none() => {
                    self.note(name);
                    value = Some(at + 1);
                }
                b',' if depth == 1 => self.end(name.take(), value.take(), text, at),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.end(name, value, text, at);
                return true;
            }
            at += 1;
        }
        false
    }

    fn note(&mut self, name: Option<&[u8]>) {
        match name {
            Some(b"id") => self.ids += 1,
            Some(b"method") => self.has_method = true,
            Some(b"result" | b"error") => self.has_body = true,
            _ => {}
        }
    }

    fn end(&mut self, name: Option<&[u8]>, value: Option<usize>, text: &[u8], end: usize) {
        if name == Some(b"id") {
            let value = value.and_then(|start| text.get(start..end));
            let value = value.and_then(|value| std::str::from_utf8(value).ok());
            self.id = value.and_then(RequestId::from_json);
        }
    }
}
