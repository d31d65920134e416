//! `application/x-www-form-urlencoded`: bodies for endpoints, and queries of redirects.

/// Writes pairs of names and values.
#[cfg(feature = "client")]
pub(crate) fn write<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        if !text.is_empty() {
            text.push('&');
        }
        text.push_str(&encode(name));
        text.push('=');
        text.push_str(&encode(value));
    }
    text
}

/// Encodes one text.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Reads pairs of names and values; none when a name comes twice, or the text is broken.
#[cfg(feature = "client")]
pub(crate) fn read(text: &str) -> Option<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode(name)?;
        if pairs.iter().any(|(other, _)| *other == name) {
            return None;
        }
        pairs.push((name, decode(value)?));
    }
    Some(pairs)
}

#[cfg(feature = "client")]
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let value = digit()? * 16 + digit()?;
                u8::try_from(value).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use super::*;

    #[test]
    fn a_written_value_is_read_back() {
        let pairs = [("a b", "1&2=3"), ("\u{e4}", "%+"), ("x", "")];
        let text = write(pairs);
        assert_eq!(text, "a%20b=1%262%3D3&%C3%A4=%25%2B&x=");
        let read = read(&text).expect("pairs");
        let read: Vec<(&str, &str)> = read.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(read, pairs);
    }

    #[test]
    fn a_form_with_repeated_or_invalid_parameters_is_rejected() {
        for text in ["a=1&a=2", "a=%", "a=%4", "a=%zz", "a=%ff", "%61=1&a=2"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(
            read("a+b=c+d&&e"),
            Some(vec![
                ("a b".to_owned(), "c d".to_owned()),
                ("e".to_owned(), String::new()),
            ])
        );
    }
}
