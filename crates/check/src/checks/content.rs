//! Shapes that several areas share: content blocks, annotations, icons, keys of `_meta`.

use serde_json::Value;

use crate::finding::{Judgement, skipped};
use crate::peer::Survey;
use crate::text::shown;
use crate::value::{self, Fault};

/// Skips the check if no entry of these lists has a member.
pub(super) fn needs_member(survey: &Survey, methods: &[&str], member: &str) -> Judgement {
    let lists = methods
        .iter()
        .filter_map(|method| survey.entries(method).ok());
    match lists.flatten().any(|entry| entry.pointer(member).is_some()) {
        true => Ok(()),
        false => Err(skipped(format!("no entry has `{member}`"))),
    }
}

/// Returns the first fault of a content block.
pub(super) fn block(block: &Value) -> Fault {
    let kind = block.get("type").and_then(Value::as_str);
    let fault = match kind {
        Some("text") => value::text(block, "text"),
        Some("image" | "audio") => {
            value::base64(block, "data").or_else(|| value::media_type(block, "mimeType"))
        }
        Some("resource_link") => value::uri(block, "uri").or_else(|| value::text(block, "name")),
        Some("resource") => value::object(block, "resource")
            .or_else(|| contents(block.get("resource").unwrap_or(&Value::Null))),
        // A later revision may add a type.
        Some(_) => None,
        None => value::text(block, "type"),
    };
    fault.or_else(|| annotations(block))
}

/// Returns the first fault of the contents of a resource.
pub(super) fn contents(contents: &Value) -> Fault {
    value::uri(contents, "uri")
        .or_else(|| {
            contents
                .get("mimeType")
                .and_then(|_| value::text(contents, "mimeType"))
        })
        .or_else(|| match (contents.get("text"), contents.get("blob")) {
            (Some(_), None) => value::text(contents, "text"),
            (None, Some(_)) => value::base64(contents, "blob"),
            (None, None) => Some("neither `text` nor `blob` is there".to_owned()),
            (Some(_), Some(_)) => Some("both `text` and `blob` are there".to_owned()),
        })
}

/// Returns the first fault of the annotations of a content block or a resource.
pub(super) fn annotations(entry: &Value) -> Fault {
    let annotations = entry.get("annotations")?;
    if !annotations.is_object() {
        return Some(format!(
            "`annotations` is not an object: {}",
            shown(annotations)
        ));
    }
    let mut audience = value::entries(annotations, "audience");
    if let Some(odd) = audience.find(|role| **role != "user" && **role != "assistant") {
        return Some(format!("`audience` has {}", shown(odd)));
    }
    match annotations.get("priority").map(Value::as_f64) {
        Some(Some(priority)) if (0.0..=1.0).contains(&priority) => None,
        None => None,
        Some(_) => Some("`priority` is not a number from 0 to 1".to_owned()),
    }
}

/// Returns the first fault of the icons of an object.
pub(super) fn icons(owner: &Value) -> Fault {
    let icons = owner.get("icons")?;
    let Some(list) = icons.as_array() else {
        return Some(format!("`icons` is not a list: {}", shown(icons)));
    };
    list.iter().find_map(icon)
}

fn icon(icon: &Value) -> Fault {
    let is_size = |size: &Value| match size.as_str() {
        Some("any") => true,
        Some(size) => size.split_once('x').is_some_and(|(width, height)| {
            width.parse::<u32>().is_ok() && height.parse::<u32>().is_ok()
        }),
        None => false,
    };
    let sizes = || match icon.get("sizes") {
        None => None,
        Some(Value::Array(sizes)) if sizes.iter().all(is_size) => None,
        Some(sizes) => Some(format!("`sizes` of an icon is {}", shown(sizes))),
    };
    let theme = || match icon.get("theme").map(Value::as_str) {
        None | Some(Some("light" | "dark")) => None,
        Some(theme) => Some(format!("`theme` of an icon is {theme:?}")),
    };
    value::uri(icon, "src")
        .or_else(|| value::optional_text(icon, "mimeType"))
        .or_else(sizes)
        .or_else(theme)
}

/// Returns true for a key of `_meta` in the allowed form.
pub(super) fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => prefix.split('.').all(is_label) && is_name(name),
        None => is_name(key),
    }
}

/// Returns true for a key with a valid prefix.
pub(super) fn is_prefixed_key(key: &str) -> bool {
    key.contains('/') && is_key(key)
}

fn is_label(label: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
    label.starts_with(|c: char| c.is_ascii_alphabetic())
        && label.ends_with(|c: char| c.is_ascii_alphanumeric())
        && label.chars().all(inner)
}

fn is_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let edge = |c: char| c.is_ascii_alphanumeric();
    name.is_empty() || (name.starts_with(edge) && name.ends_with(edge) && name.chars().all(inner))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_have_a_prefix_of_labels_and_a_name() {
        for good in ["a", "", "com.example/a_b.c", "io.x-y/", "progressToken"] {
            assert!(is_key(good), "{good}");
        }
        for bad in ["-a", "a/b/c", "1com/x", "com./x", "a b", "com.example/x-"] {
            assert!(!is_key(bad), "{bad}");
        }
    }

    #[test]
    fn blocks_have_the_members_of_their_type() {
        let good = [
            json!({ "type": "text", "text": "" }),
            json!({ "type": "image", "data": "AA==", "mimeType": "image/png" }),
            json!({ "type": "resource_link", "uri": "file:///a", "name": "a" }),
            json!({ "type": "resource", "resource": { "uri": "a:b", "blob": "" } }),
            json!({ "type": "hologram" }),
        ];
        for block in &good {
            assert_eq!(super::block(block), None, "{block}");
        }
        let bad = [
            json!({}),
            json!({ "type": "text" }),
            json!({ "type": "audio", "data": "!", "mimeType": "audio/wav" }),
            json!({ "type": "image", "data": "", "mimeType": "png" }),
            json!({ "type": "resource", "resource": { "uri": "a:b" } }),
            json!({ "type": "text", "text": "", "annotations": { "priority": 2 } }),
            json!({ "type": "text", "text": "", "annotations": { "audience": ["all"] } }),
        ];
        for block in &bad {
            assert!(super::block(block).is_some(), "{block}");
        }
    }

    #[test]
    fn icons_have_a_source_and_known_sizes() {
        let icon = json!({ "src": "data:,", "sizes": ["48x48", "any"], "theme": "dark" });
        assert_eq!(icons(&json!({ "icons": [icon] })), None);
        for bad in [
            json!({ "src": "logo.png" }),
            json!({ "src": "a:b", "sizes": "48x48" }),
            json!({ "src": "a:b", "sizes": ["big"] }),
            json!({ "src": "a:b", "theme": "blue" }),
        ] {
            assert!(icons(&json!({ "icons": [bad] })).is_some(), "{bad}");
        }
    }
}
