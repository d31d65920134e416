//! Programs that may be missing.

use std::io::Write;

/// Reports that tests skip, because a program is not installed.
///
/// # Panics
///
/// If the variable `PINTLE_ENGINES` is `required`.
pub(crate) fn skip(program: &str) {
    let is_required = std::env::var_os("PINTLE_ENGINES").is_some_and(|it| it == "required");
    assert!(
        !is_required,
        "PINTLE_ENGINES is `required`, and {program} is not installed"
    );
    // Not a macro for printing, because the test harness would hide the text.
    let text = format!("\nSKIPPED: {program} is not installed, so its tests do not run\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}
