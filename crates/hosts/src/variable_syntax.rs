//! How the files of hosts refer to variables.

use serde_json::Value;

/// A syntax. A host may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableSyntax {
    /// `${NAME}` and `${NAME:-default}`: the environment.
    Braces,
    /// `$NAME`: the environment.
    Dollar,
    /// `${env:NAME}`, `${input:id}`, `${workspaceFolder}` and the others of VS Code.
    Editor,
    /// `{env:NAME}` and `{file:path}`.
    Curly,
    /// `${{ secrets.NAME }}` of Continue.
    Secrets,
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// As it stands.
    Text(&'t str),
    /// To be replaced.
    Variable(Variable<'t>),
}

/// A variable, by the source of its value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Variable<'t> {
    /// A variable of the environment.
    Env {
        name: &'t str,
        default: Option<&'t str>,
    },
    /// A variable of the environment, or of a file of them beside the settings.
    Secret(&'t str),
    /// The text of a file, without blanks around it.
    File(&'t str),
    /// An answer of the user.
    Input(&'t str),
    /// The root of the project.
    Folder,
    /// Its last part.
    FolderName,
    /// The user's directory.
    Home,
    /// The separator of the parts of a path.
    Separator,
    /// Something that only the editor knows, while it runs.
    OfTheEditor(&'t str),
}

/// Splits a text into variables of the given syntaxes and the plain text between them.
pub(super) fn pieces<'t>(text: &'t str, syntaxes: &[VariableSyntax]) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match syntaxes
            .iter()
            .find_map(|variable_syntax| variable_syntax.at_start(rest))
        {
            Some((variable, length)) => {
                push_text(&mut pieces, &text[plain..at]);
                pieces.push(Piece::Variable(variable));
                at += length;
                plain = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    push_text(&mut pieces, &text[plain..]);
    pieces
}

/// Returns the first text of a value that has the form of a variable in another syntax than the given ones.
pub(super) fn unknown_variable<'t>(
    value: &'t Value,
    syntaxes: &[VariableSyntax],
) -> Option<&'t str> {
    match value {
        Value::String(text) => pieces(text, syntaxes).into_iter().find_map(|piece| {
            let Piece::Text(text) = piece else {
                return None;
            };
            variable_form(text)
        }),
        Value::Array(values) => values
            .iter()
            .find_map(|value| unknown_variable(value, syntaxes)),
        Value::Object(members) => {
            let mut values = members.values();
            values.find_map(|value| unknown_variable(value, syntaxes))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Returns `${…}` or `{env:…}`, or the whole text if it is `$NAME` or `%NAME%`.
fn variable_form(text: &str) -> Option<&str> {
    for open in ["${", "{env:"] {
        if let Some(begin) = text.find(open)
            && let Some(length) = text[begin..].find('}')
        {
            return Some(&text[begin..=begin + length]);
        }
    }
    let name = match text
        .strip_prefix('%')
        .and_then(|text| text.strip_suffix('%'))
    {
        Some(name) => name,
        None => text.strip_prefix('$')?,
    };
    is_name(name).then_some(text)
}

fn push_text<'t>(pieces: &mut Vec<Piece<'t>>, text: &'t str) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
}

impl VariableSyntax {
    /// The variable that a text begins with, and how long it is there, in bytes.
    fn at_start(self, text: &str) -> Option<(Variable<'_>, usize)> {
        match self {
            Self::Braces => enclosed(text, "${", |inside| {
                let (name, default) = match inside.split_once(":-") {
                    Some((name, default)) => (name, Some(default)),
                    None => (inside, None),
                };
                is_name(name).then_some(Variable::Env { name, default })
            }),
            Self::Dollar => {
                let rest = text.strip_prefix('$')?;
                let length = rest.bytes().take_while(|byte| is_in_name(*byte)).count();
                let name = &rest[..length];
                let variable = Variable::Env {
                    name,
                    default: None,
                };
                is_name(name).then_some((variable, 1 + length))
            }
            Self::Editor => enclosed(text, "${", of_editor),
            Self::Curly => enclosed(text, "{", |inside| match inside.split_once(':')? {
                ("env", name) => Some(Variable::Env {
                    name,
                    default: None,
                }),
                ("file", path) => Some(Variable::File(path)),
                _ => None,
            }),
            Self::Secrets => {
                let (variable, length) = enclosed(text, "${{", |inside| {
                    let inside = inside.trim();
                    match inside.split_once('.')? {
                        ("secrets", name) if is_name(name) => Some(Variable::Secret(name)),
                        // The user of a block of the hub sets its inputs in the editor.
                        ("inputs", _) => Some(Variable::OfTheEditor(inside)),
                        _ => None,
                    }
                })?;
                let is_closed = text.get(length..)?.starts_with('}');
                is_closed.then_some((variable, length + 1))
            }
        }
    }
}

fn enclosed<'t>(
    text: &'t str,
    open: &str,
    read: impl FnOnce(&'t str) -> Option<Variable<'t>>,
) -> Option<(Variable<'t>, usize)> {
    let rest = text.strip_prefix(open)?;
    let end = rest.find('}')?;
    let variable = read(&rest[..end])?;
    Some((variable, open.len() + end + 1))
}

/// Variables that only an editor knows, and that have no value here.
const OF_THE_EDITOR: [&str; 16] = [
    "file",
    "fileBasename",
    "fileBasenameNoExtension",
    "fileDirname",
    "fileDirnameBasename",
    "fileExtname",
    "fileWorkspaceFolder",
    "relativeFile",
    "relativeFileDirname",
    "lineNumber",
    "columnNumber",
    "selectedText",
    "execPath",
    "defaultBuildTask",
    "config",
    "command",
];

fn of_editor(inside: &str) -> Option<Variable<'_>> {
    let (kind, name) = match inside.split_once(':') {
        Some((kind, name)) => (kind, Some(name)),
        None => (inside, None),
    };
    match (kind, name) {
        ("env", Some(name)) => Some(Variable::Env {
            name,
            default: None,
        }),
        ("input", Some(id)) => Some(Variable::Input(id)),
        ("file", Some(path)) => Some(Variable::File(path)),
        ("workspaceFolder" | "workspaceRoot" | "cwd", _) => Some(Variable::Folder),
        ("workspaceFolderBasename" | "workspaceRootFolderName", _) => Some(Variable::FolderName),
        ("userHome", None) => Some(Variable::Home),
        ("pathSeparator" | "/", None) => Some(Variable::Separator),
        (kind, _) if OF_THE_EDITOR.contains(&kind) => Some(Variable::OfTheEditor(inside)),
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && name.bytes().all(is_in_name)
}

fn is_in_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn env(name: &str) -> Piece<'_> {
        Piece::Variable(Variable::Env {
            name,
            default: None,
        })
    }

    #[test]
    fn every_form_has_its_variables() {
        let braces = pieces("a ${B}${C:-d e}/$F ${env:G}", &[VariableSyntax::Braces]);
        let default = Variable::Env {
            name: "C",
            default: Some("d e"),
        };
        let text = Piece::Text("/$F ${env:G}");
        assert_eq!(
            braces,
            [Piece::Text("a "), env("B"), Piece::Variable(default), text]
        );

        let dollar = pieces(
            "$A_1-$2 é$B",
            &[VariableSyntax::Braces, VariableSyntax::Dollar],
        );
        assert_eq!(dollar, [env("A_1"), Piece::Text("-$2 é"), env("B")]);

        let curly = pieces("{env:A}{file:~/x}{x}", &[VariableSyntax::Curly]);
        let file = Piece::Variable(Variable::File("~/x"));
        assert_eq!(curly, [env("A"), file, Piece::Text("{x}")]);
    }

    #[test]
    fn the_variables_of_editors_are_distinguished() {
        for (text, variable) in [
            (
                "${env:A}",
                Variable::Env {
                    name: "A",
                    default: None,
                },
            ),
            ("${input:key}", Variable::Input("key")),
            ("${workspaceFolder}", Variable::Folder),
            ("${workspaceFolder:api}", Variable::Folder),
            ("${workspaceFolderBasename}", Variable::FolderName),
            ("${userHome}", Variable::Home),
            ("${pathSeparator}", Variable::Separator),
            ("${/}", Variable::Separator),
            ("${file:/x}", Variable::File("/x")),
            ("${file}", Variable::OfTheEditor("file")),
            ("${command:x.y}", Variable::OfTheEditor("command:x.y")),
        ] {
            assert_eq!(
                pieces(text, &[VariableSyntax::Editor]),
                [Piece::Variable(variable)]
            );
        }
        for text in ["${A}", "${}", "${env:A", "$env:A", "${unknown:x}"] {
            assert_eq!(pieces(text, &[VariableSyntax::Editor]), [Piece::Text(text)]);
        }
    }

    #[test]
    fn secrets_have_two_braces() {
        for text in ["${{ secrets.KEY }}", "${{secrets.KEY}}"] {
            let secret = Piece::Variable(Variable::Secret("KEY"));
            assert_eq!(pieces(text, &[VariableSyntax::Secrets]), [secret], "{text}");
        }
        let input = Piece::Variable(Variable::OfTheEditor("inputs.KEY"));
        assert_eq!(
            pieces("${{ inputs.KEY }}", &[VariableSyntax::Secrets]),
            [input]
        );
        for text in [
            "${{ secrets.KEY }",
            "${{ KEY }}",
            "${KEY}",
            "${{ secrets. }}",
        ] {
            assert_eq!(
                pieces(text, &[VariableSyntax::Secrets]),
                [Piece::Text(text)]
            );
        }
    }

    #[test]
    fn a_variable_of_another_syntax_is_found() {
        let found =
            |value: &Value, syntaxes: &[_]| unknown_variable(value, syntaxes).map(str::to_owned);
        let value = json!({ "command": "x", "env": { "A": "a ${env:KEY} b" }, "n": 1 });
        assert_eq!(found(&value, &[]).as_deref(), Some("${env:KEY}"));
        assert_eq!(found(&value, &[VariableSyntax::Editor]), None);
        for (text, variable) in [
            ("${KEY}", Some("${KEY}")),
            ("{env:KEY}", Some("{env:KEY}")),
            ("$KEY", Some("$KEY")),
            ("%KEY%", Some("%KEY%")),
            ("costs $5", None),
            ("100 %", None),
            ("${KEY", None),
        ] {
            assert_eq!(found(&json!([text]), &[]).as_deref(), variable, "{text}");
        }
    }

    #[test]
    fn without_a_form_everything_is_text() {
        assert_eq!(
            pieces("${A} $B {env:C}", &[]),
            [Piece::Text("${A} $B {env:C}")]
        );
        assert_eq!(pieces("", &[VariableSyntax::Braces]), []);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[${}:a-zA-Zé_/-]{0,40}") {
            let syntaxes = [VariableSyntax::Secrets, VariableSyntax::Editor, VariableSyntax::Braces, VariableSyntax::Dollar, VariableSyntax::Curly];
            let kept: usize = pieces(&text, &syntaxes).iter().map(|piece| match piece {
                Piece::Text(text) => text.len(),
                Piece::Variable(_) => 0,
            }).sum();
            prop_assert!(kept <= text.len());
        }
    }
}
