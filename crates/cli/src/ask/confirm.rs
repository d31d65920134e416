//! Questions for consent. The terminal has shown a description before.

use super::dialogue::Dialogue;
use super::field::yes_or_no;

/// The question for consent to start or to contact a server.
pub(crate) const SERVER: &str = "Do you agree to all of this? [yes/no] > ";

/// The question for consent to the change of a file.
pub(crate) const CHANGE: &str = "Write this change? [yes/no] > ";

/// Whether the user agrees. Only a typed yes agrees; the end of the input declines.
pub(crate) fn confirm(dialogue: &mut dyn Dialogue, question: &str) -> bool {
    loop {
        let Some(typed) = dialogue.ask(question) else {
            return false;
        };
        if let Some(is_agreed) = yes_or_no(&typed) {
            return is_agreed;
        }
    }
}
