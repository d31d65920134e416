//! A question of a configuration file (`${input:…}`).

use super::dialogue::Dialogue;
use crate::text;
use pintle_hosts::Input;

/// Asks for an input of a configuration file.
///
/// # Errors
///
/// The reason why the input has no value, as the end of a sentence about the input.
pub(crate) fn input(input: &Input, dialogue: &mut dyn Dialogue) -> Result<String, String> {
    let mut prompt = text::line(&input.description).into_owned();
    if !input.options.is_empty() {
        prompt.push_str(&format!(" ({})", text::line(&input.options.join(", "))));
    }
    if let Some(default) = &input.default {
        prompt.push_str(&format!(" [{}]", text::line(default)));
    }
    prompt.push_str(": ");
    loop {
        let typed = match input.is_secret {
            true => dialogue.ask_secretly(&prompt),
            false => dialogue.ask(&prompt),
        };
        let typed = typed.ok_or("which has no value")?;
        let answer = match (typed.is_empty(), &input.default) {
            (true, Some(default)) => default.clone(),
            _ => typed,
        };
        if input.options.is_empty() || input.options.contains(&answer) {
            return Ok(answer);
        }
    }
}
