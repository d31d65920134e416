//! The methods of the extension and their handlers.

use std::num::NonZeroUsize;

use pintle::model::method::Method;
use pintle::model::{Cursor, Error, Extra, Freshness, Resource};
use pintle::server::State;
use pintle::server::page::paginate;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::catalog::Catalog;
use crate::entry::SkillEntry;

/// `skills/list`: the skills of a server, a page at a time.
#[derive(Debug, Clone, Copy)]
pub enum ListSkills {}

/// `skills/get`: one skill by the URI of its `SKILL.md`, also one that is not listed.
#[derive(Debug, Clone, Copy)]
pub enum GetSkill {}

/// `resources/directory/read`: the direct children of a directory.
#[derive(Debug, Clone, Copy)]
pub enum ReadDirectory {}

impl Method for ListSkills {
    const NAME: &'static str = "skills/list";
    type Params = pintle::model::ListParams;
    type Result = ListSkillsResult;
}

impl Method for GetSkill {
    const NAME: &'static str = "skills/get";
    type Params = UriParams;
    type Result = GetSkillResult;
}

impl Method for ReadDirectory {
    const NAME: &'static str = "resources/directory/read";
    type Params = UriPageParams;
    type Result = DirectoryResult;
}

/// The parameters of a request for one URI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UriParams {
    /// The requested URI.
    pub uri: String,
    /// Members that this version does not know, `_meta` among them.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The parameters of a request for one page at a URI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UriPageParams {
    /// The requested URI.
    pub uri: String,
    /// The cursor of the page; none for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// Members that this version does not know, `_meta` among them.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A page of skills.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListSkillsResult {
    /// The skills of this page.
    pub skills: Vec<SkillEntry>,
    /// The cursor of the next page, unless this is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How long clients may cache the page.
    #[serde(flatten)]
    pub freshness: Option<Freshness>,
}

/// The result of a request for one skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetSkillResult {
    /// The entry of the skill.
    pub skill: SkillEntry,
    /// How long clients may cache the entry.
    #[serde(flatten)]
    pub freshness: Option<Freshness>,
}

/// A page of a directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryResult {
    /// Its direct children. Directories have the type `inode/directory`.
    pub resources: Vec<Resource>,
    /// The cursor of the next page, unless this is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
}

pub(crate) async fn list_skills(
    params: pintle::model::ListParams,
    catalog: State<Catalog>,
) -> Result<ListSkillsResult, Error> {
    let skills: Vec<&SkillEntry> = catalog.listed().collect();
    let keys: Vec<&str> = skills.iter().map(|skill| skill.directory()).collect();
    let span = paginate(&keys, cursor(params.cursor.as_ref()), page(&catalog))?;
    let page = skills.get(span.range).unwrap_or_default();
    Ok(ListSkillsResult {
        skills: page.iter().copied().cloned().collect(),
        next_cursor: span.next.map(Cursor::from),
        freshness: None,
    })
}

pub(crate) async fn get_skill(
    params: UriParams,
    catalog: State<Catalog>,
) -> Result<GetSkillResult, Error> {
    let skill = catalog.skill(&params.uri).cloned();
    Ok(GetSkillResult {
        skill: skill.ok_or_else(|| nothing_at("no skill is at this URI", &params.uri))?,
        freshness: None,
    })
}

pub(crate) async fn read_directory(
    params: UriPageParams,
    catalog: State<Catalog>,
) -> Result<DirectoryResult, Error> {
    let children = catalog
        .children(&params.uri)
        .ok_or_else(|| nothing_at("no directory is at this URI", &params.uri))?;
    let keys: Vec<&str> = children.iter().map(|child| &*child.uri).collect();
    let span = paginate(&keys, cursor(params.cursor.as_ref()), page(&catalog))?;
    Ok(DirectoryResult {
        resources: children.get(span.range).unwrap_or_default().to_vec(),
        next_cursor: span.next.map(Cursor::from),
    })
}

fn cursor(cursor: Option<&Cursor>) -> Option<&str> {
    cursor.map(Cursor::as_str)
}

fn page(catalog: &Catalog) -> NonZeroUsize {
    NonZeroUsize::new(catalog.limits.page_size).unwrap_or(NonZeroUsize::MIN)
}

/// Returns -32602. A text that is too long for a URI of a skill is not repeated in the error.
fn nothing_at(message: &'static str, uri: &str) -> Error {
    let error = Error::invalid_params(message);
    match uri.len() {
        ..=8192 => error.with_data(json!({ "uri": uri })),
        _ => error,
    }
}
