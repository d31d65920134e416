//! The surface of a server, in a stable order.

use std::fmt;

use pintle_model::{Implementation, Prompt, Resource, ResourceTemplate, Tool};
use serde::Serialize;
use serde_json::{Map, Value};

/// A definition as JSON: name first, then the other members in the order of their names.
pub(crate) type Definition = Map<String, Value>;

/// The members of a definition that a reader looks for first.
const FIRST_MEMBERS: [&str; 5] = ["name", "uri", "uriTemplate", "title", "description"];

/// A kind of entry that a server lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EntryKind {
    /// A tool; its key is its name.
    Tool,
    /// A prompt; its key is its name.
    Prompt,
    /// A resource; its key is its URI.
    Resource,
    /// A template of resources; its key is its URI template.
    ResourceTemplate,
}

impl EntryKind {
    pub(crate) const ALL: [Self; 4] = [
        Self::Tool,
        Self::Prompt,
        Self::Resource,
        Self::ResourceTemplate,
    ];

    /// The name of the list in a lock file.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::ResourceTemplate => "resourceTemplates",
        }
    }

    /// The member that identifies an entry.
    pub(crate) fn key_member(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::ResourceTemplate => "uriTemplate",
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::ResourceTemplate => "resource template",
        })
    }
}

/// The name and version of a server, its instructions, and the whole definitions of everything that it lists.
///
/// Entries are sorted by their keys, and members by their names, so that the order in which a server lists them
/// does not matter. Three members are left out, because they do not belong to a definition: `_meta`, and of a
/// resource its `size` and `annotations.lastModified`, which change with its content.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) lists: [Vec<Definition>; 4],
}

impl Surface {
    /// Creates the surface of a server that lists nothing.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// Creates the surface of a server that lists nothing, from the identity that the server reports. Name and
    /// version are empty if the server reports none.
    pub fn of_identity(identity: Option<&Implementation>) -> Self {
        let known = |identity: &Implementation| Self::new(&identity.name, &identity.version);
        identity.map(known).unwrap_or_default()
    }

    /// Sets the instructions of the server.
    #[must_use]
    pub fn with_instructions(mut self, instructions: Option<impl Into<String>>) -> Self {
        self.instructions = instructions.map(Into::into);
        self
    }

    /// Adds tools to those that are there.
    #[must_use]
    pub fn with_tools<'t>(self, tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        self.with(EntryKind::Tool, tools.into_iter().map(of_tool).collect())
    }

    /// Adds prompts to those that are there.
    #[must_use]
    pub fn with_prompts<'p>(self, prompts: impl IntoIterator<Item = &'p Prompt>) -> Self {
        self.with(
            EntryKind::Prompt,
            prompts.into_iter().map(of_prompt).collect(),
        )
    }

    /// Adds resources to those that are there.
    #[must_use]
    pub fn with_resources<'r>(self, resources: impl IntoIterator<Item = &'r Resource>) -> Self {
        self.with(
            EntryKind::Resource,
            resources.into_iter().map(of_resource).collect(),
        )
    }

    /// Adds templates of resources.
    #[must_use]
    pub fn with_resource_templates<'r>(
        self,
        templates: impl IntoIterator<Item = &'r ResourceTemplate>,
    ) -> Self {
        self.with(
            EntryKind::ResourceTemplate,
            templates.into_iter().map(of_template).collect(),
        )
    }

    /// The name that the server reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version that the server reports.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The instructions of the server for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// The definitions of one kind, sorted by their keys.
    pub fn definitions(&self, kind: EntryKind) -> &[Map<String, Value>] {
        &self.lists[kind as usize]
    }

    /// Returns the tools. A definition of a lock file that is not a tool is left out.
    pub fn tools(&self) -> impl Iterator<Item = Tool> {
        let definitions = self.definitions(EntryKind::Tool).iter();
        definitions.filter_map(|tool| serde_json::from_value(Value::Object(tool.clone())).ok())
    }

    fn with(mut self, kind: EntryKind, definitions: Vec<Option<Definition>>) -> Self {
        self.extend(kind, definitions.into_iter().flatten());
        self
    }

    pub(crate) fn extend(
        &mut self,
        kind: EntryKind,
        definitions: impl IntoIterator<Item = Definition>,
    ) {
        let list = &mut self.lists[kind as usize];
        list.extend(definitions.into_iter().map(|members| normal(kind, members)));
        // The whole definition orders entries of the same key.
        list.sort_by_cached_key(|members| (key(kind, members).to_owned(), text_of(members)));
    }
}

// Not generic, so that other crates do not compile the encoding of all kinds again.
fn of_tool(tool: &Tool) -> Option<Definition> {
    definition(tool)
}

fn of_prompt(prompt: &Prompt) -> Option<Definition> {
    definition(prompt)
}

fn of_resource(resource: &Resource) -> Option<Definition> {
    definition(resource)
}

fn of_template(template: &ResourceTemplate) -> Option<Definition> {
    definition(template)
}

fn definition(item: &impl Serialize) -> Option<Definition> {
    match serde_json::to_value(item) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    }
}

/// The key of a definition; empty if it has none.
pub(crate) fn key(kind: EntryKind, members: &Definition) -> &str {
    let key = members.get(kind.key_member());
    key.and_then(Value::as_str).unwrap_or_default()
}

fn text_of(members: &Definition) -> String {
    serde_json::to_string(members).unwrap_or_default()
}

/// Returns a definition without the members that do not belong to it, in the stable order.
fn normal(kind: EntryKind, mut members: Definition) -> Definition {
    members.remove("_meta");
    if kind == EntryKind::Resource {
        members.remove("size");
        drop_last_modified(&mut members);
    }
    members.sort_keys();
    members.values_mut().for_each(Value::sort_all_objects);
    let first = FIRST_MEMBERS
        .iter()
        .filter_map(|name| members.shift_remove_entry(*name));
    let mut ordered: Definition = first.collect();
    ordered.append(&mut members);
    ordered
}

fn drop_last_modified(members: &mut Definition) {
    let Some(Value::Object(annotations)) = members.get_mut("annotations") else {
        return;
    };
    annotations.remove("lastModified");
    if annotations.is_empty() {
        members.remove("annotations");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Definition {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn the_order_of_a_list_does_not_matter() {
        let tools = ["b", "a", "c"].map(Tool::without_arguments);
        let forward = Surface::new("s", "1").with_tools(&tools);
        let backward = Surface::new("s", "1").with_tools(tools.iter().rev());
        assert_eq!(forward.to_json(), backward.to_json());
        let names: Vec<_> = forward.tools().map(|tool| tool.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn members_have_a_stable_order_with_the_name_first() {
        let tool = object(
            json!({ "z": { "b": 1, "a": 2 }, "name": "n", "description": "d",
            "_meta": { "secret": 1 } }),
        );
        let expected = r#"{"name":"n","description":"d","z":{"a":2,"b":1}}"#;
        assert_eq!(text_of(&normal(EntryKind::Tool, tool)), expected);
    }

    #[test]
    fn the_content_of_a_resource_is_not_a_part_of_its_definition() {
        let resource = object(json!({ "uri": "u", "name": "n", "size": 4,
            "annotations": { "lastModified": "2026-01-01T00:00:00Z" } }));
        let expected = object(json!({ "name": "n", "uri": "u" }));
        assert_eq!(normal(EntryKind::Resource, resource), expected);
        let tool = object(json!({ "name": "n", "size": 4 }));
        assert_eq!(normal(EntryKind::Tool, tool.clone()), tool);
    }
}
