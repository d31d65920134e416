//! Saying something and being answered.

use std::io::{self, Write as _};

use super::typing::Reader;
use crate::screen::{Look, Style};

/// Somebody to talk to.
pub(crate) trait Dialogue {
    /// Says lines that are safe to print.
    fn say(&mut self, text: &str);

    /// Asks for one line; none at the end of input, or if nobody waits for it any more.
    fn ask(&mut self, prompt: &str) -> Option<String>;

    /// Asks for one line that is not shown while it is typed.
    fn ask_secretly(&mut self, prompt: &str) -> Option<String>;

    /// How text looks.
    fn look(&self) -> Look;
}

/// The terminal: what is said goes to standard error, what is typed comes from standard input.
pub(crate) struct Terminal {
    look: Look,
    reader: Reader,
}

impl Terminal {
    pub(crate) fn new(look: Look, reader: Reader) -> Self {
        Self { look, reader }
    }
}

impl Dialogue for Terminal {
    fn say(&mut self, text: &str) {
        // Nobody is left to be told that telling does not work.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    fn ask(&mut self, prompt: &str) -> Option<String> {
        self.say(&self.look.paint(Style::Marked, prompt));
        self.reader.line()
    }

    fn ask_secretly(&mut self, prompt: &str) -> Option<String> {
        self.say(&self.look.paint(Style::Marked, prompt));
        rpassword::read_password().ok()
    }

    fn look(&self) -> Look {
        self.look
    }
}
