//! Cutting the content of one result.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// A result whose content is cut.
pub(super) struct Cut<'a> {
    uri: &'a str,
    /// Bytes that may still be kept.
    room: usize,
    kept: Vec<Box<RawValue>>,
    rest: Rest,
}

/// The content that a result has no room for, as contents of a resource.
#[derive(Default)]
pub(super) struct Rest {
    pub(super) contents: Vec<Value>,
    pub(super) bytes: usize,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default, rename = "mimeType")]
    mime_type: Option<String>,
    #[serde(default)]
    resource: Option<Value>,
}

impl<'a> Cut<'a> {
    pub(super) fn new(room: usize, uri: &'a str) -> Self {
        Self {
            uri,
            room,
            kept: Vec::new(),
            rest: Rest::default(),
        }
    }

    /// Adds a block of content. A text that has no room is split; other blocks are kept or left out.
    pub(super) fn add(&mut self, raw: &RawValue) -> Result<(), serde_json::Error> {
        if let Some(room) = self.room.checked_sub(raw.get().len()) {
            self.room = room;
            self.kept.push(raw.to_owned());
            return Ok(());
        }
        let block: Block = serde_json::from_str(raw.get())?;
        match (&*block.r#type, block.text, block.data, block.resource) {
            ("text", Some(text), ..) => self.split(raw, &text)?,
            ("image" | "audio", _, Some(data), _) => {
                let mime_type = block.mime_type.unwrap_or_default();
                self.leave(
                    json!({ "uri": self.uri, "mimeType": mime_type, "blob": data }),
                    data.len(),
                );
            }
            ("resource", .., Some(resource)) => self.leave(resource, raw.get().len()),
            _ => self.leave_json(raw.get()),
        }
        Ok(())
    }

    /// Returns true if the structured content has room; otherwise it is left out.
    pub(super) fn add_structured(&mut self, json: &str) -> bool {
        if let Some(room) = self.room.checked_sub(json.len()) {
            self.room = room;
            return true;
        }
        self.leave_json(json);
        false
    }

    /// Keeps the beginning of a text, and leaves the rest of it out.
    fn split(&mut self, raw: &RawValue, text: &str) -> Result<(), serde_json::Error> {
        let (head, tail) = text.split_at(fitting(text, self.room));
        self.room = 0;
        if tail.is_empty() {
            self.kept.push(raw.to_owned());
            return Ok(());
        }
        if !head.is_empty() {
            let mut block: Value = serde_json::from_str(raw.get())?;
            block["text"] = head.into();
            self.kept.push(to_raw_value(&block)?);
        }
        self.leave(
            json!({ "uri": self.uri, "mimeType": "text/plain", "text": tail }),
            tail.len(),
        );
        Ok(())
    }

    fn leave_json(&mut self, text: &str) {
        self.leave(
            json!({ "uri": self.uri, "mimeType": "application/json", "text": text }),
            text.len(),
        );
    }

    fn leave(&mut self, contents: Value, bytes: usize) {
        self.rest.contents.push(contents);
        self.rest.bytes += bytes;
    }

    /// Returns the blocks that are kept, and the rest if there is one.
    pub(super) fn finish(self) -> (Vec<Box<RawValue>>, Option<Rest>) {
        let rest = Some(self.rest).filter(|rest| !rest.contents.is_empty());
        (self.kept, rest)
    }
}

impl Rest {
    /// Returns the blocks that report the cut: a text, and a link to the rest if it is stored at a URI.
    pub(super) fn note(
        &self,
        most: usize,
        uri: Option<&str>,
    ) -> Result<Vec<Box<RawValue>>, serde_json::Error> {
        let bytes = self.bytes;
        let Some(uri) = uri else {
            let text =
                format!("[The result was cut at {most} bytes. The other {bytes} bytes are lost.]");
            return Ok(vec![to_raw_value(
                &json!({ "type": "text", "text": text }),
            )?]);
        };
        let text = format!(
            "[The result was cut at {most} bytes. The resource {uri} has the other {bytes} bytes.]"
        );
        let link = json!({
            "type": "resource_link",
            "uri": uri,
            "name": "remainder",
            "description": "The part of the result that was cut off",
            "size": bytes,
        });
        let note = json!({ "type": "text", "text": text });
        Ok(vec![to_raw_value(&note)?, to_raw_value(&link)?])
    }
}

/// Returns the largest length of a beginning of the text that has at most `room` bytes as JSON.
fn fitting(text: &str, room: usize) -> usize {
    let mut left = room;
    let mut end = 0;
    for character in text.chars() {
        let bytes = match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            character => character.len_utf8(),
        };
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => return end,
        }
        end += character.len_utf8();
    }
    end
}
