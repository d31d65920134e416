//! The grammar of names: tools, `_meta` keys, extensions.
//!
//! It applies to names that this program declares. Names of a peer are accepted unchecked.

/// Maximum length of a tool name, in characters.
const MAX_TOOL_NAME: usize = 128;

errors! {
    /// Fault of a name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum NameError {
        /// The name has no characters.
        Empty => "the name is empty",
        /// The name is longer than 128 characters.
        TooLong => "the name is longer than {MAX_TOOL_NAME} characters",
        /// A character is not allowed, or not allowed at its place.
        Character(found: char) => "{found:?} is not allowed at its place",
        /// A part of the prefix is empty.
        EmptyLabel => "a part of the prefix is empty",
        /// The name needs a prefix and has none.
        NoPrefix => "the name has no prefix such as `com.example/`",
        /// The prefix is reserved for the protocol.
        Reserved => "the prefix is reserved for the protocol",
    }
}

/// Checks the name of a tool: 1 to 128 of `A–Z a–z 0–9 _ - .`.
///
/// # Errors
///
/// [`NameError`]; the protocol only advises against such names.
///
/// Spec: [2026-07-28, Tools, Tool names](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names).
pub fn check_tool_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.chars().count() > MAX_TOOL_NAME {
        return Err(NameError::TooLong);
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    all(name, is_allowed)
}

/// Checks a `_meta` key: an optional prefix such as `com.example/`, and a name.
///
/// # Errors
///
/// [`NameError`] when it breaks the grammar. Reserved keys follow it: see [`is_reserved`].
///
/// Spec: [2026-07-28, `_meta`](https://modelcontextprotocol.io/specification/2026-07-28/basic#meta).
pub fn check_meta_key(key: &str) -> Result<(), NameError> {
    match key.rsplit_once('/') {
        Some((prefix, name)) => {
            prefix.split('.').try_for_each(check_label)?;
            check_key_name(name)
        }
        None => check_key_name(key),
    }
}

/// Checks the id of an extension that is not the protocol's own: a `_meta` key with a prefix
/// that is not reserved.
///
/// # Errors
///
/// [`NameError`] if the id is not valid.
///
/// Spec: [2026-07-28, Extensions](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extensions).
pub fn check_extension_id(id: &str) -> Result<(), NameError> {
    match id.rsplit_once('/') {
        None => Err(NameError::NoPrefix),
        Some((_, "")) => Err(NameError::Empty),
        Some(_) if is_reserved(id) => Err(NameError::Reserved),
        Some(_) => check_meta_key(id),
    }
}

/// Returns true if the prefix of a key is reserved for the protocol.
///
/// The revisions disagree: some keep prefixes whose second part is `mcp` or
/// `modelcontextprotocol`, some those where any part but the last is. Both are kept here.
pub fn is_reserved(key: &str) -> bool {
    let Some((prefix, _)) = key.rsplit_once('/') else {
        return false;
    };
    let is_ours = |label: &str| matches!(label, "mcp" | "modelcontextprotocol");
    let mut labels = prefix.split('.').enumerate().peekable();
    while let Some((place, label)) = labels.next() {
        if is_ours(label) && (place == 1 || labels.peek().is_some()) {
            return true;
        }
    }
    false
}

/// A part of a prefix: a letter first, a letter or digit last, and `-` between them.
fn check_label(label: &str) -> Result<(), NameError> {
    let first = label.chars().next().ok_or(NameError::EmptyLabel)?;
    if !first.is_ascii_alphabetic() {
        return Err(NameError::Character(first));
    }
    if label.ends_with('-') {
        return Err(NameError::Character('-'));
    }
    all(label, |c| c.is_ascii_alphanumeric() || c == '-')
}

/// Checks the part after the prefix: empty, or letters and digits at both ends.
fn check_key_name(name: &str) -> Result<(), NameError> {
    let ends = [name.chars().next(), name.chars().next_back()];
    if let Some(end) = ends
        .into_iter()
        .flatten()
        .find(|c| !c.is_ascii_alphanumeric())
    {
        return Err(NameError::Character(end));
    }
    all(name, |c| {
        c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
    })
}

fn all(text: &str, is_allowed: impl Fn(char) -> bool) -> Result<(), NameError> {
    match text.chars().find(|&c| !is_allowed(c)) {
        Some(found) => Err(NameError::Character(found)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-TOOL-05
    // spec: 2025-11-25 TOOL-12, TOOL-14, TOOL-15
    #[test]
    fn tool_names_are_short_and_plain() {
        for name in ["a", "admin.tools_list-2", &"x".repeat(128)] {
            assert_eq!(check_tool_name(name), Ok(()));
        }
        assert_eq!(check_tool_name(""), Err(NameError::Empty));
        assert_eq!(check_tool_name(&"x".repeat(129)), Err(NameError::TooLong));
        assert_eq!(check_tool_name("a/b"), Err(NameError::Character('/')));
        assert_eq!(check_tool_name("größe"), Err(NameError::Character('ö')));
    }

    // spec: 2026-07-28 N-META-08
    // spec: 2025-11-25 META-03, META-04, META-07, META-08
    #[test]
    fn meta_keys_follow_their_grammar() {
        for key in [
            "traceparent",
            "a.b_c-d",
            "com.example/",
            "com.ex-ample2/x",
            "",
        ] {
            assert_eq!(check_meta_key(key), Ok(()), "{key}");
        }
        for key in [
            "-x",
            "x_",
            "/x",
            "com..example/x",
            "2com/x",
            "com-/x",
            "a/b/c",
            "com.example/x y",
        ] {
            assert!(check_meta_key(key).is_err(), "{key}");
        }
    }

    // spec: 2026-07-28 N-META-09
    // spec: 2025-11-25 AMB-10, META-06
    #[test]
    fn prefixes_of_the_protocol_are_reserved_under_both_rules() {
        for key in [
            "io.modelcontextprotocol/x",
            "dev.mcp/",
            "com.mcp.tools/x",
            "mcp.dev/x",
            "modelcontextprotocol.io/x",
        ] {
            assert!(is_reserved(key), "{key}");
        }
        for key in ["com.example.mcp/x", "mcp/x", "mcp", "com.example/mcp"] {
            assert!(!is_reserved(key), "{key}");
        }
    }

    // spec: 2026-07-28 N-EXT-02
    #[test]
    fn extension_ids_have_a_prefix_of_their_own() {
        assert_eq!(check_extension_id("com.example/search"), Ok(()));
        assert_eq!(check_extension_id("search"), Err(NameError::NoPrefix));
        assert_eq!(check_extension_id("com.example/"), Err(NameError::Empty));
        assert_eq!(
            check_extension_id("io.modelcontextprotocol/x"),
            Err(NameError::Reserved)
        );
    }
}
