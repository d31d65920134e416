//! The rules of plain English, as the table of `CONTRIBUTING.md` has them.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::prose::Prose;

/// Words in a sentence of a comment. Never more.
const SENTENCE_MOST: usize = 25;
/// Characters in the name of a test. Never more.
const TEST_NAME_MOST: usize = 70;

/// A rule that forbids a phrase everywhere.
struct Phrase {
    name: &'static str,
    /// The pattern can match only a text that contains one of these.
    hints: &'static [&'static str],
    pattern: LazyLock<Regex>,
}

macro_rules! phrases {
    ($($name:literal $hints:tt $pattern:literal)*) => {
        [$(Phrase {
            name: $name,
            hints: &$hints,
            pattern: LazyLock::new(|| pattern($pattern)),
        }),*]
    };
}

static PHRASES: [Phrase; 9] = phrases! {
    "persons" ["body", "ever"]
        r"\b(whoever|whomever|nobody|somebody|anybody|everybody)\b"
    "is-no" [" no"]
        r"\b(is|are|was|were|be) (no|none)\b"
    "what-is" ["what "]
        r"\bwhat (is|was|are|were|it|they|has|had|have|comes?|came|goes|follows|becomes?|became)\b"
    "say" ["say", "said", "tell", "told"]
        r"\b(says?|said|saying|tells?|told|telling)\b"
    "hear" ["hear", "greet", "farewell", "goodbye"]
        r"\b(hears?|heard|hearing|greets?|greetings?|farewells?|goodbye)\b"
    "want" ["want", "wish"]
        r"\b(wants?|wanted|wish|wishes|wished)\b"
    "back" [" back"]
        r"\b(comes?|came|coming|goes|went|going|takes?|took|taken|gives?|gave|given) back\b"
    "make-of" ["mak", "made"]
        r"\b(makes?|made|making) (an?|one|it|them|nothing) (\w+ )?of\b"
    "idiom" ["for ever", "as far as", "in any case", "place of", "over and over", " way", "let go", "no use", "no good", "nothing"]
        r"\b(for ever|as far as|in any case|in the place of|over and over|gives? way|let go of|of no use|no good|come to nothing|came to nothing)\b"
};

/// Phrases that look like a fault and are not: they are removed first.
static ALLOWED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(there (is|are|was|were|be) no|no longer|no more than|no later than)\b")
});

static DOC_START: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(what|who|whose|whom|that|it|they|(whether|how|where) it)\b"));

static DOC_EMPTY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\S+( \S+)?\.$"));

static TEST_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        "(^|_)(whoever|nobody|somebody|anybody|everybody|who|what|hears?|heard|says?|said|tells?",
        "|told|wants?|wanted|for_ever)(_|$)|_(is|are|was|were)_no(ne)?(_|$)",
    ))
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are valid")
}

/// A place where a text breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) rule: &'static str,
    /// The line in the file.
    pub(crate) line: usize,
    /// The words that break the rule.
    pub(crate) words: String,
}

/// Returns true if the rule forbids a phrase, and not a form.
pub(crate) fn is_phrase(rule: &str) -> bool {
    PHRASES.iter().any(|phrase| phrase.name == rule)
}

/// Phrases that no text should use.
pub(crate) fn phrases(prose: &Prose) -> Vec<Hit> {
    let text = allow(&prose.text);
    let mut hits = Vec::new();
    for phrase in &PHRASES {
        if !phrase.hints.iter().any(|hint| text.contains(hint)) {
            continue;
        }
        hits.extend(phrase.pattern.find_iter(&text).map(|found| Hit {
            rule: phrase.name,
            line: prose.line(found.start()),
            words: found.as_str().to_owned(),
        }));
    }
    hits
}

/// Replaces the allowed phrases by as many bytes.
fn allow(text: &str) -> String {
    if !text.contains("no") {
        return text.to_owned();
    }
    let mut allowed = text.to_owned();
    for found in ALLOWED.find_iter(text) {
        allowed.replace_range(found.range(), &"`".repeat(found.len()));
    }
    allowed
}

/// Sentences of a comment with too many words.
pub(crate) fn long_sentences(prose: &Prose) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut from = 0;
    for end in sentence_ends(&prose.text) {
        let sentence = &prose.text[from..end];
        let words = sentence
            .split_whitespace()
            .filter(|word| is_word(word))
            .count();
        if words > SENTENCE_MOST {
            let start = from + sentence.len() - sentence.trim_start().len();
            hits.push(Hit {
                rule: "long",
                line: prose.line(start),
                words: format!("{words} words"),
            });
        }
        from = end;
    }
    hits
}

fn is_word(word: &str) -> bool {
    word.contains(|c: char| c.is_alphanumeric() || c == '`')
}

/// Where sentences end: behind a mark that a space or the end of the text follows.
fn sentence_ends(text: &str) -> Vec<usize> {
    let marks = text.match_indices(['.', '!', '?', ';', ':']);
    let is_end = |at: &usize| text[*at..].chars().next().is_none_or(char::is_whitespace);
    let mut ends: Vec<usize> = marks.map(|(at, _)| at + 1).filter(is_end).collect();
    ends.push(text.len());
    ends
}

/// A doc that begins with neither a verb nor a noun.
pub(crate) fn doc_start(prose: &Prose) -> Option<Hit> {
    let found = DOC_START.find(&prose.text)?;
    Some(Hit {
        rule: "doc-start",
        line: prose.line(0),
        words: found.as_str().to_owned(),
    })
}

/// A doc of one or two words: it repeats the name of its item.
pub(crate) fn doc_empty(line: usize, doc: &str) -> Option<Hit> {
    DOC_EMPTY.is_match(doc).then(|| Hit {
        rule: "doc-empty",
        line,
        words: doc.to_owned(),
    })
}

/// The hits in the name of a test.
pub(crate) fn test_name(line: usize, name: &str) -> Vec<Hit> {
    let hit = |rule| Hit {
        rule,
        line,
        words: name.to_owned(),
    };
    let phrase = TEST_NAME.is_match(name).then(|| hit("test-name"));
    let long = (name.chars().count() > TEST_NAME_MOST).then(|| hit("test-long"));
    phrase.into_iter().chain(long).collect()
}

#[cfg(test)]
mod tests;
