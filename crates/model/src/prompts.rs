//! Prompts: templates of messages that a user selects.
//!
//! Spec: [2026-07-28, Prompts](https://modelcontextprotocol.io/specification/2026-07-28/server/prompts).

use std::collections::BTreeMap;

use crate::fit::{drop_without, fit_freshness};
use crate::object::object;
use crate::{
    Base64, ContentBlock, Cursor, Extra, Feature, Fit, FitError, Freshness, Icon, InputResponses,
    Meta, ResourceContents, Revision, Role,
};

/// A prompt in a list.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// Programmatic name.
    pub name: String,
    /// Title, for display to people.
    pub title: Option<String>,
    /// Description of the prompt.
    pub description: Option<String>,
    /// Icons, for display.
    pub icons: Option<Vec<Icon>>,
    /// Arguments for templating the prompt.
    pub arguments: Option<Vec<PromptArgument>>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(Prompt {
    "name" => required name,
    "title" => optional title,
    "description" => optional description,
    "icons" => optional icons,
    "arguments" => optional arguments,
    "_meta" => optional meta,
});

impl Prompt {
    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the title, for display to people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description of the prompt.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the arguments of the prompt.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Vec<PromptArgument>) -> Self {
        self.arguments = Some(arguments);
        self
    }
}

/// An argument of a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Programmatic name.
    pub name: String,
    /// Title, for display to people.
    pub title: Option<String>,
    /// Description of the argument.
    pub description: Option<String>,
    /// Whether the argument is required. If missing, it is optional.
    pub required: Option<bool>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(PromptArgument {
    "name" => required name,
    "title" => optional title,
    "description" => optional description,
    "required" => optional required,
});

impl PromptArgument {
    /// Creates a required argument.
    pub fn required(name: impl Into<String>) -> Self {
        Self {
            required: Some(true),
            ..Self::optional(name)
        }
    }

    /// Creates an optional argument.
    pub fn optional(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the title, for display to people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description of the argument.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Returns true if the argument is required.
    pub fn is_required(&self) -> bool {
        self.required == Some(true)
    }
}

/// A page of prompts.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// Position of the next page; missing on the last page.
    pub next_cursor: Option<Cursor>,
    /// Cache hint of the page.
    pub freshness: Option<Freshness>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ListPromptsResult {
    "prompts" => required prompts,
    "nextCursor" => optional next_cursor,
    "ttlMs" | "cacheScope" => hint freshness,
    "_meta" => optional meta,
});

impl ListPromptsResult {
    /// Creates the last, or only, page.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self {
            prompts,
            ..Self::default()
        }
    }
}

/// Parameters of `prompts/get`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptParams {
    /// Name of the prompt.
    pub name: String,
    /// Values of the arguments, by name.
    pub arguments: Option<BTreeMap<String, String>>,
    /// Responses to the questions in the server's last result.
    pub input_responses: Option<InputResponses>,
    /// Request state from the server's last result, unchanged.
    pub request_state: Option<String>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(GetPromptParams {
    "name" => required name,
    "arguments" => optional arguments,
    "inputResponses" => optional input_responses,
    "requestState" => optional request_state,
    "_meta" => optional meta,
});

impl GetPromptParams {
    /// Creates the parameters that get `name` without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets one argument.
    #[must_use]
    pub fn with_argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let arguments = self.arguments.get_or_insert_default();
        arguments.insert(name.into(), value.into());
        self
    }
}

/// Result of `prompts/get`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// Description of the prompt.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(GetPromptResult {
    "description" => optional description,
    "messages" => required messages,
    "_meta" => optional meta,
});

impl GetPromptResult {
    /// Creates a result with messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    /// Returns the first base64 of the result that is worth not being copied: its JSON has at least 16 KiB.
    pub fn large_base64(&mut self) -> Option<&mut Base64> {
        let mut contents = self.messages.iter_mut().map(|message| &mut message.content);
        contents.find_map(ContentBlock::large_base64)
    }
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Sender of the message.
    pub role: Role,
    /// Content of the message: exactly one block.
    pub content: ContentBlock,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(PromptMessage {
    "role" => required role,
    "content" => required content,
});

impl PromptMessage {
    /// Creates a message.
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        Self {
            role,
            content: content.into(),
            extra: Extra::new(),
        }
    }

    /// Creates a message of the user.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates a message of the assistant.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

macro_rules! from_user {
    ($($content:ty),+) => {$(
        /// Converts the content into a message of the user.
        impl From<$content> for PromptMessage {
            fn from(content: $content) -> Self {
                Self::user(content)
            }
        }
    )+};
}

from_user!(&str, String, ContentBlock, ResourceContents);

impl Fit for Prompt {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::Titles, revision, &mut self.title);
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::ObjectMeta, revision, &mut self.meta);
        self.arguments.fit(revision)
    }
}

impl Fit for PromptArgument {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::Titles, revision, &mut self.title);
        Ok(())
    }
}

impl Fit for ListPromptsResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        fit_freshness(&mut self.freshness, revision);
        self.prompts.fit(revision)
    }
}

impl Fit for GetPromptParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::InputRequired, revision, &mut self.input_responses);
        drop_without(Feature::InputRequired, revision, &mut self.request_state);
        Ok(())
    }
}

impl Fit for GetPromptResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.messages.fit(revision)
    }
}

impl Fit for PromptMessage {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.content.fit(revision)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prompts_are_written_as_they_were_read() {
        let list = json!({"prompts": [{"name": "a", "title": "A", "description": "d",
            "icons": [{"src": "data:,"}], "arguments": [{"name": "x", "title": "X",
                "description": "d", "required": true, "y": 1}], "_meta": {}, "y": 1}],
            "nextCursor": "c", "y": 1});
        let read: ListPromptsResult = serde_json::from_value(list.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), list);

        let prompt = json!({"description": "d", "messages": [
            {"role": "narrator", "content": {"type": "text", "text": "t"}, "y": 1}], "y": 1});
        let read: GetPromptResult = serde_json::from_value(prompt.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), prompt);
    }

    // spec: 2025-11-25 AMB-64
    // spec: 2026-07-28 N-PROMPT-04
    #[test]
    fn arguments_are_text() {
        let number = json!({"name": "a", "arguments": {"x": 1}});
        assert!(serde_json::from_value::<GetPromptParams>(number).is_err());

        let params = GetPromptParams::new("a").with_argument("x", "1");
        let wire = json!({"name": "a", "arguments": {"x": "1"}});
        assert_eq!(serde_json::to_value(params).unwrap(), wire);
    }

    #[test]
    fn content_converts_into_a_message_of_the_user() {
        let note = ResourceContents::text("notes://a", "A note.");
        let messages: Vec<PromptMessage> = vec!["Summarize.".into(), note.clone().into()];
        let expected = vec![
            PromptMessage::user("Summarize."),
            PromptMessage::user(ContentBlock::resource(note)),
        ];
        assert_eq!(messages, expected);
    }

    // spec: 2025-11-25 D0618-04, D0326-06
    #[test]
    fn a_prompt_has_the_members_its_revision_knows() {
        let icons = Some(vec![Icon::new("data:,")]);
        let arguments = vec![PromptArgument::required("x").with_title("X")];
        let mut prompt = Prompt::new("a").with_title("A").with_arguments(arguments);
        prompt.icons = icons;

        prompt.fit(Revision::V2025_06_18).unwrap();
        assert_eq!(
            (prompt.icons.is_none(), prompt.title.is_some()),
            (true, true)
        );
        prompt.fit(Revision::V2025_03_26).unwrap();
        let wire = json!({"name": "a", "arguments": [{"name": "x", "required": true}]});
        assert_eq!(serde_json::to_value(prompt).unwrap(), wire);
    }

    // spec: 2026-07-28 N-PROMPT-09
    #[test]
    fn a_prompt_is_never_kept() {
        let mut result = GetPromptResult::new(vec![PromptMessage::user("hi")]);
        result.fit(Revision::LATEST).unwrap();

        let wire =
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]});
        assert_eq!(serde_json::to_value(result).unwrap(), wire);
    }
}
