//! Binary data in JSON.

use crate::read::{Read, ReadError, Source, deserialize_by_read, read_text};
use std::fmt;
use std::sync::{Arc, LazyLock};

use ::base64::alphabet;
use ::base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use ::base64::engine::{DecodePaddingMode, Engine};
use bytes::Bytes;
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Bytes as base64 text: written with the standard alphabet and padding, read in any flavour.
///
/// The text is stored in its wire form, quotes included, so that a megabyte of it is written
/// without a check. It is decoded on request; only then an invalid text is an error. Clones share
/// the text.
#[derive(Clone)]
pub struct Base64(Arc<Text>);

struct Text(Box<RawValue>);

/// The JSON text of a base64, as the owner of bytes.
struct Shared(Arc<Text>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.0.get().as_bytes()
    }
}

/// Marks the place of a base64 in a JSON text. Writers put line ends neither into texts nor between values.
static MARK: LazyLock<Base64> = LazyLock::new(|| {
    let mark = str::from_utf8(Base64::MARK).expect("the mark is ASCII");
    Base64::of(RawValue::from_string(mark.to_owned()).expect("the mark is JSON"))
});

/// Base64 of so many bytes leaves without being copied into the message.
const LARGE: usize = 16 << 10;

impl Base64 {
    /// Encodes bytes.
    pub fn encode(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        let mut quoted = String::with_capacity(bytes.len().div_ceil(3) * 4 + 2);
        quoted.push('"');
        STANDARD.encode_string(bytes, &mut quoted);
        quoted.push('"');
        Self::of(RawValue::from_string(quoted).expect("base64 needs no escapes"))
    }

    /// Wraps text that is already base64.
    pub fn from_text(text: &str) -> Self {
        let quoted = if memchr::memchr(b'\\', text.as_bytes()).is_some() {
            escaped(text)
        } else {
            let mut quoted = String::with_capacity(text.len() + 2);
            quoted.push('"');
            quoted.push_str(text);
            quoted.push('"');
            quoted
        };
        let raw = RawValue::from_string(quoted).or_else(|_| RawValue::from_string(escaped(text)));
        Self::of(raw.expect("an escaped string is JSON"))
    }

    fn of(raw: Box<RawValue>) -> Self {
        Self(Arc::new(Text(raw)))
    }

    fn quoted(&self) -> &RawValue {
        &self.0.0
    }

    /// The JSON text of a mark.
    pub(crate) const MARK: &[u8] = b"[\n]";

    /// Replaces the base64 by a mark until it is set again.
    pub(crate) fn replace_by_mark(&mut self) -> Self {
        std::mem::replace(self, MARK.clone())
    }

    /// Returns the JSON text, which shares the memory of the base64.
    pub(crate) fn into_json(self) -> Bytes {
        Bytes::from_owner(Shared(self.0))
    }

    /// Returns true if the base64 is worth not being copied. The mark of such a base64 is, too.
    pub(crate) fn is_large(&self) -> bool {
        self.quoted().get().len() >= LARGE || Arc::ptr_eq(&self.0, &MARK.0)
    }

    /// The text, as it stands between the quotes on the wire.
    pub fn as_str(&self) -> &str {
        let quoted = self.quoted().get();
        quoted
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or_default()
    }

    /// Returns the number of bytes without decoding. Exact if the text is base64.
    pub fn decoded_len(&self) -> usize {
        let digits = self.as_str().trim_end_matches('=').len();
        digits / 4 * 3 + digits % 4 * 3 / 4
    }

    /// Decodes the data: standard or URL-safe alphabet, padded or not.
    ///
    /// # Errors
    ///
    /// [`Base64Error`] when the text is something else.
    pub fn decode(&self) -> Result<Vec<u8>, Base64Error> {
        let text = self.as_str();
        let is_url_safe = memchr::memchr2(b'-', b'_', text.as_bytes()).is_some();
        let engine = if is_url_safe { &URL_SAFE } else { &ANY_PADDING };
        engine.decode(text).map_err(Base64Error)
    }
}

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const ANY_PADDING: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

fn escaped(text: &str) -> String {
    serde_json::to_string(text).expect("text is always JSON")
}

errors! {
    /// The text of a [`Base64`] is not base64.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Base64Error(error: ::base64::DecodeError)
        => "the peer sent binary data that is not base64" (source: error);
}

impl PartialEq for Base64 {
    fn eq(&self, other: &Self) -> bool {
        self.quoted().get() == other.quoted().get()
    }
}

impl Eq for Base64 {}

impl fmt::Debug for Base64 {
    /// Shows the length of the data and hides its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} bytes)", self.decoded_len())
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.quoted().serialize(serializer)
    }
}

impl Read for Base64 {
    // By way of text and not of `RawValue`: that one can be read from JSON only, not from what
    // serde has buffered.
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read_text(source, "base64 text", |text| Self::from_text(&text))
    }
}

deserialize_by_read!(Base64);

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 AMB-67
    #[test]
    fn every_flavour_is_read() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(
                Base64::from_text(text).decode().unwrap(),
                [0xfb, 0xff],
                "{text}"
            );
        }
    }

    // spec: 2025-11-25 AMB-67, RES-19
    // spec: 2026-07-28 N-PROMPT-06
    #[test]
    fn the_standard_flavour_is_written() {
        let data = Base64::encode([0xfb, 0xff]);

        assert_eq!(serde_json::to_string(&data).unwrap(), "\"+/8=\"");
        assert_eq!(data.decode().unwrap(), [0xfb, 0xff]);
        assert_eq!(data.decoded_len(), 2);
        assert_eq!(format!("{data:?}"), "Base64(2 bytes)");
        assert_eq!(Base64::encode([]).as_str(), "");
    }

    // spec: 2025-11-25 AMB-67
    #[test]
    fn other_text_survives_and_fails_when_it_is_decoded() {
        for text in [
            "not base64!",
            "quo\"te",
            "back\\slash",
            "\\n",
            "line\nbreak",
            "\"",
            "\u{1}",
            "é",
        ] {
            let wire = serde_json::to_string(text).unwrap();
            let data: Base64 = serde_json::from_str(&wire).unwrap();

            let back: String =
                serde_json::from_str(&serde_json::to_string(&data).unwrap()).unwrap();
            assert_eq!(back, text);
            assert!(data.decode().is_err(), "{text}");
        }
    }
}
