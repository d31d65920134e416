//! The files of a user's project: Cargo.toml, package.json, pyproject.toml and server.json.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use pintle::model::JsonObject;
use serde_json::Value;

use super::error::PackError;
use super::place::Place;

/// Maximum size of a file of the project, in bytes.
const FILE_BYTES: u64 = 1024 * 1024;

/// Maximum number of directories above the project that may have its workspace.
const ANCESTORS: usize = 16;

/// The description of a server in the files of its project.
#[derive(Debug, Clone, Default)]
pub(crate) struct Project {
    /// The kind of the first file that was found.
    pub(crate) kind: Kind,
    /// The name of the package.
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// The first author, perhaps with an address in angle brackets.
    pub(crate) author: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) homepage: Option<String>,
    pub(crate) keywords: Vec<String>,
    /// The name of the server for registries (`mcpName` of package.json).
    pub(crate) mcp_name: Option<String>,
    /// Each version, with its place.
    pub(crate) versions: Vec<Place>,
    /// The server.json of the project.
    pub(crate) server_json: Option<JsonObject>,
}

/// The ecosystem of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    #[default]
    Cargo,
    Npm,
    Python,
}

impl Project {
    /// Reads the files of a project.
    ///
    /// # Errors
    ///
    /// [`PackError`] if the directory has no such file, or a file cannot be read.
    pub(crate) fn read(directory: &Path) -> Result<Self, PackError> {
        let cargo = toml(&directory.join("Cargo.toml"))?;
        let cargo = cargo.map(|file| of_cargo(directory, &file)).transpose()?;
        let npm = json(&directory.join("package.json"))?.map(|file| of_npm(&file));
        let python = toml(&directory.join("pyproject.toml"))?.map(|file| of_python(&file));
        let mut found = [cargo.flatten(), npm, python].into_iter().flatten();
        let mut project = found
            .next()
            .ok_or_else(|| PackError::NoProject(directory.to_owned()))?;
        for other in found {
            project.versions.extend(other.versions);
            project.mcp_name = project.mcp_name.or(other.mcp_name);
        }
        if let Some(Value::Object(file)) = json(&directory.join("server.json"))? {
            project.versions.extend(versions_of_server_json(&file));
            project.server_json = Some(file);
        }
        Ok(project)
    }
}

/// Returns the project of a Cargo.toml; `None` if the file has a workspace and no package.
fn of_cargo(directory: &Path, file: &Value) -> Result<Option<Project>, PackError> {
    let Some(package) = file.get("package") else {
        return Ok(None);
    };
    let workspace = workspace(directory, file)?;
    let member = |key: &str| match package.get(key) {
        Some(Value::Object(inherited)) if inherited.contains_key("workspace") => {
            workspace.as_ref()?.get(key).cloned()
        }
        value => value.cloned(),
    };
    let text = |key: &str| member(key)?.as_str().map(str::to_owned);
    Ok(Some(Project {
        kind: Kind::Cargo,
        name: text("name"),
        description: text("description"),
        author: member("authors").and_then(|authors| first_text(&authors)),
        license: text("license"),
        repository: text("repository"),
        homepage: text("homepage"),
        keywords: member("keywords")
            .map(|words| texts(&words))
            .unwrap_or_default(),
        versions: place("Cargo.toml", text("version")),
        ..Project::default()
    }))
}

/// Returns `workspace.package` of the nearest workspace.
fn workspace(directory: &Path, file: &Value) -> Result<Option<Value>, PackError> {
    let of_file = |file: &Value| Some(file.get("workspace")?.get("package")?.clone());
    if let Some(found) = of_file(file) {
        return Ok(Some(found));
    }
    let directory = directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_owned());
    for above in directory.ancestors().skip(1).take(ANCESTORS) {
        if let Some(file) = toml(&above.join("Cargo.toml"))?
            && file.get("workspace").is_some()
        {
            return Ok(of_file(&file));
        }
    }
    Ok(None)
}

fn of_npm(file: &Value) -> Project {
    let text = |key: &str| file.get(key)?.as_str().map(str::to_owned);
    let inner = |key: &str, inner: &str| Some(file.get(key)?.get(inner)?.as_str()?.to_owned());
    Project {
        kind: Kind::Npm,
        name: text("name"),
        description: text("description"),
        author: text("author").or_else(|| inner("author", "name")),
        license: text("license"),
        repository: text("repository").or_else(|| inner("repository", "url")),
        homepage: text("homepage"),
        keywords: file.get("keywords").map(texts).unwrap_or_default(),
        mcp_name: text("mcpName"),
        versions: place("package.json", text("version")),
        server_json: None,
    }
}

fn of_python(file: &Value) -> Project {
    let project = file.get("project").cloned().unwrap_or_default();
    let text = |key: &str| project.get(key)?.as_str().map(str::to_owned);
    let url = |name: &str| {
        let urls = project.get("urls")?.as_object()?;
        let mut urls = urls.iter();
        let found = urls.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found?.1.as_str().map(str::to_owned)
    };
    let author = project.get("authors").and_then(|authors| {
        let name = authors.get(0)?.get("name")?.as_str()?;
        Some(name.to_owned())
    });
    Project {
        kind: Kind::Python,
        name: text("name"),
        description: text("description"),
        author,
        license: text("license"),
        repository: url("repository").or_else(|| url("source")),
        homepage: url("homepage"),
        keywords: project.get("keywords").map(texts).unwrap_or_default(),
        versions: place("pyproject.toml", text("version")),
        ..Project::default()
    }
}

/// Returns the version of a server.json, and those of its packages.
fn versions_of_server_json(file: &JsonObject) -> Vec<Place> {
    let text = |value: Option<&Value>| value?.as_str().map(str::to_owned);
    let mut versions = place("server.json", text(file.get("version")));
    let packages = file.get("packages").and_then(Value::as_array);
    for package in packages.into_iter().flatten() {
        let kind = package["registryType"].as_str().unwrap_or("package");
        let name = format!("{kind} in server.json");
        versions.extend(place(&name, text(package.get("version"))));
    }
    versions
}

fn place(place: &str, version: Option<String>) -> Vec<Place> {
    let version = version.map(|version| Place {
        place: place.to_owned(),
        version,
    });
    version.into_iter().collect()
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn first_text(value: &Value) -> Option<String> {
    texts(value).into_iter().next()
}

fn toml(file: &Path) -> Result<Option<Value>, PackError> {
    parsed(file, |text| {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    })
}

fn json(file: &Path) -> Result<Option<Value>, PackError> {
    parsed(file, |text| {
        serde_json::from_str(text).map_err(|error| error.to_string())
    })
}

fn parsed(
    file: &Path,
    parse: impl FnOnce(&str) -> Result<Value, String>,
) -> Result<Option<Value>, PackError> {
    let text = read(file).map_err(|source| PackError::Unreadable {
        file: file.to_owned(),
        source,
    })?;
    let value = text.map(|text| parse(&text)).transpose();
    value.map_err(|reason| PackError::Syntax {
        file: PathBuf::from(file),
        reason,
    })
}

/// Reads a file; `None` if it does not exist.
fn read(file: &Path) -> io::Result<Option<String>> {
    let opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    opened.take(FILE_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > FILE_BYTES {
        true => Err(ErrorKind::FileTooLarge.into()),
        false => Ok(Some(text)),
    }
}
