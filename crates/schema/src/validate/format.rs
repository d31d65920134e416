//! The formats that can be enforced. Each is a short reading of its RFC, never stricter than it.

/// A format that is enforced when asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    /// The format of this name, if it is enforced.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    /// Returns the noun for a text of this format, to follow "a string that is".
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "a URI with its scheme",
            Self::Date => "a date such as 2025-11-25",
            Self::DateTime => "a date and time such as 2025-11-25T09:30:00Z",
        }
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
    let is_dotted = |part: &str| !part.split('.').any(str::is_empty);
    is_dotted(domain) && (is_dotted(local) || is_quoted(local)) && text.chars().all(is_plain)
}

/// A quoted local part may have dots in any place.
fn is_quoted(local: &str) -> bool {
    local.len() > 2 && local.starts_with('"') && local.ends_with('"')
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let is_allowed = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(is_scheme)
        && rest.chars().all(is_allowed)
        && has_whole_escapes(rest)
}

fn has_whole_escapes(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).all(is_hex)
}

fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = numbers(text, '-', [4, 2, 2]) else {
        return false;
    };
    (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return false;
    };
    let Some(zone_at) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (clock, zone) = time.split_at(zone_at);
    is_date(date) && is_clock(clock) && is_zone(zone)
}

fn is_clock(clock: &str) -> bool {
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    // A leap second is a second.
    let in_day = |[hour, minute, second]: [u32; 3]| hour < 24 && minute < 60 && second <= 60;
    is_fraction && numbers(whole, ':', [2, 2, 2]).is_some_and(in_day)
}

fn is_zone(zone: &str) -> bool {
    let Some(offset) = zone.strip_prefix(['+', '-']) else {
        return zone.eq_ignore_ascii_case("z");
    };
    numbers(offset, ':', [2, 2]).is_some_and(|[hour, minute]| hour < 24 && minute < 60)
}

/// Reads numbers of exactly these many digits.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *number = part
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(format: Format, right: &[&str], wrong: &[&str]) {
        for text in right {
            assert!(format.accepts(text), "{text}");
        }
        for text in wrong {
            assert!(!format.accepts(text), "{text}");
        }
    }

    #[test]
    fn a_date_is_a_day_that_exists() {
        sorted(
            Format::Date,
            &["2024-02-29", "2000-02-29", "0001-01-01"],
            &[
                "2023-02-29",
                "1900-02-29",
                "2024-13-01",
                "2024-1-01",
                "2024-01-01T",
                "",
                "+024-01-01",
            ],
        );
    }

    #[test]
    fn a_date_time_has_a_zone() {
        sorted(
            Format::DateTime,
            &[
                "2025-11-25T09:30:00Z",
                "2025-11-25t09:30:60.123+05:30",
                "2025-11-25T00:00:00-00:00",
            ],
            &[
                "2025-11-25T09:30:00",
                "2025-11-25 09:30:00Z",
                "2025-11-25T24:00:00Z",
                "2025-11-25T09:30:00.Z",
            ],
        );
    }

    #[test]
    fn a_uri_has_a_scheme() {
        sorted(
            Format::Uri,
            &["https://a.example/b?c#d", "urn:x", "file:///a%20b", "a:"],
            &["a", "/a", "1a:b", "a:b c", "a:%2", "a:é", "://"],
        );
    }

    #[test]
    fn an_email_address_has_two_sides() {
        sorted(
            Format::Email,
            &["a@b", "a+b@c.d", "ü@d", "a.b@c", "\"a..b\"@c"],
            &[
                "", "a", "@b", "a@", "a b@c", "a@b..c", ".a@b", "a.@b", "a..b@c", "\"\"\"@", "a@.b",
            ],
        );
    }
}
