//! The description of a server: the files of its project and the answers of the running server, which have to agree.

use pintle::model::JsonObject;

use super::PackOptions;
use super::error::PackError;
use super::place::Place;
use super::project::{Kind, Project};

/// Maximum length of a description in a registry, in characters.
const DESCRIPTION_CHARS: usize = 100;

/// Maximum length of a name in a registry, in bytes.
const NAME_BYTES: usize = 200;

/// The answers of the running server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offered {
    /// The version that the server reports.
    pub(crate) version: Option<String>,
    /// The title that the server reports.
    pub(crate) title: Option<String>,
    /// The names and descriptions of the tools.
    pub(crate) tools: Vec<(String, Option<String>)>,
    /// The prompts, with their texts.
    pub(crate) prompts: Vec<OfferedPrompt>,
}

/// A prompt of the running server.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfferedPrompt {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) arguments: Vec<String>,
    /// The text with placeholders. Absent if the prompt needs real arguments, or is not only text.
    pub(crate) text: Option<String>,
}

/// Everything that the files of a package contain.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    /// The name for registries.
    pub(crate) name: String,
    /// The name of the package in its ecosystem.
    pub(crate) package: String,
    /// The name of the program, which is safe as the name of a file.
    pub(crate) program: String,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) author: Option<String>,
    pub(crate) license: Option<String>,
    /// The URL of the repository, for browsers.
    pub(crate) repository: Option<String>,
    pub(crate) homepage: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) server_json: JsonObject,
    pub(crate) offered: Offered,
}

impl Facts {
    /// Joins the files of a project with the answers of its running server.
    ///
    /// # Errors
    ///
    /// [`PackError::Drift`] if the versions differ; otherwise for a value that is missing or invalid.
    pub(crate) fn new(
        project: Project,
        offered: Offered,
        options: &PackOptions,
    ) -> Result<Self, PackError> {
        let version = version(&project, &offered)?;
        let repository = project.repository.as_deref().map(browsable);
        let name = registry_name(&project, options, repository.as_deref())?;
        let missing = |what, option| PackError::Missing { what, option };
        let package = project.name.clone();
        let package =
            package.ok_or_else(|| missing("name of a package", "the file of the project"))?;
        let server_json = project.server_json.unwrap_or_default();
        let description = options.description.clone();
        let described = server_json
            .get("description")
            .and_then(|text| text.as_str());
        let description = description.or_else(|| described.map(str::to_owned));
        let description = description.or(project.description);
        Ok(Self {
            kind: project.kind,
            program: file_name(&package),
            description: checked_description(
                description.ok_or_else(|| missing("description", "--description"))?,
            )?,
            author: options.author.clone().or(project.author),
            license: project.license,
            homepage: project.homepage,
            keywords: project.keywords,
            repository,
            name,
            package,
            version,
            server_json,
            offered,
        })
    }
}

/// Returns the version that all places have.
fn version(project: &Project, offered: &Offered) -> Result<String, PackError> {
    let mut places = project.versions.clone();
    places.extend(offered.version.clone().map(|version| Place {
        place: "the running server".to_owned(),
        version,
    }));
    let Some(first) = places.first() else {
        return Err(PackError::NoVersion);
    };
    let version = first.version.clone();
    if places.iter().any(|place| place.version != version) {
        return Err(PackError::Drift(places));
    }
    let is_range = version.contains(['^', '~', '>', '<', '=', '*', ' ', '/', '\\']);
    match version.is_empty() || is_range || version == "latest" {
        true => Err(PackError::invalid(
            "version",
            format!("`{version}` is not one version"),
        )),
        false => Ok(version),
    }
}

/// Returns the name for registries: of the option, of a file, or of the repository.
fn registry_name(
    project: &Project,
    options: &PackOptions,
    repository: Option<&str>,
) -> Result<String, PackError> {
    let of_file = project.server_json.as_ref();
    let of_file = of_file
        .and_then(|file| file.get("name")?.as_str())
        .map(str::to_owned);
    let named = [
        ("--name", options.name.clone()),
        ("server.json", of_file),
        ("mcpName of package.json", project.mcp_name.clone()),
    ];
    let mut named = named
        .into_iter()
        .filter_map(|(place, name)| Some((place, name?)));
    let Some((first, name)) = named.next() else {
        let name = repository.and_then(name_of_repository);
        let what = "name for registries";
        return name.ok_or(PackError::Missing {
            what,
            option: "--name",
        });
    };
    if let Some((second, other)) = named.find(|(_, other)| *other != name) {
        return Err(PackError::NameDrift {
            first,
            name,
            second,
            other,
        });
    }
    match is_registry_name(&name) {
        true => Ok(name),
        false => Err(PackError::invalid(
            "name for registries",
            format!("`{name}` has not the form io.github.USER/SERVER"),
        )),
    }
}

fn is_registry_name(name: &str) -> bool {
    let Some((namespace, server)) = name.split_once('/') else {
        return false;
    };
    let is_namespace = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    let is_server = |byte: u8| is_namespace(byte) || byte == b'_';
    name.len() <= NAME_BYTES
        && !namespace.is_empty()
        && !server.is_empty()
        && namespace.bytes().all(is_namespace)
        && server.bytes().all(is_server)
}

/// Returns `io.github.USER/REPOSITORY` for a repository at GitHub.
fn name_of_repository(url: &str) -> Option<String> {
    let path = url.strip_prefix("https://github.com/")?;
    let (user, repository) = path.split_once('/')?;
    let name = format!("io.github.{user}/{repository}");
    is_registry_name(&name).then_some(name)
}

/// Returns the URL of a repository for browsers: npm also has `git+https://….git`.
fn browsable(url: &str) -> String {
    let url = url.strip_prefix("git+").unwrap_or(url);
    let short = url
        .strip_prefix("github:")
        .map(|path| format!("https://github.com/{path}"));
    let url = short.unwrap_or_else(|| url.to_owned());
    let url = url.strip_suffix(".git").unwrap_or(&url);
    url.trim_end_matches('/').to_owned()
}

fn checked_description(description: String) -> Result<String, PackError> {
    let length = description.chars().count();
    match length {
        1..=DESCRIPTION_CHARS => Ok(description),
        _ => Err(PackError::invalid(
            "description",
            format!(
                "it has {length} characters, and registries accept 1 to {DESCRIPTION_CHARS}; --description sets a shorter one"
            ),
        )),
    }
}

/// Returns the last part of a package's name with characters that every file system accepts.
fn file_name(package: &str) -> String {
    let last = package.rsplit('/').next().unwrap_or(package);
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let safe: String = last
        .chars()
        .map(|c| if is_safe(c) { c } else { '-' })
        .collect();
    match safe.trim_start_matches('.') {
        "" => "server".to_owned(),
        safe => safe.to_owned(),
    }
}
