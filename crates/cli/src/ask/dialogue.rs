//! A dialogue with a user: shown text and typed lines.

use std::io::{self, Write as _};

use super::typing::Reader;
use crate::screen::{Look, Style};

/// A user who reads text and types lines.
pub(crate) trait Dialogue {
    /// Shows text, which must be safe to print.
    fn show(&mut self, text: &str);

    /// Asks for one line. Returns `None` at the end of input, or if the question was cancelled.
    fn ask(&mut self, prompt: &str) -> Option<String>;

    /// Asks for one line, which the terminal does not show.
    fn ask_secretly(&mut self, prompt: &str) -> Option<String>;

    /// Returns the styles of shown text.
    fn look(&self) -> Look;
}

/// The terminal: text goes to standard error, typed lines come from standard input.
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
    fn show(&mut self, text: &str) {
        // A failed write to standard error cannot be reported anywhere.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    fn ask(&mut self, prompt: &str) -> Option<String> {
        self.show(&self.look.paint(Style::Marked, prompt));
        self.reader.line()
    }

    fn ask_secretly(&mut self, prompt: &str) -> Option<String> {
        self.show(&self.look.paint(Style::Marked, prompt));
        rpassword::read_password().ok()
    }

    fn look(&self) -> Look {
        self.look
    }
}
