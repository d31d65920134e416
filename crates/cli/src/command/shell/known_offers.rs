//! The words that a shell knows: its commands, and the offers of the server.

use pintle::model::{Prompt, Tool};

use crate::command::list::offers;
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::show::Offers;

/// Commands of a shell that are commands of the program, too.
pub(super) const COMMANDS: [&str; 10] = [
    "bench", "call", "complete", "inspect", "list", "listen", "ping", "prompt", "read", "tasks",
];

/// Commands that only a shell has.
pub(super) const SHELL_COMMANDS: [&str; 3] = ["exit", "help", "reload"];

/// Whether a word is a command of the program.
pub(super) fn is_command(word: &str) -> bool {
    COMMANDS.contains(&word)
}

/// Names of a server's offers that can be typed in a line.
#[derive(Debug, Default)]
pub(super) struct KnownOffers(Offers);

impl KnownOffers {
    /// Requests the offers of the server.
    ///
    /// # Errors
    ///
    /// The errors of the calls.
    pub(super) async fn learn(conversation: &Conversation) -> Result<Self, CliError> {
        offers(conversation, &[]).await.map(Self)
    }

    /// Whether the server has a tool of this name.
    pub(super) fn is_tool(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.0.tools.iter().flatten().find(|tool| tool.name == name)
    }

    pub(super) fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.0
            .prompts
            .iter()
            .flatten()
            .find(|prompt| prompt.name == name)
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.0.tools.iter().flatten().map(|tool| tool.name.as_str())
    }

    pub(super) fn prompts(&self) -> impl Iterator<Item = &str> {
        self.0
            .prompts
            .iter()
            .flatten()
            .map(|prompt| prompt.name.as_str())
    }

    /// Returns the URIs of resources and of templates.
    pub(super) fn uris(&self) -> impl Iterator<Item = &str> {
        let resources = self.0.resources.iter().flatten();
        let templates = self.0.resource_templates.iter().flatten();
        let resources = resources.map(|resource| resource.uri.as_str());
        resources.chain(templates.map(|template| template.uri_template.as_str()))
    }

    /// Creates offers with these tools.
    #[cfg(test)]
    pub(super) fn of_tools(tools: serde_json::Value) -> Self {
        Self(Offers {
            tools: serde_json::from_value(tools).expect("tools"),
            ..Offers::default()
        })
    }

    /// Adds prompts to the offers.
    #[cfg(test)]
    pub(super) fn and_prompts(mut self, prompts: serde_json::Value) -> Self {
        self.0.prompts = serde_json::from_value(prompts).expect("prompts");
        self
    }
}
