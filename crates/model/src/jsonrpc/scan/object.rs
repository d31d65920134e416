//! The members of an object, one after the other.

use super::Scan;

/// A reader of the members of an object. Its methods return `None` for a text that only a careful reader accepts.
pub(crate) struct ObjectScan<'a> {
    scan: Scan<'a>,
    state: State,
}

/// A name or a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    /// The JSON text.
    pub(crate) text: &'a str,
    /// Whether the value is a string without escapes.
    pub(crate) is_plain: bool,
}

/// Position between two members.
enum State {
    First,
    Later,
    Over,
}

impl<'a> ObjectScan<'a> {
    /// Begins with a text that is an object without spaces around it.
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        let mut scan = Scan::new(text, usize::MAX);
        scan.open(b'{')?;
        let state = State::First;
        Some(Self { scan, state })
    }

    /// Reads the name of the next member, and moves to its value. Returns `None` inside at the end of the object.
    #[inline]
    pub(crate) fn name(&mut self) -> Option<Option<Token<'a>>> {
        let continues = match self.state {
            State::First => self.scan.close(b'}').is_none(),
            State::Later => self.scan.continues(b'}')?,
            State::Over => false,
        };
        if !continues {
            self.state = State::Over;
            return Some(None);
        }
        self.state = State::Later;
        let name = self.string()?;
        self.scan.colon()?;
        Some(Some(name))
    }

    /// Reads the value of the member.
    #[inline]
    pub(crate) fn value(&mut self) -> Option<Token<'a>> {
        if self.scan.peek() == b'"' {
            return self.string();
        }
        let text = self.scan.value()?;
        let is_plain = false;
        Some(Token { text, is_plain })
    }

    /// Returns true if the whole text was read.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, State::Over) && self.scan.at == self.scan.text.len()
    }

    #[inline]
    fn string(&mut self) -> Option<Token<'a>> {
        let start = self.scan.at;
        let has_escapes = self.scan.string()?;
        let text = self.scan.text.get(start..self.scan.at)?;
        let is_plain = !has_escapes;
        Some(Token { text, is_plain })
    }
}

impl<'a> Token<'a> {
    /// Returns the characters of a string without escapes.
    #[inline]
    pub(crate) fn characters(self) -> Option<&'a str> {
        let text = self.text;
        self.is_plain.then(|| &text[1..text.len() - 1])
    }
}
