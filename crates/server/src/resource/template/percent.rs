//! Percent-encoding, and decoding exactly once.

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Which characters are written as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unescaped {
    /// Letters, digits and `-._~`.
    Unreserved,
    /// Also the reserved characters, and what is encoded already.
    Reserved,
}

/// Appends a text, encoded.
pub(super) fn encode_into(out: &mut String, text: &str, keep: Unescaped) {
    for (at, byte) in text.bytes().enumerate() {
        let stays = match keep {
            Unescaped::Unreserved => is_unreserved(byte),
            Unescaped::Reserved => {
                is_unreserved(byte) || is_reserved(byte) || is_triplet(&text.as_bytes()[at..])
            }
        };
        if stays {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 0xF)]));
        }
    }
}

/// Returns a text in which everything but unreserved characters is encoded.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    encode_into(&mut encoded, text, Unescaped::Unreserved);
    encoded
}

/// Decodes a text once. `None` if an escape is broken, or the bytes are not text.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

fn is_triplet(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if digit(*high).is_some() && digit(*low).is_some())
}
