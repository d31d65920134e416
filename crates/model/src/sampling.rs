//! Sampling: requests for a message of the client's model.
//!
//! Spec: [2026-07-28, Sampling](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling).

mod balance;
mod content;
mod fit;
mod preferences;
mod with_tools;

pub use balance::{SamplingRequestError, check_tool_results};
pub use content::{SamplingContent, SamplingMessage};
pub use preferences::{IncludeContext, ModelHint, ModelPreferences, ToolChoice, ToolChoiceMode};
pub use with_tools::ToolSampling;

use crate::object::object;
use crate::open_enum::open_enum;
use crate::{ContentBlock, Extra, JsonObject, Meta, Role, TaskMetadata, Tool, ToolUseContent};

/// Parameters of a sampling request. The client may change or ignore everything optional.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Maximum number of tokens to generate.
    pub max_tokens: u64,
    /// Model preferences of the server.
    pub model_preferences: Option<ModelPreferences>,
    /// System prompt that the server proposes.
    pub system_prompt: Option<String>,
    /// Servers whose context the client adds; deprecated except for `none`.
    pub include_context: Option<IncludeContext>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Stop sequences of the model.
    pub stop_sequences: Option<Vec<String>>,
    /// Metadata for the provider of the model.
    pub metadata: Option<JsonObject>,
    /// Tools the model may use, since 2025-11-25; the client must have declared it.
    pub tools: Option<Vec<Tool>>,
    /// Whether the model must use tools, since 2025-11-25.
    pub tool_choice: Option<ToolChoice>,
    /// Runs the request as a task, in 2025-11-25.
    pub task: Option<TaskMetadata>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(CreateMessageParams {
    "messages" => required messages,
    "maxTokens" => required max_tokens (read crate::number::whole),
    "modelPreferences" => optional model_preferences,
    "systemPrompt" => optional system_prompt,
    "includeContext" => optional include_context,
    "temperature" => optional temperature (write crate::number::shortest),
    "stopSequences" => optional stop_sequences,
    "metadata" => optional metadata,
    "tools" => optional tools,
    "toolChoice" => optional tool_choice,
    "task" => optional task,
    "_meta" => optional meta,
});

impl CreateMessageParams {
    /// Asks for the message that follows `messages`, of at most `max_tokens` tokens.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            ..Self::default()
        }
    }

    /// Asks as [`CreateMessageParams::new`] and lets the model use `tools`.
    pub fn with_tools(
        messages: Vec<SamplingMessage>,
        max_tokens: u64,
        tools: Vec<Tool>,
    ) -> ToolSampling {
        ToolSampling::new(messages, max_tokens, tools)
    }

    /// Whether the request needs a client that declared `sampling.tools`.
    pub fn needs_tools(&self) -> bool {
        self.tools.is_some() || self.tool_choice.is_some()
    }

    /// Checks what the types cannot: that tool uses and results answer each other, and that
    /// tools exist when one must be used. Both sides check before they send or act.
    ///
    /// # Errors
    ///
    /// [`SamplingRequestError`], for -32602.
    pub fn check(&self) -> Result<(), SamplingRequestError> {
        let must_use = self
            .tool_choice
            .as_ref()
            .and_then(|choice| choice.mode.as_ref())
            == Some(&ToolChoiceMode::Required);
        if must_use && self.tools.as_deref().unwrap_or_default().is_empty() {
            return Err(SamplingRequestError::NothingToUse);
        }
        check_tool_results(&self.messages)
    }
}

/// Message that the model generated.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Sender of the message; a model is the assistant.
    pub role: Role,
    /// Content of the message: one block, or several since 2025-11-25.
    pub content: SamplingContent,
    /// Name of the model.
    pub model: String,
    /// Reason why the model stopped.
    pub stop_reason: Option<StopReason>,
    /// Result metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(CreateMessageResult {
    "role" => required role,
    "content" => required content,
    "model" => required model,
    "stopReason" => optional stop_reason,
    "_meta" => optional meta,
});

impl CreateMessageResult {
    /// Creates a message of the assistant.
    pub fn new(content: impl Into<SamplingContent>, model: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
            extra: Extra::new(),
        }
    }

    /// Returns the tool uses that the model requests.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUseContent> {
        self.content
            .blocks()
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolUse(tool_use) => Some(&**tool_use),
                _ => None,
            })
    }

    /// The message as one more turn of the conversation.
    pub fn into_message(self) -> SamplingMessage {
        SamplingMessage::new(self.role, self.content)
    }
}

open_enum! {
    /// Reason why a model stopped.
    pub enum StopReason {
        /// The turn ended naturally.
        EndTurn = "endTurn",
        /// A stop sequence occurred.
        StopSequence = "stopSequence",
        /// The token limit was reached.
        MaxTokens = "maxTokens",
        /// The model requests tools.
        ToolUse = "toolUse",
    }
}

#[cfg(test)]
mod tests;
