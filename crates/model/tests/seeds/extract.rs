//! Finds the examples of a rendered schema page and restores their JSON.

use serde_json::Value;

/// One example: the definition it stands under, and its JSON.
pub(crate) struct Example {
    pub(crate) definition: String,
    pub(crate) title: String,
    pub(crate) json: Value,
}

/// All examples of a page whose JSON can be read, and the titles of the others.
pub(crate) fn examples(page: &str) -> (Vec<Example>, Vec<String>) {
    let page = restore(page);
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let mut definition = String::new();
    let mut rest = page.as_str();
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        if let Some(name) = heading(line) {
            definition = name.to_owned();
        }
        let Some(title) = line.strip_prefix("Example: ") else {
            continue;
        };
        match serde_json::Deserializer::from_str(after)
            .into_iter::<Value>()
            .next()
        {
            Some(Ok(json)) => found.push(Example {
                definition: definition.clone(),
                title: title.to_owned(),
                json,
            }),
            _ => unreadable.push(title.to_owned()),
        }
    }
    (found, unreadable)
}

/// `interface Name {`, or a name on a line of its own.
fn heading(line: &str) -> Option<&str> {
    let name = line.strip_prefix("interface ").map_or(line, |rest| {
        rest.split([' ', '<', '{']).next().unwrap_or(rest)
    });
    let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric());
    is_name.then_some(name)
}

/// Makes quotes straight, and puts back those that the rendering took from addresses.
fn restore(page: &str) -> String {
    let straight = page.replace(['\u{201c}', '\u{201d}'], "\"");
    let mut restored = String::with_capacity(straight.len());
    for line in straight.lines() {
        restored.push_str(&requote(line).unwrap_or_else(|| line.to_owned()));
        restored.push('\n');
    }
    restored
}

/// `"name": https://…,` with its quotes; none if the line is nothing of the kind.
fn requote(line: &str) -> Option<String> {
    let (name, value) = line.split_once("\": ")?;
    let (value, comma) = value
        .strip_suffix(',')
        .map_or((value, ""), |value| (value, ","));
    let is_address = value.starts_with("http") || value.starts_with("[email");
    is_address.then(|| format!("{name}\": \"{value}\"{comma}"))
}
