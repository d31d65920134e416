//! Patterns of names.

/// A pattern of names: `*` is any text, all other characters are themselves.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Box<[String]>);

impl Pattern {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into().split('*').map(str::to_owned).collect())
    }

    /// Whether the pattern is the whole name. Takes time in proportion to the name and the pattern.
    pub(super) fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_first() else {
            return name.is_empty();
        };
        let Some((last, middle)) = rest.split_last() else {
            return name == first;
        };
        let inner = name.strip_prefix(&**first);
        let Some(mut inner) = inner.and_then(|inner| inner.strip_suffix(&**last)) else {
            return false;
        };
        // The first place is the best one, because it leaves most of the name.
        middle.iter().all(|part| match inner.split_once(&**part) {
            Some((_, after)) => {
                inner = after;
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        let cases = [
            ("echo", "echo", true),
            ("echo", "echo2", false),
            ("read_*", "read_", true),
            ("read_*", "write_file", false),
            ("*", "", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("*x*x*", "axb", false),
            ("[a]", "a", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(
                Pattern::new(pattern).matches(name),
                expected,
                "{pattern} {name}"
            );
        }
    }
}
