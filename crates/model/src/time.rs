//! Points in time and spans of time on the wire.
//!
//! Points are RFC 3339 text and stay text, so that what we cannot read survives; spans are
//! [`Duration`] in Rust and whole milliseconds in JSON. Nothing here reads a clock.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::read::as_inner;

/// A point in time, as the peer wrote it.
///
/// Equality is equality of the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Timestamp(Box<str>);

as_inner!(Timestamp(Box<str>));

impl Timestamp {
    /// Stores the text unchanged; [`Timestamp::to_system_time`] returns `None` if it is not an
    /// instant.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The instant, or `None` when the text is not RFC 3339 or lies before 1970.
    pub fn to_system_time(&self) -> Option<SystemTime> {
        parse::instant(&self.0)
    }
}

impl From<SystemTime> for Timestamp {
    /// Writes UTC with `Z` and milliseconds. Instants before 1970 become 1970.
    fn from(instant: SystemTime) -> Self {
        let since = instant.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = since.as_secs();
        let (year, month, day) = civil::date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let millis = since.subsec_millis();
        Self::new(format!(
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        ))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Timestamp {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// A `Duration` that may be missing or null, as a number of milliseconds.
pub(crate) mod optional_millis {
    use super::Duration;
    use crate::read::{ReadError, Source};

    /// Writes whole milliseconds, or null.
    ///
    /// # Errors
    ///
    /// The errors of the serializer.
    /// Writes a span that is present.
    pub(crate) fn write(span: &Duration) -> u64 {
        super::whole_millis(*span)
    }

    /// Writes a span, or null.
    pub(crate) fn write_optional(span: &Option<Duration>) -> Option<u64> {
        span.as_ref().map(write)
    }

    /// Reads a span that may be missing or null.
    pub(crate) fn read(source: &mut dyn Source<'_>) -> Result<Option<Duration>, ReadError> {
        Ok(crate::number::optional_whole(source)?.map(Duration::from_millis))
    }
}

/// Milliseconds, capped at what a `u64` holds.
pub(crate) fn whole_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Days since 1970 and dates, in the proleptic Gregorian calendar.
///
/// The arithmetic counts in eras of 400 years that begin on 1 March, so that the leap day is
/// the last day of a year.
mod civil {
    const DAYS_PER_ERA: u64 = 146_097;
    const DAYS_TO_EPOCH: u64 = 719_468;

    pub(super) fn date(days_since_epoch: u64) -> (u64, u64, u64) {
        let days = days_since_epoch + DAYS_TO_EPOCH;
        let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = (shifted_month + 2) % 12 + 1;
        (year_of_era + era * 400 + u64::from(month <= 2), month, day)
    }

    /// `None` before 1970.
    pub(super) fn days_since_epoch(year: u64, month: u64, day: u64) -> Option<u64> {
        let year = if month <= 2 {
            year.checked_sub(1)?
        } else {
            year
        };
        let shifted_month = (month + 9) % 12;
        let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
        let year_of_era = year % 400;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        (year / 400 * DAYS_PER_ERA + day_of_era).checked_sub(DAYS_TO_EPOCH)
    }

    pub(super) fn days_in(year: u64, month: u64) -> u64 {
        let is_leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        match month {
            2 => 28 + u64::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }
}

/// RFC 3339 text to an instant.
mod parse {
    use super::{Duration, SystemTime, UNIX_EPOCH, civil};

    pub(super) fn instant(text: &str) -> Option<SystemTime> {
        let (date, rest) = text.split_at_checked(10)?;
        let (clock, rest) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
        let (nanos, zone) = fraction(rest)?;
        let local = Duration::new(day(date)? * 86_400 + seconds_of_day(clock)?, nanos);
        match offset(zone)? {
            Offset::East(span) => UNIX_EPOCH.checked_add(local.checked_sub(span)?),
            Offset::West(span) => UNIX_EPOCH.checked_add(local.checked_add(span)?),
        }
    }

    fn day(date: &str) -> Option<u64> {
        let (year, rest) = date.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
        let is_real = (1..=12).contains(&month) && (1..=civil::days_in(year, month)).contains(&day);
        is_real.then(|| civil::days_since_epoch(year, month, day))?
    }

    fn seconds_of_day(clock: &str) -> Option<u64> {
        let (hour, rest) = clock.split_once(':')?;
        let (minute, second) = rest.split_once(':')?;
        let (hour, minute, second) = (digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?);
        // A leap second is 60; it is read as the second that follows.
        (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
    }

    /// Reads nanoseconds and returns the rest; digits beyond the ninth are dropped.
    fn fraction(rest: &str) -> Option<(u32, &str)> {
        let Some(fraction) = rest.strip_prefix('.') else {
            return Some((0, rest));
        };
        let end = fraction.find(|c: char| !c.is_ascii_digit())?;
        let (digits, zone) = fraction.split_at(end);
        let kept = digits.get(..9).unwrap_or(digits);
        let value: u32 = kept.parse().ok()?;
        Some((
            value * 10_u32.pow(9 - u32::try_from(kept.len()).ok()?),
            zone,
        ))
    }

    /// How far local time is from UTC.
    enum Offset {
        East(Duration),
        West(Duration),
    }

    fn offset(zone: &str) -> Option<Offset> {
        if zone.eq_ignore_ascii_case("z") {
            return Some(Offset::East(Duration::ZERO));
        }
        let (sign, clock) = zone.split_at_checked(1)?;
        let (hours, minutes) = clock.split_once(':')?;
        let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
        let span = Duration::from_secs((hours * 60 + minutes) * 60);
        match sign {
            _ if hours > 23 || minutes > 59 => None,
            "+" => Some(Offset::East(span)),
            "-" => Some(Offset::West(span)),
            _ => None,
        }
    }

    fn digits(text: &str, count: usize) -> Option<u64> {
        let is_number = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| text.parse().ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        let instant = Timestamp::new(text).to_system_time()?;
        Some(instant.duration_since(UNIX_EPOCH).unwrap().as_secs())
    }

    // spec: 2025-11-25 AMB-68, RES-09
    #[test]
    fn any_rfc_3339_instant_is_read() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2025-11-25T10:30:00Z"), Some(1_764_066_600));
        assert_eq!(
            seconds("2025-11-25T11:30:00.123456789123+01:00"),
            Some(1_764_066_600)
        );
        assert_eq!(seconds("2025-11-25 05:30:00-05:00"), Some(1_764_066_600));
        assert_eq!(seconds("2024-02-29t23:59:60z"), Some(1_709_251_200));
    }

    // spec: 2025-11-25 AMB-68
    #[test]
    fn other_text_is_kept_but_has_no_instant() {
        for text in [
            "yesterday",
            "2025-02-29T00:00:00Z",
            "2025-11-25",
            "2025-11-25T10:30:00",
            "",
            "é",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
        let text: Timestamp = serde_json::from_str("\"yesterday\"").unwrap();
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"yesterday\"");
    }

    // spec: 2025-11-25 AMB-68
    #[test]
    fn instants_are_written_in_utc_and_read_back() {
        for secs in [0, 951_782_399, 951_782_400, 1_764_066_600, 4_102_444_799] {
            let instant = UNIX_EPOCH + Duration::from_millis(secs * 1000 + 42);
            let text = Timestamp::from(instant);
            assert!(text.as_str().ends_with(".042Z"));
            assert_eq!(text.to_system_time(), Some(instant), "{text}");
        }
        let leap_day = UNIX_EPOCH + Duration::from_secs(951_782_400);
        assert_eq!(
            Timestamp::from(leap_day).as_str(),
            "2000-02-29T00:00:00.000Z"
        );
    }
}
