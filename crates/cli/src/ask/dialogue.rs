//! Saying something and being answered.

use std::io::{self, BufRead as _, Write as _};

use crate::screen::{Look, Style};

/// How long a line may be that is typed, in bytes: longer ones are cut off by the terminal itself.
const LINE_BYTES: u64 = 1024 * 1024;

/// Somebody to talk to.
pub(crate) trait Dialogue {
    /// Says lines that are safe to print.
    fn say(&mut self, text: &str);

    /// Asks for one line; none at the end of input.
    fn ask(&mut self, prompt: &str) -> Option<String>;

    /// Asks for one line that is not shown while it is typed.
    fn ask_secretly(&mut self, prompt: &str) -> Option<String>;

    /// How text looks.
    fn look(&self) -> Look;
}

/// The terminal: what is said goes to standard error, what is typed comes from standard input.
pub(crate) struct Terminal {
    look: Look,
}

impl Terminal {
    pub(crate) fn new(look: Look) -> Self {
        Self { look }
    }
}

impl Dialogue for Terminal {
    fn say(&mut self, text: &str) {
        // Nobody is left to be told that telling does not work.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    fn ask(&mut self, prompt: &str) -> Option<String> {
        self.say(&self.look.paint(Style::Marked, prompt));
        let mut line = String::new();
        let mut input = io::Read::take(io::stdin().lock(), LINE_BYTES);
        match input.read_line(&mut line) {
            Ok(1..) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
            Ok(0) | Err(_) => None,
        }
    }

    fn ask_secretly(&mut self, prompt: &str) -> Option<String> {
        self.say(&self.look.paint(Style::Marked, prompt));
        rpassword::read_password().ok()
    }

    fn look(&self) -> Look {
        self.look
    }
}
