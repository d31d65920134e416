//! Removes secrets from messages. The rest of a text stays byte for byte.
//!
//! A value is a secret by its name, such as `Authorization`, `OPENAI_API_KEY` or `password`. Other values are secrets
//! by their form: `Bearer …`, a JSON web token, or a key that starts with `sk-`. Invalid JSON is accepted.

use std::borrow::Cow;

/// Replaces a secret.
const REDACTED: &str = "[redacted]";
/// Minimum length of a text that is a secret by its beginning, in bytes.
const MIN_SECRET_BYTES: usize = 16;
/// Maximum depth of nested values whose names are known.
const MAX_DEPTH: usize = 256;

/// Parts of names of secrets, in lower case and without punctuation.
const PARTS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "signingkey",
];
/// Ends of such names.
const ENDS: [&str; 6] = [
    "token",
    "cookie",
    "credential",
    "credentials",
    "bearer",
    "pat",
];
/// Names that end like a secret.
const HARMLESS: [&str; 6] = [
    "progresstoken",
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "synctoken",
    "lasttoken",
];
/// Beginnings of well-known secrets.
const BEGINNINGS: [&str; 16] = [
    "sk-",
    "sk_",
    "rk_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "npm_",
    "AIza",
];

/// Replaces the secrets of a message, or of any other text.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut scan = Scan {
        text,
        copied: 0,
        out: String::new(),
        levels: Vec::new(),
        name_is_secret: false,
    };
    scan.run();
    match scan.copied {
        0 => Cow::Borrowed(text),
        copied => {
            scan.out.push_str(&text[copied..]);
            Cow::Owned(scan.out)
        }
    }
}

/// Returns true if a value of this name is a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if HARMLESS.contains(&name.as_str()) || name.ends_with("tokens") {
        return false;
    }
    PARTS.iter().any(|part| name.contains(part))
        || ENDS
            .iter()
            .any(|end| name == *end || (*end != "pat" && name.ends_with(end)))
}

/// Reads a text from its begin to its end, and copies it without secrets.
struct Scan<'a> {
    text: &'a str,
    /// The end of the part that is in `out`.
    copied: usize,
    out: String,
    /// For each open array or object: whether its values are secrets.
    levels: Vec<bool>,
    /// Whether the last name of a member was that of a secret.
    name_is_secret: bool,
}

impl Scan<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = match byte {
                b'"' => self.string(at),
                b'{' | b'[' => self.open(at, byte == b'['),
                b'}' | b']' => self.close(at),
                b',' => {
                    self.name_is_secret = self.levels.last() == Some(&true);
                    at + 1
                }
                b':' => at + 1,
                byte if byte.is_ascii_whitespace() => at + 1,
                _ => self.bare(at),
            };
        }
    }

    /// Begins an array, whose values are secrets if its name is one; or an object, whose members have own names.
    fn open(&mut self, at: usize, is_array: bool) -> usize {
        let is_secret = is_array && self.name_is_secret;
        if self.levels.len() < MAX_DEPTH {
            self.levels.push(is_secret);
        }
        self.name_is_secret = is_secret;
        at + 1
    }

    fn close(&mut self, at: usize) -> usize {
        self.levels.pop();
        self.name_is_secret = false;
        at + 1
    }

    /// Reads a string: the name of a member, or a value.
    fn string(&mut self, at: usize) -> usize {
        let (end, next) = string_end(self.text.as_bytes(), at + 1);
        let rest = self.text[next..].trim_start();
        if rest.starts_with(':') {
            self.name_is_secret = is_secret_name(&unescaped(&self.text[at..next]));
        } else if self.name_is_secret && end > at + 1 {
            self.replace(at + 1, end);
        } else {
            self.words(at + 1, end);
        }
        next
    }

    /// Reads a number, a literal, or words outside of a string.
    fn bare(&mut self, at: usize) -> usize {
        let is_end = |c: char| matches!(c, '"' | '{' | '}' | '[' | ']' | ',' | '\n');
        let length = self.text[at..].find(is_end).unwrap_or(self.text.len() - at);
        let end = at + length;
        let is_number = self.text[at..].starts_with(|c: char| c == '-' || c.is_ascii_digit());
        match self.name_is_secret && is_number && !self.levels.is_empty() {
            // A number has to stay a value of JSON.
            true => self.replace_by(at, end, "0"),
            false => self.words(at, end),
        }
        end.max(at + 1)
    }

    /// Replaces the secrets among the words of a text.
    fn words(&mut self, begin: usize, end: usize) {
        let text = &self.text[begin..end];
        let is_gap = |c: char| c.is_whitespace() || "\"'`,;&?<>()[]{}\\".contains(c);
        let mut scheme = false;
        // Whether the words before are a header such as `X-Api-Key:`, perhaps with a scheme.
        let mut follows_name = false;
        let mut at = 0;
        for word in text.split(is_gap) {
            let from = begin + at;
            at += word.len();
            at += text[at..].chars().next().map_or(0, char::len_utf8);
            if word.is_empty() {
                continue;
            }
            let is_scheme = ["bearer", "basic"]
                .iter()
                .any(|scheme| word.eq_ignore_ascii_case(scheme));
            let name = word
                .find('=')
                .filter(|&split| is_secret_name(&word[..split]));
            match name {
                Some(split) if split + 1 < word.len() => {
                    self.replace(from + split + 1, from + word.len());
                }
                _ if follows_name && !is_scheme => self.replace(from, from + word.len()),
                _ if is_secret_word(word) || (scheme && word.len() >= 8) => {
                    let skipped = word
                        .find('=')
                        .filter(|_| !scheme)
                        .map_or(0, |split| split + 1);
                    self.replace(from + skipped, from + word.len());
                }
                _ => {}
            }
            let is_name = word.strip_suffix(':').is_some_and(is_secret_name);
            follows_name = is_name || (follows_name && is_scheme);
            scheme = is_scheme;
        }
    }

    fn replace(&mut self, begin: usize, end: usize) {
        self.replace_by(begin, end, REDACTED);
    }

    fn replace_by(&mut self, begin: usize, end: usize, by: &str) {
        self.out.push_str(&self.text[self.copied..begin]);
        self.out.push_str(by);
        self.copied = end;
    }
}

/// Returns the end of the content of a string, and the position after its quote.
fn string_end(bytes: &[u8], mut at: usize) -> (usize, usize) {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return (at, at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    (bytes.len(), bytes.len())
}

fn unescaped(string: &str) -> Cow<'_, str> {
    match string.contains('\\') {
        true => serde_json::from_str(string).map_or(Cow::Borrowed(string), Cow::Owned),
        false => Cow::Borrowed(string),
    }
}

/// Whether a word is a secret by its form. The part after a `=` counts, too.
fn is_secret_word(word: &str) -> bool {
    let word = word.split_once('=').map_or(word, |(_, value)| value);
    if word.len() < MIN_SECRET_BYTES {
        return false;
    }
    let is_known = BEGINNINGS.iter().any(|begin| word.starts_with(begin));
    let is_jwt = word.starts_with("eyJ") && word.bytes().filter(|&byte| byte == b'.').count() >= 2;
    is_known || is_jwt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_the_name_of_a_secret_are_replaced() {
        for (text, redacted) in [
            (
                r#"{"Authorization":"Bearer abc","a":"b"}"#,
                r#"{"Authorization":"[redacted]","a":"b"}"#,
            ),
            (
                r#"{ "OPENAI_API_KEY" : "x\"y" }"#,
                r#"{ "OPENAI_API_KEY" : "[redacted]" }"#,
            ),
            (r#"{"\u0074oken":"x"}"#, r#"{"\u0074oken":"[redacted]"}"#),
            (
                r#"{"secrets":["a","b"],"c":"d"}"#,
                r#"{"secrets":["[redacted]","[redacted]"],"c":"d"}"#,
            ),
            (r#"{"password":1234,"n":1}"#, r#"{"password":0,"n":1}"#),
            (r#"{"token":"cut off"#, r#"{"token":"[redacted]"#),
        ] {
            assert_eq!(redact(text), redacted);
        }
    }

    #[test]
    fn secrets_within_a_text_are_replaced() {
        for (text, redacted) in [
            ("API_KEY=abc server", "API_KEY=[redacted] server"),
            (
                "https://x/y?token=abc&z=1",
                "https://x/y?token=[redacted]&z=1",
            ),
            (
                r#"{"text":"use sk-0123456789abcdef, please"}"#,
                r#"{"text":"use [redacted], please"}"#,
            ),
            (
                "Authorization: Bearer abcdefgh\n",
                "Authorization: Bearer [redacted]\n",
            ),
            ("KEY=ghp_0123456789abcdef", "KEY=[redacted]"),
            ("X-Api-Key: ab c", "X-Api-Key: [redacted] c"),
            (
                "authorization: bearer a b",
                "authorization: bearer [redacted] b",
            ),
        ] {
            assert_eq!(redact(text), redacted);
        }
    }

    #[test]
    fn other_text_stays_byte_for_byte() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1e400,"params":{"_meta":{"progressToken":"p"},"maxTokens":12}}"#,
            r#"{"properties":{"token":{"type":"string"}},"required":["token"]}"#,
            r#"{"cursor":"abc","nextCursor":"def", "x":[1,[2,{"y":null}]]}"#,
            "[redis] ready: ünïcode \\ \" {",
            "",
        ] {
            assert!(
                matches!(redact(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn a_redacted_message_is_the_same_kind_of_json() {
        let text = r#"{"token":["a",{"b":"c","secret":-1.5}],"d":true}"#;
        let redacted = redact(text);
        let value: serde_json::Value = serde_json::from_str(&redacted).expect("JSON");
        assert_eq!(value["token"][1]["b"], "c");
        assert_eq!(value["token"][1]["secret"], 0);
    }

    #[test]
    fn any_text_is_accepted() {
        for text in [
            "\"\\",
            "{\"token\":\"\\",
            "]]]]",
            "\"\u{e9}\\",
            "Bearer",
            "token=",
            "\u{1F600}=\"x",
        ] {
            let _ = redact(text);
        }
        let deep = "[".repeat(100_000);
        assert_eq!(redact(&deep), deep.as_str());
    }
}
