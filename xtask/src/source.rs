//! Rust source reduced to what is compiled for users: no comments, no literals, no tests.
//!
//! Not a parser: it knows where comments, literals and `#[cfg(test)]` items begin and end, and
//! puts blanks in their place. Lines and columns stay as they are.

/// Code with blanks in place of everything else.
#[derive(Debug)]
pub(crate) struct Code {
    text: String,
    /// Modules declared under `#[cfg(test)]` whose text is in another file.
    pub(crate) test_modules: Vec<String>,
    test_lines: usize,
}

impl Code {
    /// Reduces `source` to the code that users compile.
    pub(crate) fn of(source: &str) -> Self {
        let mut blanked = Blanker::new(source).run();
        let mut code = Self {
            text: String::new(),
            test_modules: Vec::new(),
            test_lines: 0,
        };
        code.blank_tests(&mut blanked);
        code.text = String::from_utf8_lossy(&blanked).into_owned();
        code
    }

    /// The code, blanks included.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How many lines of `source`, which this was made of, are not tests.
    pub(crate) fn lines_for_users(&self, source: &str) -> usize {
        source.lines().count() - self.test_lines
    }

    /// Its lines, numbered from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line))
    }

    /// Blanks every item under `#[cfg(test)]`; remembers the modules among them that are files.
    fn blank_tests(&mut self, code: &mut [u8]) {
        for marker in ["#[cfg(test)]", "#[cfg(all(test"] {
            while let Some(from) = position(code, marker) {
                let to = item_end(code, from + marker.len());
                self.test_modules.extend(file_module(&code[from..to]));
                self.test_lines += code[from..to].split(|&byte| byte == b'\n').count();
                blank(code, from, to);
            }
        }
    }
}

/// The kind of a piece of source that is not code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A comment, with its slashes.
    Comment,
    /// A string literal, from its first quote.
    Text,
    /// A character literal.
    Char,
}

/// A comment or a literal, as a range of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The comments and literals of `source`, in their order.
pub(crate) fn pieces(source: &str) -> Vec<Piece> {
    let mut walk = Blanker::new(source);
    std::iter::from_fn(|| walk.next_piece()).collect()
}

/// Walks over source text and blanks comments and literals.
struct Blanker<'a> {
    bytes: &'a [u8],
    out: Vec<u8>,
    at: usize,
}

impl<'a> Blanker<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            bytes: source.as_bytes(),
            out: source.as_bytes().to_vec(),
            at: 0,
        }
    }

    fn run(mut self) -> Vec<u8> {
        while let Some(piece) = self.next_piece() {
            blank(&mut self.out, piece.from, piece.to);
        }
        self.out
    }

    /// Moves behind the next comment or literal.
    fn next_piece(&mut self) -> Option<Piece> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let (kind, to) = match byte {
                b'/' if self.follows("//") => (Kind::Comment, self.find(self.at, "\n")),
                b'/' if self.follows("/*") => (Kind::Comment, self.block_comment_end()),
                b'"' => (Kind::Text, self.string_end()),
                b'\'' => (Kind::Char, self.char_end()),
                _ => {
                    self.at += 1;
                    continue;
                }
            };
            let from = std::mem::replace(&mut self.at, to);
            return Some(Piece { kind, from, to });
        }
        None
    }

    fn follows(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    /// Where `needle` next begins at or after `from`, or the end of the text.
    fn find(&self, from: usize, needle: &str) -> usize {
        let from = from.min(self.bytes.len());
        self.bytes[from..]
            .windows(needle.len())
            .position(|window| window == needle.as_bytes())
            .map_or(self.bytes.len(), |found| from + found)
    }

    fn block_comment_end(&self) -> usize {
        let mut depth = 1;
        let mut at = self.at + 2;
        while depth > 0 && at < self.bytes.len() {
            let (opens, closes) = (self.find(at, "/*"), self.find(at, "*/"));
            depth = if opens < closes { depth + 1 } else { depth - 1 };
            at = opens.min(closes) + 2;
        }
        at.min(self.bytes.len())
    }

    fn string_end(&self) -> usize {
        match self.raw_hashes() {
            Some(hashes) => {
                let close = format!("\"{}", "#".repeat(hashes));
                (self.find(self.at + 1, &close) + close.len()).min(self.bytes.len())
            }
            None => self.escaped_end(b'"'),
        }
    }

    /// How many `#` open the raw string at this quote; `None` when it is not a raw string.
    fn raw_hashes(&self) -> Option<usize> {
        let before = &self.bytes[..self.at];
        let hashes = before
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'#')
            .count();
        let before = before[..before.len() - hashes].strip_suffix(b"r")?;
        let before = before
            .strip_suffix(b"b")
            .or(before.strip_suffix(b"c"))
            .unwrap_or(before);
        let glued = before
            .last()
            .is_some_and(|&byte| byte == b'_' || byte.is_ascii_alphanumeric());
        (!glued).then_some(hashes)
    }

    /// One past the next `close` that no backslash escapes.
    fn escaped_end(&self, close: u8) -> usize {
        let mut at = self.at + 1;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                _ if byte == close => return at + 1,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    /// The end of a character literal; a lifetime is left alone.
    fn char_end(&self) -> usize {
        let rest = &self.bytes[self.at + 1..];
        let width = match rest.first() {
            Some(b'\\') => return self.escaped_end(b'\''),
            Some(first) => first.leading_ones().max(1) as usize,
            None => return self.bytes.len(),
        };
        let is_literal = rest.get(width) == Some(&b'\'');
        if is_literal {
            self.at + width + 2
        } else {
            self.at + 1
        }
    }
}

fn blank(text: &mut [u8], from: usize, to: usize) {
    for byte in &mut text[from..to] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn position(code: &[u8], marker: &str) -> Option<usize> {
    code.windows(marker.len())
        .position(|window| window == marker.as_bytes())
}

/// One past the `;` or the closing brace of the item that begins at `from`.
fn item_end(code: &[u8], from: usize) -> usize {
    let rest = code[from..].iter();
    let end = rest.clone().position(|byte| matches!(byte, b'{' | b';'));
    match end.map(|at| from + at) {
        Some(at) if code[at] == b'{' => closing_brace(code, at),
        Some(at) => at + 1,
        None => code.len(),
    }
}

/// One past the brace that closes the one at `open`.
pub(crate) fn closing_brace(code: &[u8], open: usize) -> usize {
    closing(code, open, b'{', b'}')
}

/// One past the bracket that closes the one at `open`.
pub(crate) fn closing(code: &[u8], open: usize, opens: u8, closes: u8) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        if *byte == opens {
            depth += 1;
        } else if *byte == closes {
            if depth <= 1 {
                return at + 1;
            }
            depth -= 1;
        }
    }
    code.len()
}

/// The name in `mod name;`.
fn file_module(item: &[u8]) -> Option<String> {
    let item = std::str::from_utf8(item).ok()?;
    let (_, name) = item.trim_end().strip_suffix(';')?.rsplit_once("mod ")?;
    Some(name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Code;

    fn code(source: &str) -> String {
        Code::of(source)
            .text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        let source = "let a = \"//\\\"x\"; // y\n/* z /* w */ */ let b = r#\"\"q\"#; let c = '\"';";

        assert_eq!(code(source), "let a = ; let b = r# ; let c = ;");
    }

    #[test]
    fn lifetimes_are_code() {
        assert_eq!(
            code("fn f<'a>(x: &'a str, c: char)"),
            "fn f< a>(x: & a str, c: char)"
        );
    }

    #[test]
    fn tests_are_not_code_for_users() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { {} } }\nfn c() {}";

        assert_eq!(code(source), "fn a() {} fn c() {}");
    }

    #[test]
    fn a_test_module_in_another_file_is_named() {
        let code = Code::of("#[cfg(test)]\nmod pair;\nmod real;");

        assert_eq!(code.test_modules, ["pair"]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let code = Code::of("/* one\n two */\nlet x = 1;");

        assert_eq!(code.lines().nth(2), Some((3, "let x = 1;")));
    }
}
