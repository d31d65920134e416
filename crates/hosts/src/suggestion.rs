//! Names that are similar to a typed name.

/// Returns ` (did you mean …?)` if one of the names is similar to the typed one, or an empty text.
pub fn suggestion<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let scored = names.into_iter().map(|name| {
        let alike = strsim::jaro_winkler(&typed.to_lowercase(), &name.to_lowercase());
        (alike, name)
    });
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((alike, name)) if alike > 0.8 => format!(" (did you mean `{name}`?)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["add", "subtract"];
        assert_eq!(suggestion("subtrct", names), " (did you mean `subtract`?)");
        assert_eq!(suggestion("hello", names), "");
        assert_eq!(suggestion("x", []), "");
    }
}
