//! Percent encoding of arguments for URLs.

/// Encodes a text for a segment of a path, or a part of a query. Every reserved character is encoded, because an argument of a
/// model must not begin another segment or another parameter.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            encoded.push('%');
            encoded.extend([byte >> 4, byte & 15].map(digit));
        }
    }
    encoded
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_characters_are_encoded() {
        assert_eq!(encode("a b/c?d=é&#%"), "a%20b%2Fc%3Fd%3D%C3%A9%26%23%25");
        assert_eq!(encode("A-z_0.9~"), "A-z_0.9~");
    }
}
