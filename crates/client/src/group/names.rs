//! The names under which a group offers what its members name.
//!
//! A tool `read` of the member `files` is `files__read`. The name of a member has no `__` in it and
//! no `_` at its ends. So the first `__` of a name is always where the member's part ends:
//! two members never give the same name.
//!
//! What would be too long, or is outside of the grammar of tool names, is folded: what is legal of
//! it, and a digest of all of it. The same name is folded the same way in every run.

use super::error::AddMemberError;

/// The separator between the name of a member and the name of an item.
pub(super) const SEPARATOR: &str = "__";
/// How long the name of a member may be, in characters.
const MEMBER_CHARS: usize = 32;
/// Digits of a digest.
const DIGEST: usize = 12;
/// The shortest limit of names that leaves room for a folded one.
pub(super) const LEAST_CHARS: usize = MEMBER_CHARS + SEPARATOR.len() + 2 + DIGEST;

/// Checks the name of a member.
///
/// # Errors
///
/// [`AddMemberError::Name`].
pub(super) fn check(name: &str) -> Result<(), AddMemberError> {
    let fault = |reason| {
        Err(AddMemberError::Name {
            name: name.to_owned(),
            reason,
        })
    };
    if name.is_empty() || name.len() > MEMBER_CHARS {
        return fault("a member name has 1 to 32 characters");
    }
    if !name.chars().all(is_plain) {
        return fault("a member name consists of letters, digits, `-` and `_`");
    }
    if name.contains(SEPARATOR) || name.starts_with('_') || name.ends_with('_') {
        return fault("a member name has no `__`, and no `_` at its ends");
    }
    Ok(())
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// A name as the group gives it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GroupName {
    pub(super) name: String,
    /// Whether the member's own name has to be remembered: it cannot be read off.
    pub(super) is_opaque: bool,
}

/// Names what `member` calls `own`, in at most `limit` characters.
pub(super) fn give(member: &str, own: &str, limit: usize) -> GroupName {
    let is_legal = own.chars().all(|c| is_plain(c) || c == '.') && !own.is_empty();
    let length = member.len() + SEPARATOR.len() + own.len();
    if is_legal && length <= limit {
        return GroupName {
            name: format!("{member}{SEPARATOR}{own}"),
            is_opaque: may_be_folded(own),
        };
    }
    let room = limit.saturating_sub(member.len() + SEPARATOR.len() + 1 + DIGEST);
    let legal = |c: char| if is_plain(c) || c == '.' { c } else { '_' };
    let kept: String = own.chars().map(legal).take(room).collect();
    let digest = digest(own);
    GroupName {
        name: format!("{member}{SEPARATOR}{kept}_{digest}"),
        is_opaque: true,
    }
}

/// The member, and the rest of a name that a group gave.
pub(super) fn split(given: &str) -> Option<(&str, &str)> {
    given.split_once(SEPARATOR)
}

/// Whether the rest of a name may be one that was folded.
pub(super) fn may_be_folded(rest: &str) -> bool {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match rest.as_bytes().split_last_chunk::<DIGEST>() {
        Some((kept, digest)) => kept.ends_with(b"_") && digest.iter().all(is_digit),
        None => false,
    }
}

/// 48 bits of FNV-1a. The digest distinguishes the names of one server; it is not a protection.
fn digest(name: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{:012x}", hash >> 16)
}

#[cfg(test)]
mod tests {
    use pintle_model::names::check_tool_name;

    use super::*;

    #[test]
    fn the_name_of_a_member_ends_where_the_first_separator_is() {
        for good in ["a", "files", "my-files_2", "A1", &"x".repeat(32)] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "_a", "a_", "a__b", "a.b", "a b", "é", &"x".repeat(33)] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        for (member, own) in [
            ("a", "b"),
            ("a", "_b"),
            ("a", "__b"),
            ("a_b", "c__d"),
            ("a", "b_"),
        ] {
            let given = give(member, own, 128);
            assert_eq!(split(&given.name), Some((member, own)), "{given:?}");
            assert!(!given.is_opaque);
        }
    }

    // spec: 2025-11-25 TOOL-12, TOOL-14
    #[test]
    fn every_name_is_legal_and_no_two_are_the_same() {
        let long = "x".repeat(200);
        let names = [
            "a/b",
            "a b",
            "a_b",
            "",
            "é",
            &long,
            &long[1..],
            &"x".repeat(94),
            &"x".repeat(95),
        ];
        let member = "m".repeat(32);
        for limit in [LEAST_CHARS, 64, 128] {
            let mut given: Vec<String> = names
                .iter()
                .map(|own| give(&member, own, limit).name)
                .collect();
            for name in &given {
                assert_eq!(check_tool_name(name), Ok(()), "{name}");
                assert!(name.len() <= limit, "{name}");
                assert_eq!(split(name).map(|(member, _)| member), Some(&*member));
            }
            given.sort();
            given.dedup();
            assert_eq!(given.len(), names.len());
        }
    }

    #[test]
    fn a_name_of_the_limit_is_left_as_it_is_and_a_longer_one_is_folded() {
        assert_eq!(give("m", &"x".repeat(125), 128).name.len(), 128);
        assert!(!give("m", &"x".repeat(125), 128).is_opaque);
        let folded = give("m", &"x".repeat(126), 128);
        assert_eq!((folded.name.len(), folded.is_opaque), (128, true));
        let (_, rest) = split(&folded.name).expect("two parts");
        assert!(may_be_folded(rest));
        // Whatever only looks folded is remembered, too.
        assert!(give("m", rest, 128).is_opaque);
        assert_eq!(
            give("m", "a/b", 128).name,
            "m__a_b_95b67ceeb0c8"
                .to_owned()
                .replace("95b67ceeb0c8", &digest("a/b"))
        );
    }
}
