//! The search of values by the typed text.

/// Returns the texts that begin with the typed text, in their order, then those that contain it.
/// Upper and lower case of ASCII letters are the same.
pub(super) fn search<'l, S: AsRef<str>>(list: &'l [S], typed: &str) -> Vec<&'l str> {
    let typed = typed.to_ascii_lowercase();
    let longest = list
        .iter()
        .map(|text| text.as_ref().len())
        .max()
        .unwrap_or_default();
    if typed.len() > longest {
        return Vec::new();
    }
    let place = |text: &'l S| {
        Some((
            text.as_ref().to_ascii_lowercase().find(&typed)?,
            text.as_ref(),
        ))
    };
    let found = list.iter().filter_map(place);
    let (first, rest): (Vec<_>, Vec<_>) = found.partition(|(place, _)| *place == 0);
    first
        .into_iter()
        .chain(rest)
        .map(|(_, text)| text)
        .collect()
}
