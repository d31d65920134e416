//! The change of a file as a unified diff.

use pintle_hosts::ConfigEdit;
use similar::TextDiff;

/// Number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// Returns the change as a unified diff. The caller makes it safe to print.
pub(crate) fn diff(edit: &ConfigEdit) -> String {
    let file = edit.file.display().to_string();
    let name = |text: &Option<String>| match text {
        Some(_) => file.clone(),
        None => "/dev/null".to_owned(),
    };
    let (before, after) = (name(&edit.before), name(&edit.after));
    let diff = TextDiff::from_lines(
        edit.before.as_deref().unwrap_or_default(),
        edit.after.as_deref().unwrap_or_default(),
    );
    diff.unified_diff()
        .context_radius(CONTEXT)
        .header(&before, &after)
        .to_string()
}
