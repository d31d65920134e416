//! Properties of the standard streams: terminals, colours, width and pictures.

use std::env;
use std::io::{IsTerminal as _, stderr, stdin, stdout};

/// Number of columns if the terminal does not report its width, and for files and pipes.
const COLUMNS: usize = 80;

/// Least number of columns that text is wrapped to.
const FEWEST: usize = 20;

/// The three standard streams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// Standard output, which gets results.
    pub(crate) output: Look,
    /// Standard error, which gets everything else.
    pub(crate) notes: Look,
    /// Whether standard input is a terminal.
    pub(crate) is_typed_on: bool,
    /// How standard output draws pictures. Absent if it cannot.
    pub(crate) graphics: Option<Graphics>,
}

/// Properties of a stream that determine how text is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Whether the stream is a terminal.
    pub(crate) is_terminal: bool,
    /// Whether text is coloured.
    pub(crate) has_color: bool,
    /// Number of columns, at least 20.
    pub(crate) columns: usize,
}

/// How a terminal draws pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Graphics {
    /// The protocol of kitty, which accepts PNG.
    Kitty,
    /// The protocol of iTerm2, which accepts every format that the system can show.
    Iterm,
    /// Sixels, which this tool makes of PNG.
    Sixel,
}

/// The meaning of a piece of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Name,
    Heading,
    /// Secondary text beside or below a name.
    Faint,
    /// A failure or a warning.
    Bad,
    /// A success, such as a link that holds.
    Good,
    /// Text that needs the attention of the user.
    Marked,
}

impl Screen {
    /// Reads the properties of the streams of this process.
    pub(crate) fn look() -> Self {
        let var = |name: &str| env::var(name).ok();
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let output = stdout().is_terminal();
        Self {
            output: Look::of(output, columns, &var),
            notes: Look::of(stderr().is_terminal(), columns, &var),
            is_typed_on: stdin().is_terminal(),
            graphics: output.then(|| Graphics::of(&var)).flatten(),
        }
    }
}

impl Look {
    /// A stream without a terminal.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self {
        is_terminal: false,
        has_color: false,
        columns: COLUMNS,
    };

    fn of(is_terminal: bool, columns: Option<usize>, var: &dyn Fn(&str) -> Option<String>) -> Self {
        // https://no-color.org: any value that is not empty.
        let is_refused = var("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = var("TERM").is_some_and(|term| term == "dumb");
        let columns = columns.filter(|_| is_terminal).unwrap_or(COLUMNS);
        Self {
            is_terminal,
            has_color: is_terminal && !is_refused && !is_dumb,
            columns: columns.max(FEWEST),
        }
    }

    /// Returns the text in a style, or unchanged if the stream has no colours.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if !self.has_color || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Name => "1",
            Style::Heading => "1;4",
            Style::Faint => "2",
            Style::Bad => "31",
            Style::Good => "32",
            Style::Marked => "1;36",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

impl Graphics {
    fn of(var: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |name: &str, values: &[&str]| {
            var(name).is_some_and(|value| values.contains(&value.as_str()))
        };
        match var("PINTLE_PICTURES").as_deref() {
            Some("kitty") => return Some(Self::Kitty),
            Some("iterm") => return Some(Self::Iterm),
            Some("sixel") => return Some(Self::Sixel),
            Some("none") => return None,
            _ => {}
        }
        // A multiplexer drops pictures, or shows them at a wrong place.
        if var("TMUX").is_some() || var("STY").is_some() || var("ZELLIJ").is_some() {
            None
        } else if is("TERM", &["xterm-kitty", "xterm-ghostty"])
            || is("TERM_PROGRAM", &["ghostty"])
            || var("KITTY_WINDOW_ID").is_some()
        {
            Some(Self::Kitty)
        } else if is("TERM_PROGRAM", &["iTerm.app", "WezTerm", "mintty"])
            || is("LC_TERMINAL", &["iTerm2"])
        {
            Some(Self::Iterm)
        } else if is(
            "TERM",
            &["foot", "foot-extra", "mlterm", "mlterm-256color", "contour"],
        ) || is("TERM_PROGRAM", &["contour"])
        {
            Some(Self::Sixel)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn terminals_have_colours_unless_the_environment_refuses() {
        let look = |is_terminal, pairs: &[_]| Look::of(is_terminal, Some(100), &vars(pairs));
        assert!(look(true, &[]).has_color);
        assert!(look(true, &[("NO_COLOR", "")]).has_color);
        assert!(!look(true, &[("NO_COLOR", "0")]).has_color);
        assert!(!look(true, &[("TERM", "dumb")]).has_color);
        assert!(!look(false, &[]).has_color);
        assert_eq!(
            (look(true, &[]).columns, look(false, &[]).columns),
            (100, COLUMNS)
        );
        assert_eq!(Look::of(true, Some(3), &vars(&[])).columns, FEWEST);
    }

    #[test]
    fn text_is_painted_where_there_are_colours() {
        let look = Look::of(true, None, &vars(&[]));
        assert_eq!(look.paint(Style::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(look.paint(Style::Bad, ""), "");
        assert_eq!(Look::PLAIN.paint(Style::Bad, "x"), "x");
    }

    #[test]
    fn a_variable_sets_how_pictures_are_drawn() {
        let graphics = |value| {
            let pairs = [("PINTLE_PICTURES", value), ("TERM", "xterm-kitty")];
            Graphics::of(&vars(&pairs))
        };
        assert_eq!(graphics("sixel"), Some(Graphics::Sixel));
        assert_eq!(graphics("iterm"), Some(Graphics::Iterm));
        assert_eq!(graphics("none"), None);
        for unknown in ["", "auto"] {
            assert_eq!(graphics(unknown), Some(Graphics::Kitty));
        }
        let pairs = [("PINTLE_PICTURES", "sixel"), ("TMUX", "x")];
        assert_eq!(Graphics::of(&vars(&pairs)), Some(Graphics::Sixel));
    }

    #[test]
    fn the_environment_shows_whether_a_terminal_draws_pictures() {
        let graphics = |pairs: &[_]| Graphics::of(&vars(pairs));
        assert_eq!(graphics(&[("TERM", "xterm-kitty")]), Some(Graphics::Kitty));
        assert_eq!(graphics(&[("KITTY_WINDOW_ID", "1")]), Some(Graphics::Kitty));
        assert_eq!(
            graphics(&[("TERM_PROGRAM", "iTerm.app")]),
            Some(Graphics::Iterm)
        );
        for term in ["foot", "mlterm", "contour"] {
            assert_eq!(graphics(&[("TERM", term)]), Some(Graphics::Sixel));
        }
        assert_eq!(graphics(&[("TERM", "foot"), ("TMUX", "x")]), None);
        assert_eq!(graphics(&[("TERM", "xterm-256color")]), None);
        assert_eq!(graphics(&[("TERM", "xterm-kitty"), ("TMUX", "x")]), None);
    }
}
