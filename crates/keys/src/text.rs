//! The form of a sealed text.

use std::sync::Arc;

use crate::error::{OpenError, SealError};
use crate::root_key::random_bytes;
use crate::secret::{RANDOM_BYTES, Secret, TAG_BYTES, Usage};

/// The form of a text; another one is not opened.
const FORM: u8 = 1;
/// Bytes of the number of a key.
const NUMBER_BYTES: usize = 4;
/// Bytes that a sealed text has more than its content.
pub(crate) const OVERHEAD_BYTES: usize = 1 + NUMBER_BYTES + RANDOM_BYTES + TAG_BYTES;

pub(crate) fn seal(
    secret: &Secret,
    usage: Usage,
    associated: &[u8],
    content: &[u8],
) -> Result<Vec<u8>, SealError> {
    let random = random_bytes()?;
    Ok(seal_with(secret, usage, &random, associated, content))
}

fn seal_with(
    secret: &Secret,
    usage: Usage,
    random: &[u8; RANDOM_BYTES],
    associated: &[u8],
    content: &[u8],
) -> Vec<u8> {
    // With room for all, because the contents of stores may be megabytes.
    let mut text = Vec::with_capacity(OVERHEAD_BYTES + content.len());
    text.push(FORM);
    text.extend_from_slice(&secret.number);
    text.extend_from_slice(random);
    let mut body = Vec::with_capacity(content.len() + TAG_BYTES);
    body.extend_from_slice(content);
    secret.seal(
        usage,
        random,
        &covered(secret.number, associated),
        &mut body,
    );
    text.append(&mut body);
    text
}

pub(crate) fn open(
    secrets: &[Arc<Secret>],
    usage: Usage,
    associated: &[u8],
    sealed: &[u8],
) -> Result<Vec<u8>, OpenError> {
    let (number, rest) = numbered(sealed).ok_or(OpenError::NotSealed)?;
    let (random, body) = rest.split_first_chunk().ok_or(OpenError::NotSealed)?;
    let covered = covered(number, associated);
    let mut error = OpenError::UnknownKey;
    // Two keys may have the same number.
    for secret in secrets.iter().filter(|secret| secret.number == number) {
        match secret.open(usage, random, &covered, body) {
            Ok(content) => return Ok(content),
            Err(changed) => error = changed,
        }
    }
    Err(error)
}

/// The number of the key of a text, and the text behind it.
pub(crate) fn numbered(sealed: &[u8]) -> Option<([u8; NUMBER_BYTES], &[u8])> {
    let (number, rest) = sealed.strip_prefix(&[FORM])?.split_first_chunk()?;
    Some((*number, rest))
}

/// The bytes that the tag covers besides the content.
fn covered(number: [u8; NUMBER_BYTES], associated: &[u8]) -> Vec<u8> {
    [&[FORM], number.as_slice(), associated].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::purpose::Purpose;
    use crate::root_key::RootKey;

    /// Texts of one root key, one for each usage, from an implementation in Python with the modules
    /// `hmac` and `cryptography`. Stored values must open in later versions, so the texts never change.
    const TAILS: [(Usage, &str); 7] = [
        (
            Usage::Purpose(Purpose::State),
            "2a255aadf647b86605faaf543ea19473e9885beb252f8a4c1bf4443f1ddcf992",
        ),
        (
            Usage::Purpose(Purpose::SessionId),
            "731cb2bb1946cd59b67fb4d72f1a1b69145ad1d612b9de45665543cefe35b47f",
        ),
        (
            Usage::Purpose(Purpose::Nonce),
            "683a7d9235697eb0bd8eee26e5cffa4d0f60795f7c481443764a364477447f7f",
        ),
        (
            Usage::Purpose(Purpose::Cursor),
            "cff1c27c9362813dcc0db4f52ddac94e6ffd6098e00dac93849e577ede7b4d77",
        ),
        (
            Usage::Purpose(Purpose::Message),
            "6d04f1d16c45c795d2c135747fe3e7700c1f699078639e36e96b3b623f12133d",
        ),
        (
            Usage::Purpose(Purpose::AtRest),
            "77342c0f11a219fbf4c19ea30c310898d7fa9c53760c8b26ea1766de53d2b75b",
        ),
        (
            Usage::Ring,
            "704b653acac2896450c686a002f3cd2b99fe0d2006ee55a1cd9aa881aacc88ed",
        ),
    ];

    const DATA: &[u8] = b"tools/call add";
    const CONTENT: &[u8] = b"the first answer";

    fn secret() -> Arc<Secret> {
        let root = RootKey::new(std::array::from_fn(|byte| byte as u8));
        Arc::new(Secret::derive(&root))
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_sealed_text_matches_another_implementation() {
        let random = std::array::from_fn(|byte| 100 + byte as u8);
        let head = "01c64478b36465666768696a6b6c6d6e6f707172737475767778797a7b";
        for (usage, tail) in TAILS {
            let text = seal_with(&secret(), usage, &random, DATA, CONTENT);
            assert_eq!(hex(&text), format!("{head}{tail}"), "{usage:?}");
            assert_eq!(text.len(), CONTENT.len() + OVERHEAD_BYTES);
            let opened = open(&[secret()], usage, DATA, &text);
            assert_eq!(opened.as_deref(), Ok(CONTENT));
        }
    }
}
