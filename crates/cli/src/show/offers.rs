//! The page of a server: its identity, its capabilities and its offers.

use pintle::model::{Implementation, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::Guide;
use crate::page::{Page, Row};
use crate::screen::{Look, Style};
use crate::text;

/// Largest part of a description that is printed, in bytes.
const ABOUT_BYTES: usize = 4 * 1024;

/// Largest part of a server's instructions that is printed, in bytes.
const INSTRUCTION_BYTES: usize = 16 * 1024;

/// The offers of a server: four lists. A list is absent if the user did not request it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Offers {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<Tool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resources: Option<Vec<Resource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_templates: Option<Vec<ResourceTemplate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompts: Option<Vec<Prompt>>,
}

/// The description of a server after the handshake.
#[derive(Debug)]
pub(crate) struct Server<'s> {
    /// Its name and version, which a server may omit.
    pub(crate) identity: Option<&'s Implementation>,
    pub(crate) capabilities: &'s ServerCapabilities,
    /// Its instructions for the model.
    pub(crate) instructions: Option<&'s str>,
    /// The revision of this conversation.
    pub(crate) revision: String,
    /// The revisions that the server reports as supported.
    pub(crate) supported: &'s [String],
    /// `legacy` for a revision with a handshake, otherwise `modern`.
    pub(crate) era: &'static str,
}

/// Returns a section for each requested list.
pub(crate) fn offers(offers: &Offers, look: Look) -> String {
    let mut page = Page::new(look);
    add_offers(&mut page, offers);
    page.into_text()
}

fn add_offers(page: &mut Page, offers: &Offers) {
    if let Some(tools) = &offers.tools {
        section(page, "Tools", tools, add_tool);
    }
    if let Some(resources) = &offers.resources {
        section(page, "Resources", resources, add_resource);
    }
    if let Some(templates) = &offers.resource_templates {
        section(page, "Resource templates", templates, add_template);
    }
    if let Some(prompts) = &offers.prompts {
        section(page, "Prompts", prompts, add_prompt);
    }
}

fn section<T>(page: &mut Page, heading: &str, items: &[T], add: impl Fn(&mut Page, &T)) {
    page.heading(heading, &items.len().to_string());
    items.iter().for_each(|item| add(page, item));
}

fn add_tool(page: &mut Page, tool: &Tool) {
    let hints = hints(tool);
    let title = tool.title.as_deref().filter(|title| *title != tool.name);
    entry(page, &tool.name, title, &hints, tool.description.as_deref());
    let guide = Guide::new(&tool.input_schema);
    let arguments = guide.members().into_iter().map(|name| {
        let kind = kind(&guide.member(name));
        match guide.requires(name) {
            true => format!("{name}={kind}"),
            false => format!("[{name}={kind}]"),
        }
    });
    add_arguments(page, arguments.collect());
}

/// Returns the type of an argument in capitals, or its allowed values if these are at most six.
fn kind(guide: &Guide<'_>) -> String {
    let values: Vec<String> = guide.values().take(7).map(shown).collect();
    match values.len() {
        1..=6 => values.join("|"),
        _ => guide
            .kind()
            .to_uppercase()
            .replace(" OR ", "|")
            .replace("LIST OF ", "LIST:"),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn hints(tool: &Tool) -> String {
    let Some(hints) = &tool.annotations else {
        return String::new();
    };
    let words = [
        (hints.read_only_hint == Some(true), "read-only"),
        (
            hints.is_destructive() && hints.destructive_hint == Some(true),
            "destructive",
        ),
        (hints.idempotent_hint == Some(true), "idempotent"),
        (hints.open_world_hint == Some(true), "open world"),
    ];
    let words: Vec<_> = words
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, word)| *word)
        .collect();
    words.join(", ")
}

fn add_resource(page: &mut Page, resource: &Resource) {
    let size = resource
        .size
        .map(|size| text::counted(size as usize, "byte"));
    let beside = [resource.mime_type.clone(), size];
    let beside: Vec<_> = beside.into_iter().flatten().collect();
    let name = resource.title.as_deref().unwrap_or(&resource.name);
    let about = resource.description.as_deref();
    entry(page, &resource.uri, Some(name), &beside.join(", "), about);
}

fn add_template(page: &mut Page, template: &ResourceTemplate) {
    let name = template.title.as_deref().unwrap_or(&template.name);
    let mime = template.mime_type.as_deref().unwrap_or_default();
    let about = template.description.as_deref();
    entry(page, &template.uri_template, Some(name), mime, about);
}

fn add_prompt(page: &mut Page, prompt: &Prompt) {
    let title = prompt
        .title
        .as_deref()
        .filter(|title| *title != prompt.name);
    entry(page, &prompt.name, title, "", prompt.description.as_deref());
    let arguments =
        prompt
            .arguments
            .iter()
            .flatten()
            .map(|argument| match argument.is_required() {
                true => format!("{}=TEXT", argument.name),
                false => format!("[{}=TEXT]", argument.name),
            });
    add_arguments(page, arguments.collect());
}

/// Adds one item: its name, title and hints on one line, the first paragraph of its description below.
fn entry(page: &mut Page, name: &str, title: Option<&str>, hints: &str, about: Option<&str>) {
    let look = page.look();
    let mut line = format!("  {}", look.paint(Style::Name, &text::line(name)));
    if let Some(title) = title {
        line.push_str(&format!("  {}", text::line(title)));
    }
    if !hints.is_empty() {
        let hints = look.paint(Style::Faint, &format!("({})", text::line(hints)));
        line.push_str(&format!("  {hints}"));
    }
    page.line(&line);
    let about = first_paragraph(about.unwrap_or_default());
    page.paragraphs(6, &text::cut(about, ABOUT_BYTES));
}

fn add_arguments(page: &mut Page, arguments: Vec<String>) {
    if !arguments.is_empty() {
        page.faint(6, &arguments.join(" "));
    }
}

fn first_paragraph(about: &str) -> &str {
    let about = about.trim();
    about.split("\n\n").next().unwrap_or(about)
}

/// Returns the page of a server and its offers.
pub(crate) fn server(server: &Server<'_>, offered: &Offers, look: Look) -> String {
    let mut page = Page::new(look);
    let unnamed = Implementation::new("(a server without a name)", "");
    let identity = server.identity.unwrap_or(&unnamed);
    page.heading(identity.display_name(), &identity.version);
    let mut rows = vec![Row::new(
        "revision",
        format!("{} ({})", server.revision, server.era),
    )];
    if !server.supported.is_empty() {
        rows.push(Row::new("speaks", server.supported.join(", ")));
    }
    if identity.title.is_some() {
        rows.push(Row::new("name", &identity.name));
    }
    for (name, text) in [
        ("about", &identity.description),
        ("home", &identity.website_url),
    ] {
        if let Some(text) = text {
            rows.push(Row::new(name, text));
        }
    }
    rows.push(Row::new("can", abilities(server.capabilities).join(", ")));
    page.rows(2, &rows);
    if let Some(instructions) = server.instructions {
        page.heading("Instructions", "");
        page.paragraphs(2, &text::cut(instructions, INSTRUCTION_BYTES));
    }
    add_offers(&mut page, offered);
    page.into_text()
}

impl Server<'_> {
    /// Returns the same page as JSON.
    pub(crate) fn json(&self, offers: &Offers) -> Value {
        json!({
            "server": self.identity,
            "revision": self.revision,
            "era": self.era,
            "supportedVersions": self.supported,
            "capabilities": self.capabilities,
            "instructions": self.instructions,
            "offers": offers,
        })
    }
}

/// Returns the names of the capabilities, each with its enabled settings in parentheses.
fn abilities(capabilities: &ServerCapabilities) -> Vec<String> {
    let Ok(Value::Object(members)) = serde_json::to_value(capabilities) else {
        return Vec::new();
    };
    let abilities = members.iter().map(|(name, settings)| {
        let settings = settings.as_object().into_iter().flatten();
        let on: Vec<_> = settings
            .filter(|(_, value)| **value != Value::Bool(false))
            .collect();
        match on.is_empty() {
            true => name.clone(),
            false => {
                let on: Vec<_> = on.into_iter().map(|(name, _)| name.as_str()).collect();
                format!("{name} ({})", on.join(", "))
            }
        }
    });
    abilities.collect()
}
