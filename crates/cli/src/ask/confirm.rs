//! The question for consent to start or to contact a server. The terminal has shown its description.

use super::dialogue::Dialogue;
use super::field::yes_or_no;

/// Whether the user agrees. Only a typed yes agrees; the end of the input declines.
pub(crate) fn confirm(dialogue: &mut dyn Dialogue) -> bool {
    loop {
        let Some(typed) = dialogue.ask("Do you agree to all of this? [yes/no] > ") else {
            return false;
        };
        if let Some(is_agreed) = yes_or_no(&typed) {
            return is_agreed;
        }
    }
}
