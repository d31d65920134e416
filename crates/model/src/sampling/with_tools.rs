//! Sampling with at least one tool.

use super::{CreateMessageParams, SamplingMessage, ToolChoiceMode};
use crate::Tool;
use crate::read::{Read, ReadError, Source, deserialize_by_read, missing, write_as_inner};

/// A sampling request with tools: its answer may be several blocks and may use tools.
///
/// A request without tools is answered by one plain block; see
/// [`SamplingContent::into_single`](super::SamplingContent::into_single).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSampling(CreateMessageParams);

write_as_inner!(ToolSampling);

impl ToolSampling {
    /// Asks for the message that follows `messages` and lets the model use `tools`.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64, tools: Vec<Tool>) -> Self {
        Self(CreateMessageParams {
            tools: Some(tools),
            ..CreateMessageParams::new(messages, max_tokens)
        })
    }

    /// Sets whether the model must use tools.
    #[must_use]
    pub fn choose(mut self, mode: ToolChoiceMode) -> Self {
        self.0.tool_choice = Some(mode.into());
        self
    }

    /// The tools.
    pub fn tools(&self) -> &[Tool] {
        self.0
            .tools
            .as_deref()
            .expect("every constructor puts tools in")
    }

    /// The request.
    pub fn as_params(&self) -> &CreateMessageParams {
        &self.0
    }

    pub(super) fn params_mut(&mut self) -> &mut CreateMessageParams {
        &mut self.0
    }
}

impl TryFrom<CreateMessageParams> for ToolSampling {
    type Error = Box<CreateMessageParams>;

    /// Returns the request as the error if it has no `tools`.
    fn try_from(params: CreateMessageParams) -> Result<Self, Box<CreateMessageParams>> {
        if params.tools.is_some() {
            Ok(Self(params))
        } else {
            Err(Box::new(params))
        }
    }
}

impl From<ToolSampling> for CreateMessageParams {
    fn from(sampling: ToolSampling) -> Self {
        sampling.0
    }
}

impl Read for ToolSampling {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        let params = CreateMessageParams::read(source)?;
        Self::try_from(params).map_err(|_| missing("tools"))
    }
}

deserialize_by_read!(ToolSampling);
