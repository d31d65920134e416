//! Challenges of servers in `WWW-Authenticate`.

use pintle::auth::{Challenge, challenges as read};

/// A challenge that is read and written again is the same, and stays within the bounds.
///
/// # Panics
///
/// If not.
pub fn challenges(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let all = read(lines);
    assert!(all.len() <= 16, "{} challenges", all.len());
    for one in &all {
        let written = one.to_string();
        let again = Challenge::parse(&written);
        assert_eq!(again.as_deref(), Ok(std::slice::from_ref(one)), "{written}");
    }
    let written: Vec<String> = all.iter().map(Challenge::to_string).collect();
    if written.iter().map(|one| one.len() + 2).sum::<usize>() < 16 << 10 {
        assert_eq!(
            Challenge::parse(&written.join(", ")).unwrap_or_default(),
            all
        );
    }
}
