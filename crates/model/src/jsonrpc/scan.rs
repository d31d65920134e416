//! The fast reader of messages: one pass over a message that is in order.
//!
//! It checks the syntax, the depth and the number of values, and records the positions of members.
//! It returns `None` for everything else: errors, duplicate members, escapes in names. The careful
//! reader of [`super::message`] reads those, and words the errors. A message that both accept is the
//! same message.

mod object;

pub(super) use object::{ObjectScan, Token};

use serde::Deserialize as _;
use serde_json::value::RawValue;

use super::RequestId;
use super::breadth;
use super::meta_outline::{MetaMember, MetaSpans};
use super::outline::{Member, Outline};
use super::params::ParamsRef;
use crate::RawJson;
use crate::span::Span;
use crate::special::SpecialBytes;

/// Deepest nesting that is read here. The careful reader accepts more.
pub(super) const MAX_DEPTH: usize = 64;

/// Length of a text in which all brackets and commas are counted, also those in strings.
const SHORT: usize = 1 << 10;

/// Reads a message of at most `values` commas and opening brackets outside of strings.
pub(super) fn read(text: &str, values: usize) -> Option<Scanned<'_>> {
    u32::try_from(text.len()).ok()?;
    let mut found = Members::default();
    whole_object(text, values, |scan, name| found.member(scan, name))?;
    found.into_scanned()
}

/// Passes each member of an object to `member`. Returns `None` if `member` does, and for a text that
/// only a careful reader accepts.
pub(crate) fn members<'a>(
    text: &'a str,
    mut member: impl FnMut(&'a str, RawJson<'a>) -> Option<()>,
) -> Option<()> {
    whole_object(text, usize::MAX, |scan, name| {
        member(
            std::str::from_utf8(name).ok()?,
            RawJson::checked(scan.value()?),
        )
    })
}

#[inline]
fn whole_object<'a>(
    text: &'a str,
    values: usize,
    member: impl FnMut(&mut Scan<'a>, &'a [u8]) -> Option<()>,
) -> Option<()> {
    let mut scan = Scan::new(text, values);
    scan.skip_space();
    scan.object(member)?;
    scan.skip_space();
    (scan.at == text.len()).then_some(())
}

/// A message in order. Closed: a response with an error is left to the careful reader.
pub(super) enum Scanned<'a> {
    /// A request, or a notification without an id.
    Asking {
        id: Option<RequestId>,
        method: &'a str,
        params: Option<ParamsRef<'a>>,
    },
    /// A response with a result.
    Result {
        id: Option<RequestId>,
        result: &'a RawValue,
    },
}

/// The members of a message.
#[derive(Default)]
struct Members<'a> {
    is_jsonrpc: bool,
    id: Option<RequestId>,
    method: Option<&'a str>,
    params: Option<Option<ParamsRef<'a>>>,
    result: Option<&'a RawValue>,
}

impl<'a> Members<'a> {
    fn member(&mut self, scan: &mut Scan<'a>, name: &[u8]) -> Option<()> {
        match name {
            b"jsonrpc" if !self.is_jsonrpc => {
                self.is_jsonrpc = true;
                scan.word("\"2.0\"")
            }
            b"id" if self.id.is_none() => {
                self.id = Some(id(scan.value()?)?);
                Some(())
            }
            b"method" if self.method.is_none() => {
                self.method = Some(scan.plain_string()?);
                Some(())
            }
            b"params" if self.params.is_none() => {
                self.params = Some(params(scan)?);
                Some(())
            }
            b"result" if self.result.is_none() => {
                self.result = Some(scan.raw_value()?);
                Some(())
            }
            b"jsonrpc" | b"id" | b"method" | b"params" | b"result" | b"error" => None,
            _ => scan.skip_value(),
        }
    }

    fn into_scanned(self) -> Option<Scanned<'a>> {
        let id = self.id;
        match (self.method, self.result) {
            _ if !self.is_jsonrpc => None,
            (Some(method), None) => Some(Scanned::Asking {
                id,
                method,
                params: self.params.flatten(),
            }),
            (None, Some(result)) => Some(Scanned::Result { id, result }),
            _ => None,
        }
    }
}

fn id(text: &str) -> Option<RequestId> {
    match text.parse() {
        Ok(integer) => Some(RequestId::Integer(integer)),
        Err(_) => RequestId::from_json(text),
    }
}

fn params<'a>(scan: &mut Scan<'a>) -> Option<Option<ParamsRef<'a>>> {
    if scan.peek() == b'n' {
        return scan.word("null").map(|()| None);
    }
    let start = scan.at;
    let (mut outline, mut meta) = (Outline::default(), MetaSpans::default());
    scan.object(|scan, name| {
        let Some(member) = Member::named(name) else {
            return scan.skip_value();
        };
        let from = scan.at;
        match member {
            Member::Meta => read_meta(scan, start, &mut meta)?,
            _ => scan.skip_value()?,
        }
        let span = Span::new(from, scan.at)?.since(start);
        outline.record(member, span).then_some(())
    })?;
    let text = scan.text.get(start..scan.at)?;
    Some(Some(ParamsRef::outlined(text, outline, meta)))
}

fn read_meta(scan: &mut Scan<'_>, start: usize, meta: &mut MetaSpans) -> Option<()> {
    scan.object(|scan, name| {
        let from = scan.at;
        scan.skip_value()?;
        let Some(member) = MetaMember::named(name) else {
            return Some(());
        };
        let slot = &mut meta[member as usize];
        let is_new = slot.is_empty();
        *slot = Span::new(from, scan.at)?.since(start);
        is_new.then_some(())
    })
}

/// A position in a text. Each method reads one thing at the position, or returns `None`.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The values that may still follow.
    values: usize,
    specials: SpecialBytes,
}

impl<'a> Scan<'a> {
    #[inline]
    fn new(text: &'a str, values: usize) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            values,
            specials: SpecialBytes::default(),
        }
    }

    /// The byte at the position. At the end it is zero, which occurs nowhere in JSON.
    #[inline]
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    #[inline]
    fn byte(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte).then(|| self.at += 1)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(word.as_bytes())
            .then(|| self.at += word.len())
    }

    #[inline]
    fn count_value(&mut self) -> Option<()> {
        self.values = self.values.checked_sub(1)?;
        Some(())
    }

    #[inline]
    fn open(&mut self, bracket: u8) -> Option<()> {
        self.byte(bracket)?;
        self.count_value()?;
        self.depth += 1;
        self.skip_space();
        (self.depth <= MAX_DEPTH).then_some(())
    }

    /// Reads what follows an item: true if another item does.
    #[inline]
    fn continues(&mut self, end: u8) -> Option<bool> {
        self.skip_space();
        if self.byte(b',').is_some() {
            self.count_value()?;
            self.skip_space();
            return Some(true);
        }
        self.close(end).map(|()| false)
    }

    #[inline]
    fn close(&mut self, bracket: u8) -> Option<()> {
        self.byte(bracket)?;
        self.depth -= 1;
        Some(())
    }

    /// Reads an object. `member` reads the value of each member. Names have no escapes, and are compared as bytes.
    #[inline]
    fn object(&mut self, mut member: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        self.open(b'{')?;
        if self.close(b'}').is_some() {
            return Some(());
        }
        loop {
            let name = self.plain_bytes()?;
            self.colon()?;
            member(self, name)?;
            if !self.continues(b'}')? {
                return Some(());
            }
        }
    }

    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.skip_space();
        self.byte(b':')?;
        self.skip_space();
        Some(())
    }

    /// Reads a value of any type and returns its text.
    #[inline]
    fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.skip_value()?;
        self.text.get(start..self.at)
    }

    /// Reads a value of any type as the type of serde, which serde creates only from a text that
    /// serde has read. A short value is therefore read by serde alone.
    fn raw_value(&mut self) -> Option<&'a RawValue> {
        let mut decoder = serde_json::Deserializer::from_str(self.text.get(self.at..)?);
        let value = <&RawValue>::deserialize(&mut decoder).ok()?;
        if self.skip_short(value.get()).is_none() {
            self.skip_value()?;
        }
        Some(value)
    }

    /// Skips a valid value if it is short and has few brackets and commas. Such a value neither nests
    /// too deep nor has too many values.
    fn skip_short(&mut self, value: &str) -> Option<()> {
        let marks = (value.len() <= SHORT).then(|| breadth::all_marks(value))?;
        let values = self.values.checked_sub(marks)?;
        (self.depth + marks <= MAX_DEPTH).then(|| {
            self.values = values;
            self.at += value.len();
        })
    }

    fn skip_value(&mut self) -> Option<()> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'{' => self.skip_object(),
            b'[' => self.skip_array(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn skip_object(&mut self) -> Option<()> {
        self.open(b'{')?;
        if self.close(b'}').is_some() {
            return Some(());
        }
        loop {
            self.string()?;
            self.colon()?;
            self.skip_value()?;
            if !self.continues(b'}')? {
                return Some(());
            }
        }
    }

    fn skip_array(&mut self) -> Option<()> {
        self.open(b'[')?;
        if self.close(b']').is_some() {
            return Some(());
        }
        loop {
            self.skip_value()?;
            if !self.continues(b']')? {
                return Some(());
            }
        }
    }

    /// Reads a string without escapes and returns its characters.
    #[inline]
    fn plain_string(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        let has_escapes = self.string()?;
        let text = self.text.get(start..self.at - 1)?;
        (!has_escapes).then_some(text)
    }

    /// Reads a string without escapes and returns its bytes.
    // Always inlined, because the names of all members are read by it.
    #[inline(always)]
    fn plain_bytes(&mut self) -> Option<&'a [u8]> {
        let start = self.at + 1;
        let has_escapes = self.string()?;
        let bytes = self.text.as_bytes().get(start..self.at - 1)?;
        (!has_escapes).then_some(bytes)
    }

    /// Reads a string; returns whether it has escapes.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        self.byte(b'"')?;
        match self.next_special()? {
            b'"' => Some(false),
            special => self.escapes(special).map(|()| true),
        }
    }

    /// Reads a string from its first escape on.
    #[inline(never)]
    fn escapes(&mut self, mut special: u8) -> Option<()> {
        while special != b'"' {
            if special != b'\\' {
                return None;
            }
            self.escape()?;
            special = self.next_special()?;
        }
        Some(())
    }

    /// Moves behind the next quote, backslash or control character, and returns it.
    #[inline]
    fn next_special(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        self.at = self.specials.next(bytes, self.at);
        let special = bytes.get(self.at).copied();
        self.at += 1;
        special
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self) -> Option<()> {
        let byte = self.peek();
        self.at += 1;
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
                self.at += 4;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.byte(b'-');
        if self.byte(b'0').is_none() {
            self.digits()?;
        }
        if self.byte(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Reads one digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}
