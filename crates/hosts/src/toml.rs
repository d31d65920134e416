//! Servers in a TOML file.

use std::collections::BTreeMap;

use pintle_model::JsonObject;
use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::raw_entry::{Lines, RawEntry, SyntaxError};

/// The servers in the table under a path of keys.
pub(super) fn servers(text: &str, path: &[&str]) -> Result<Vec<RawEntry>, SyntaxError> {
    let file = DeTable::parse(text).map_err(|error| fault(text, &error))?;
    let mut table = file.get_ref();
    for key in path {
        match table.get(*key).map(Spanned::get_ref) {
            Some(DeValue::Table(inner)) => table = inner,
            _ => return Ok(Vec::new()),
        }
    }
    let (servers, lines) = (table.iter(), Lines::new(text));
    Ok(servers
        .map(|(name, server)| raw_entry(&lines, name.get_ref(), server))
        .collect())
}

fn raw_entry(places: &Lines<'_>, name: &str, server: &Spanned<DeValue<'_>>) -> RawEntry {
    let table = match server.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    };
    RawEntry {
        name: name.to_owned(),
        line: places.at(server.span().start),
        members: table.map(object),
        lines: table.map(|table| lines(places, table)).unwrap_or_default(),
    }
}

fn lines(places: &Lines<'_>, table: &DeTable<'_>) -> BTreeMap<String, usize> {
    let members = table.iter();
    members
        .map(|(key, _)| {
            let line = places.at(key.span().start);
            (key.get_ref().to_string(), line)
        })
        .collect()
}

pub(super) fn object(table: &DeTable<'_>) -> JsonObject {
    let members = table.iter();
    members
        .map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())))
        .collect()
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(integer) => {
            let number = i64::from_str_radix(integer.as_str(), integer.radix());
            number.map_or(Value::Null, Value::from)
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            number.map_or(Value::Null, Value::Number)
        }
        DeValue::Boolean(boolean) => Value::from(*boolean),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(object(table)),
    }
}

pub(super) fn fault(text: &str, error: &Error) -> SyntaxError {
    SyntaxError {
        line: error
            .span()
            .map_or(1, |span| Lines::new(text).at(span.start)),
        reason: error.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = r#"
model = "x"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
startup_timeout_sec = 20
env = { "TOKEN" = "t", DEBUG = "1" }

[mcp_servers."with.dot"]
url = "https://a.example/mcp"
enabled = false
at = 2026-01-01
ratio = 0.5
"#;

    #[test]
    fn servers_are_read_with_their_lines() {
        let servers = servers(TEXT, &["mcp_servers"]).expect("read");
        let [docs, dotted] = servers.as_slice() else {
            panic!("{servers:?}");
        };
        assert_eq!((docs.name.as_str(), docs.lines["args"]), ("docs", 6));
        let members = json!({ "command": "npx", "args": ["-y", "docs"], "startup_timeout_sec": 20,
            "env": { "TOKEN": "t", "DEBUG": "1" } });
        assert_eq!(docs.members.clone().map(Value::Object), Some(members));
        assert_eq!(
            (dotted.name.as_str(), dotted.lines["url"]),
            ("with.dot", 11)
        );
        let members = dotted.members.as_ref().expect("a table");
        assert_eq!(members["enabled"], false);
        assert_eq!(
            (&members["at"], &members["ratio"]),
            (&json!("2026-01-01"), &json!(0.5))
        );
    }

    #[test]
    fn a_file_may_have_no_servers() {
        assert_eq!(servers("a = 1", &["mcp_servers"]).expect("read"), []);
        assert_eq!(
            servers("mcp_servers = 1", &["mcp_servers"]).expect("read"),
            []
        );
        let one = servers("[mcp_servers]\na = 1", &["mcp_servers"]).expect("read");
        assert_eq!(one[0].members, None);
    }

    #[test]
    fn a_fault_names_its_line() {
        let fault = servers("a = 1\nb = [\nc = 2\n", &["mcp_servers"]).expect_err("broken");
        assert!((2..=3).contains(&fault.line), "{fault:?}");
    }
}
