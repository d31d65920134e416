//! Comparing numbers as numbers, in their decimal spelling.
//!
//! `42`, `42.0` and `4.2e1` are one integer. Floating point is not used: it would make
//! neighbours beyond 2^53 equal.

/// The value of a JSON number: `0.digits × 10^exponent`, with no zero at either end of the digits.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// Returns true if two spellings are the same number; false if either is not a JSON number.
pub(crate) fn same_number(left: &str, right: &str) -> bool {
    match (Decimal::parse(left), Decimal::parse(right)) {
        (Some(left), Some(right)) => left == right,
        _ => false,
    }
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, parse_power(power)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
            Some(_) => return None,
            None => (mantissa, ""),
        };
        let canonical = is_digits(whole) && (whole == "0" || !whole.starts_with('0'));
        canonical.then(|| Self::of(negative, whole, fraction, power))?
    }

    fn of(negative: bool, whole: &str, fraction: &str, power: i64) -> Option<Self> {
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self {
                negative: false,
                digits: String::new(),
                exponent: 0,
            });
        }
        let leading = i64::try_from(all.len() - digits.len()).ok()?;
        let exponent = i64::try_from(whole.len())
            .ok()?
            .checked_sub(leading)?
            .checked_add(power)?;
        Some(Self {
            negative,
            digits: digits.trim_end_matches('0').to_owned(),
            exponent,
        })
    }
}

fn parse_power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    is_digits(digits).then(|| text.parse().ok())?
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-XHDR-13
    #[test]
    fn spellings_of_one_number_are_equal_and_neighbours_are_not() {
        let same = [
            ("42", "42.0"),
            ("42", "4.2e1"),
            ("0", "-0.0"),
            ("-7", "-70E-1"),
            ("0.5", "5e-1"),
        ];
        let other = [
            ("42", "43"),
            ("42", "-42"),
            ("9007199254740993", "9007199254740992"),
            ("42", "042"),
            ("42", "42."),
            ("42", "+42"),
            ("42", ""),
            ("x", "x"),
            ("1", "1e99999999999999999999"),
        ];
        assert!(same.iter().all(|(left, right)| same_number(left, right)));
        for (left, right) in other {
            assert!(!same_number(left, right), "{left} {right}");
        }
    }
}
