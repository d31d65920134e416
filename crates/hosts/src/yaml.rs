//! Servers in a YAML file.
//!
//! Aliases can make a small file mean very many values. So nodes behind an alias are shared, and
//! the number of values of all servers together is bounded.

use std::collections::BTreeMap;
use std::rc::Rc;

use pintle_model::JsonObject;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::{Number, Value};

use super::raw_entry::{RawEntry, SyntaxError};

/// Maximum number of values of the servers of a file; values behind an alias count at each use.
const VALUES: usize = 10_000;

/// How deep lists and maps may stand in each other.
const DEPTH: usize = 64;

/// A value that knows where it stands.
#[derive(Debug)]
struct Node {
    line: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Scalar(Value),
    List(Vec<Rc<Node>>),
    Map(Vec<(String, Rc<Node>)>),
}

/// The servers under a path of keys: a map of them, or a list of those that have a name.
pub(super) fn servers(text: &str, path: &[&str]) -> Result<Vec<RawEntry>, SyntaxError> {
    let Some(file) = Reader::new(text).document()? else {
        return Ok(Vec::new());
    };
    let mut node = &file;
    for key in path {
        match node.member(key) {
            Some(member) => node = member,
            None => return Ok(Vec::new()),
        }
    }
    let mut builder = ValueBuilder { left: VALUES };
    match &node.kind {
        Kind::Map(servers) => servers
            .iter()
            .map(|(name, server)| builder.raw_entry(name, server))
            .collect(),
        Kind::List(servers) => {
            let named = servers.iter().filter_map(|server| {
                let name = server.member("name")?.text()?;
                Some(builder.raw_entry(&name, server))
            });
            named.collect()
        }
        Kind::Scalar(_) => Ok(Vec::new()),
    }
}

/// The value of the first document; none if the text has no document.
pub(super) fn value(text: &str) -> Result<Option<Value>, SyntaxError> {
    let file = Reader::new(text).document()?;
    let mut builder = ValueBuilder { left: VALUES };
    file.map(|file| builder.value(&file)).transpose()
}

impl Node {
    fn member(&self, key: &str) -> Option<&Rc<Self>> {
        let Kind::Map(members) = &self.kind else {
            return None;
        };
        let mut members = members.iter().rev();
        members
            .find(|(name, _)| name == key)
            .map(|(_, member)| member)
    }

    fn text(&self) -> Option<String> {
        match &self.kind {
            Kind::Scalar(Value::String(text)) => Some(text.clone()),
            Kind::Scalar(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// Converts nodes to the values that they mean.
struct ValueBuilder {
    left: usize,
}

impl ValueBuilder {
    fn raw_entry(&mut self, name: &str, server: &Node) -> Result<RawEntry, SyntaxError> {
        let members = match self.value(server)? {
            Value::Object(members) => Some(members),
            _ => None,
        };
        let lines = match &server.kind {
            Kind::Map(members) => members
                .iter()
                .map(|(key, member)| (key.clone(), member.line))
                .collect(),
            Kind::Scalar(_) | Kind::List(_) => BTreeMap::new(),
        };
        Ok(RawEntry {
            name: name.to_owned(),
            line: server.line,
            members,
            lines,
        })
    }

    fn value(&mut self, node: &Node) -> Result<Value, SyntaxError> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| syntax_error(node.line, "the servers are more than are read here"))?;
        Ok(match &node.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => {
                let items = items.iter().map(|item| self.value(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Kind::Map(members) => Value::Object(self.object(members)?),
        })
    }

    /// Returns a map with the members merged by `<<`; its own members have priority.
    fn object(&mut self, members: &[(String, Rc<Node>)]) -> Result<JsonObject, SyntaxError> {
        let mut object = JsonObject::new();
        for (_, merged) in members.iter().filter(|(key, _)| key == "<<") {
            match self.value(merged)? {
                Value::Object(merged) => object.extend(merged),
                Value::Array(all) => {
                    // Of several the first goes before.
                    for merged in all.into_iter().rev() {
                        if let Value::Object(merged) = merged {
                            object.extend(merged);
                        }
                    }
                }
                _ => {}
            }
        }
        for (key, member) in members.iter().filter(|(key, _)| key != "<<") {
            object.insert(key.clone(), self.value(member)?);
        }
        Ok(object)
    }
}

/// Events become nodes.
struct Reader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    /// How many lines the text has.
    lines: usize,
    node_by_anchor: BTreeMap<usize, Rc<Node>>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            parser: Parser::new_from_str(text),
            lines: 1 + line_breaks(text),
            node_by_anchor: BTreeMap::new(),
        }
    }

    /// Returns the first document; `None` if the text has no document.
    fn document(&mut self) -> Result<Option<Rc<Node>>, SyntaxError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(None),
                (event, span) => return self.node(event, span, DEPTH).map(Some),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), SyntaxError> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(self.broken(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Limits the line to those of the text: the parser reports an end without a line break one line later.
    fn broken(&self, error: &ScanError) -> SyntaxError {
        syntax_error(error.marker().line().min(self.lines), error.info())
    }

    fn node(
        &mut self,
        event: Event<'t>,
        span: Span,
        depth: usize,
    ) -> Result<Rc<Node>, SyntaxError> {
        let line = span.start.line();
        if depth == 0 {
            return Err(syntax_error(line, "this stands too deep"));
        }
        let (kind, anchor) = match event {
            Event::Alias(anchor) => {
                // An alias to a node that contains it has no end, and that node does not exist yet.
                let node = self.node_by_anchor.get(&anchor).cloned();
                return node
                    .ok_or_else(|| syntax_error(line, "this refers to what is not there yet"));
            }
            Event::Scalar(text, style, anchor, tag) => {
                (Kind::Scalar(scalar(&text, style, tag.as_deref())), anchor)
            }
            Event::SequenceStart(anchor, _) => (self.list(depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.map(depth)?, anchor),
            _ => return Err(syntax_error(line, "a value is missing here")),
        };
        let node = Rc::new(Node { line, kind });
        // Zero means that the node has no anchor.
        if anchor != 0 {
            self.node_by_anchor.insert(anchor, Rc::clone(&node));
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Kind, SyntaxError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Kind::List(items)),
                (event, span) => items.push(self.node(event, span, depth - 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Kind, SyntaxError> {
        let mut members = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(Kind::Map(members)),
                (Event::Scalar(key, ..), _) => key.into_owned(),
                (event, span) => {
                    // A key that is not text cannot be one of the keys that are read.
                    self.node(event, span, depth - 1)?;
                    String::new()
                }
            };
            let (event, span) = self.next()?;
            members.push((key, self.node(event, span, depth - 1)?));
        }
    }
}

/// Returns the value of a scalar in the core schema of YAML 1.2. Hexadecimal and octal numbers stay text.
// `pintle-skills` has a function like this one. See decision 27 for the differences.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::from(text)),
    }
}

fn number(text: &str) -> Option<Value> {
    // Not everything that Rust reads as a number is one in YAML: `inf`, `nan`, `infinity`.
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    if !is_number {
        return None;
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Some(Value::from(integer));
    }
    let float = text.parse().ok().and_then(Number::from_f64);
    float.map(Value::Number)
}

/// A carriage return alone ends a line of YAML, too.
fn line_breaks(text: &str) -> usize {
    let feeds = text.matches('\n').count();
    feeds + text.matches('\r').count() - text.matches("\r\n").count()
}

fn syntax_error(line: usize, reason: &str) -> SyntaxError {
    SyntaxError {
        line: line.max(1),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const CONTINUE: &str = r#"%YAML 1.1
---
name: Local
# Theirs.
model_defaults: &defaults
  provider: openai
models:
  - <<: *defaults
    model: x
common: &common
  env: { REGION: eu }
  args: ["-y"]
mcpServers:
  - name: docs
    command: npx
    args:
      - "-y"
      - docs
    env:
      TOKEN: ${{ secrets.TOKEN }}
      PORT: 8080
      LOUD: true
      NOTHING:
  - <<: *common
    name: shared
    command: uvx
    args: [a]
  - command: nameless
"#;

    #[test]
    fn servers_in_a_list_have_names_and_lines() {
        let servers = servers(CONTINUE, &["mcpServers"]).expect("read");
        let [docs, shared] = servers.as_slice() else {
            panic!("{servers:?}");
        };
        assert_eq!((docs.name.as_str(), docs.line), ("docs", 14));
        assert_eq!((docs.lines["command"], docs.lines["env"]), (15, 20));
        let members = json!({ "name": "docs", "command": "npx", "args": ["-y", "docs"],
            "env": { "TOKEN": "${{ secrets.TOKEN }}", "PORT": 8080, "LOUD": true, "NOTHING": null } });
        assert_eq!(docs.members.clone().map(Value::Object), Some(members));
        let members =
            json!({ "name": "shared", "command": "uvx", "args": ["a"], "env": { "REGION": "eu" } });
        assert_eq!(shared.members.clone().map(Value::Object), Some(members));
    }

    #[test]
    fn servers_in_a_map_are_called_by_their_keys() {
        let text = "extensions:\n  git:\n    cmd: uvx\n    enabled: false\n  odd: 5\n";
        let servers = servers(text, &["extensions"]).expect("read");
        let names: Vec<_> = servers.iter().map(|s| (s.name.as_str(), s.line)).collect();
        assert_eq!(names, [("git", 3), ("odd", 5)]);
        assert_eq!(
            servers[0].members.as_ref().expect("a map")["enabled"],
            false
        );
        assert_eq!(servers[1].members, None);
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        for (text, value) in [
            ("yes", json!("yes")),
            ("'8080'", json!("8080")),
            ("!!str 8080", json!("8080")),
            ("-1", json!(-1)),
            ("1.5", json!(1.5)),
            ("1.2.3", json!("1.2.3")),
            ("inf", json!("inf")),
            ("0x10", json!("0x10")),
            ("~", json!(null)),
            ("|\n   two\n   lines\n", json!("two\nlines\n")),
        ] {
            let file = format!("a:\n b:\n  c: {text}\n");
            let servers = servers(&file, &["a"]).expect(text);
            assert_eq!(servers[0].members.as_ref().expect("a map")["c"], value);
        }
    }

    #[test]
    fn a_file_may_have_no_servers() {
        for text in ["", "# nothing\n", "a: 1", "- a\n", "mcpServers:\n", "5"] {
            assert_eq!(servers(text, &["mcpServers"]).expect(text), [], "{text}");
        }
    }

    #[test]
    fn a_fault_names_its_line() {
        for (text, line) in [
            ("a: 1\nb: [\n", 3),
            ("a: 1\n  b: 2\n", 2),
            ("a: \"x\n", 1),
            ("a: *nobody\n", 1),
        ] {
            let error = servers(text, &["a"]).expect_err(text);
            assert!((1..=line + 1).contains(&error.line), "{text}: {error:?}");
            assert!(!error.reason.is_empty(), "{error:?}");
        }
    }

    #[test]
    fn a_fault_at_the_end_is_on_the_last_line() {
        for (text, last) in [("a: 1\nb: [", 2), ("a: [\r\n", 2), ("a: {\rb: [", 2)] {
            let error = servers(text, &["a"]).expect_err(text);
            assert_eq!(error.line, last, "{text:?}: {error:?}");
        }
    }

    #[test]
    fn aliases_make_nothing_large() {
        let mut text = String::from("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..30 {
            let below = format!("*l{}, ", level - 1).repeat(10);
            text.push_str(&format!("l{level}: &l{level} [{below}]\n"));
        }
        text.push_str("mcpServers:\n  - name: a\n    args: *l29\n");
        let error = servers(&text, &["mcpServers"]).expect_err("too many");
        assert!(error.reason.contains("more than"), "{error:?}");
        // Under a path that is not read, the limit does not apply.
        assert_eq!(servers(&text, &["extensions"]).expect("read"), []);
        let itself = "mcpServers: &a\n  b: *a\n";
        assert!(servers(itself, &["mcpServers"]).is_err());
    }

    #[test]
    fn values_nested_too_deep_are_refused() {
        let deep = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(servers(&deep(DEPTH - 2), &["b"]).is_ok());
        assert!(servers(&deep(DEPTH + 1), &["b"]).is_err());
        assert!(servers(&deep(100_000), &["b"]).is_err());
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-c:\\[\\]{}&*!|>'\",\\- \n#%é]{0,60}") {
            let _ = servers(&text, &["a"]);
        }
    }
}
