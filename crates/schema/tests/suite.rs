//! The official tests of JSON Schema 2020-12: <https://github.com/json-schema-org/JSON-Schema-Test-Suite>.
//!
//! They are not part of this repository. `conformance/json-schema` fetches them and runs this test.
//! `suite/unpassed.txt` lists every test that fails here, with the reason; it must be exact.

use std::fs;
use std::path::{Path, PathBuf};

use pintle_schema::{Formats, SchemaError, Validator, Validity};
use serde_json::{Map, Value, json};

/// The tests that fail: `reading | file | case | test | reason`, without a test if all of a case fail.
const UNPASSED: &str = include_str!("suite/unpassed.txt");

/// The ways to read a schema, and the files that are read so.
const READINGS: [(&str, Compile, &[&str]); 3] = [
    ("ours", Validator::compile, &["", "optional"]),
    ("foreign", Validator::compile_foreign, &["", "optional"]),
    ("formats", with_formats, &["optional/format"]),
];

/// The formats that [`Formats::Enforced`] enforces.
const FORMATS: [&str; 4] = ["date", "date-time", "email", "uri"];

type Compile = fn(&Map<String, Value>) -> Result<Validator, SchemaError>;

fn with_formats(schema: &Map<String, Value>) -> Result<Validator, SchemaError> {
    Validator::compile_with(schema, Formats::Enforced)
}

#[test]
#[ignore = "the tests of JSON Schema are fetched by conformance/json-schema"]
fn the_official_tests_of_json_schema_pass_except_the_listed_ones() {
    let found: String = unpassed().join("\n");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-schema-unpassed.txt");
    fs::write(&path, format!("{found}\n")).expect("write the results");
    let is_same = found.trim() == without_comments(UNPASSED).trim();
    assert!(
        is_same,
        "the results differ from the list: {}",
        path.display()
    );
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// One line for each case or test that fails, sorted.
fn unpassed() -> Vec<String> {
    let mut lines = Vec::new();
    for (reading, compile, folders) in READINGS {
        for (file, cases) in folders.iter().flat_map(|folder| files(folder)) {
            for case in cases.as_array().expect("a list of cases") {
                let start = format!("{reading} | {file} | {}", text(case, "description"));
                let faults = faults_of(case, compile).into_iter();
                lines.extend(faults.map(|fault| format!("{start} | {fault}")));
            }
        }
    }
    lines.sort();
    lines
}

/// The faults of a case: its schema is refused, or tests have other results.
fn faults_of(case: &Value, compile: Compile) -> Vec<String> {
    let validator = match compile(&whole(&case["schema"])) {
        Ok(validator) => validator,
        Err(error) => return vec![format!("refused: {}", reason(&error))],
    };
    let tests = case["tests"].as_array().expect("a list of tests").iter();
    let faults = tests.filter_map(|test| {
        let fault = fault_of(&validator, test)?;
        Some(format!("{} | {fault}", text(test, "description")))
    });
    faults.collect()
}

fn fault_of(validator: &Validator, test: &Value) -> Option<String> {
    match (validator.check(&test["data"]), test["valid"] == true) {
        (Validity::Valid | Validity::PartlyChecked, true) | (Validity::Invalid(_), false) => None,
        (Validity::Invalid(_), true) => Some("wrong: rejected".to_owned()),
        (Validity::Valid, false) => Some("wrong: accepted".to_owned()),
        (Validity::PartlyChecked, false) => {
            let mut keywords: Vec<_> = validator
                .unenforced()
                .iter()
                .map(|it| &*it.keyword)
                .collect();
            keywords.sort_unstable();
            keywords.dedup();
            Some(format!("not enforced: {}", keywords.join(", ")))
        }
        (Validity::Unchecked, _) => Some("wrong: not checked".to_owned()),
    }
}

fn reason(error: &SchemaError) -> String {
    match error {
        SchemaError::Unsupported { keyword, .. } => keyword.clone(),
        SchemaError::RemoteRef { .. } => "$ref to another document".to_owned(),
        SchemaError::Dialect { .. } => "another dialect".to_owned(),
        error => error.to_string(),
    }
}

/// A schema that is a boolean has no place for itself here, because a tool's schema is an object.
fn whole(schema: &Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema.clone(),
        schema => Map::from_iter([("allOf".to_owned(), json!([schema]))]),
    }
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().expect("a text")
}

/// The files in a folder of the suite, by name.
fn files(folder: &str) -> Vec<(String, Value)> {
    let root = std::env::var_os("PINTLE_SCHEMA_SUITE_DIR").expect("the folder of the suite");
    let files = fs::read_dir(PathBuf::from(root).join(folder)).expect("the folder of the suite");
    let paths = files.map(|file| file.expect("a file").path());
    let named = paths.filter_map(|path| Some((name_of(&path)?, path)));
    named
        .filter(|(name, _)| !folder.ends_with("format") || FORMATS.contains(&name.as_str()))
        .map(|(name, path)| (name, read(&path)))
        .collect()
}

/// The name of a file with tests. 2020-12 has no `dependencies`; a file has tests of them.
fn name_of(path: &Path) -> Option<String> {
    let is_json = path.extension().is_some_and(|end| end == "json");
    let is_older = path.ends_with("dependencies-compatibility.json");
    (is_json && !is_older).then(|| {
        path.file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    })
}

fn read(path: &Path) -> Value {
    let text = fs::read(path).expect("read a file of the suite");
    serde_json::from_slice(&text).expect("JSON")
}
