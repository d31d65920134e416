//! Values of flags.

use std::time::Duration;

use pintle::auth::Secret;
use pintle::model::{LoggingLevel, Revision};

/// A time: `30`, `30s`, `1.5s`, `500ms`, `2m`, `1h`.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 30s, 500ms or 2m".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "expected a number and a unit, such as 30s")?;
    match Duration::try_from_secs_f64(number * unit) {
        Ok(time) if time.is_zero() => Err("the time has to be longer than zero".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

/// A size in bytes: `4096`, `10kB`, `256MiB`, `1GB`.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit {
        "" | "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("expected a size such as 500kB, 10MB or 1GiB".to_owned()),
    };
    let size = number
        .parse()
        .ok()
        .and_then(|number: u64| number.checked_mul(unit));
    match size {
        Some(size) if size > 0 => Ok(size),
        _ => Err("expected a size from 1 byte, such as 10MB".to_owned()),
    }
}

/// `NAME=VALUE`.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    split(text, '=').ok_or_else(|| "expected NAME=VALUE".to_owned())
}

/// `NAME=VALUE`, or `NAME` for a variable with its value in this process.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    if text.contains('=') {
        return pair(text);
    }
    match std::env::var(text) {
        Ok(value) => Ok((text.to_owned(), value)),
        Err(_) => Err("expected NAME=VALUE, or the NAME of a variable that is set here".to_owned()),
    }
}

/// `NAME=VALUE`, or `NAME` for a reference to a variable.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn reference(text: &str) -> Result<(String, Option<Secret>), String> {
    let (name, value) = match split(text, '=') {
        Some((name, value)) => (name, Some(value.into())),
        None => (text.to_owned(), None),
    };
    match name.is_empty() || name.contains(['=', '\0']) {
        true => Err("expected NAME=VALUE, or the NAME of a variable".to_owned()),
        false => Ok((name, value)),
    }
}

/// The name of a variable: ASCII letters, digits and `_`, without a digit at its beginning.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn name(text: &str) -> Result<String, String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = |byte: u8| !byte.is_ascii_digit();
    match text.bytes().next().is_some_and(begins) && text.bytes().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err("expected the NAME of a variable".to_owned()),
    }
}

/// An http or https URL.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn web_url(text: &str) -> Result<String, String> {
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    match rest.is_some_and(|rest| !rest.is_empty()) && !text.contains(char::is_whitespace) {
        true => Ok(text.to_owned()),
        false => Err("expected an http or https URL".to_owned()),
    }
}

/// `NAME:VALUE`, with blanks around the value or not.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(super) fn header(text: &str) -> Result<(String, Secret), String> {
    let (name, value) = split(text, ':').ok_or("expected NAME:VALUE")?;
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if !name.chars().all(is_token) {
        return Err("the name of the header has a character that is not allowed".to_owned());
    }
    match value.contains(|c: char| c.is_control() && c != '\t') {
        true => {
            Err("the value of the header has more than one line or a control character".to_owned())
        }
        false => Ok((name, value.trim().into())),
    }
}

fn split(text: &str, separator: char) -> Option<(String, String)> {
    let (name, value) = text.split_once(separator)?;
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// A revision by its date.
///
/// # Errors
///
/// A text for the user with the known values.
pub(super) fn revision(text: &str) -> Result<Revision, String> {
    text.parse().map_err(|_| {
        let revisions: Vec<String> = Revision::legacy()
            .chain(Revision::modern())
            .map(|revision| revision.to_string())
            .collect();
        format!("expected one of {}", revisions.join(", "))
    })
}

/// A level of log messages.
///
/// # Errors
///
/// A text for the user with the known values.
pub(super) fn level(text: &str) -> Result<LoggingLevel, String> {
    match LoggingLevel::from(text) {
        LoggingLevel::Unknown(_) => Err(
            "expected debug, info, notice, warning, error, critical, alert or emergency".to_owned(),
        ),
        level => Ok(level),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = [
            ("1", 1),
            ("10MB", 10_000_000),
            ("2KiB", 2048),
            ("1GiB", 1 << 30),
        ];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Ok(bytes));
        }
        for wrong in ["", "0", "MB", "1mb", "-1", "1.5MB", "99999999999GB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        for (text, millis) in [
            ("30", 30_000),
            ("30s", 30_000),
            ("500ms", 500),
            ("1.5s", 1_500),
            ("2m", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "s",
            "0",
            "-1s",
            "1d",
            "1.2.3s",
            "1e400",
            "99999999999999999999h",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn headers_are_one_line() {
        let (name, value) = header("Authorization: Bearer a:b").expect("a header");
        assert_eq!(name, "Authorization");
        assert!(value.is("Bearer a:b"));
        for text in ["", ":", "a", "a b: c", "a: b\r\nc: d", "a: \u{7f}"] {
            assert!(header(text).is_err(), "{text}");
        }
    }
}
