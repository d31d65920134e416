//! Sampling, fitted to a revision.

use super::{
    CreateMessageParams, CreateMessageResult, SamplingContent, SamplingMessage, ToolSampling,
};
use crate::fit::drop_without;
use crate::{ContentBlock, Feature, Fit, FitError, Revision};

impl Fit for CreateMessageParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        if self.needs_tools() {
            FitError::unless(revision, Feature::SamplingTools)?;
        }
        drop_without(Feature::CoreTasks, revision, &mut self.task);
        // A question inside a result has no `_meta`.
        drop_without(Feature::ServerRequests, revision, &mut self.meta);
        self.messages.fit(revision)?;
        self.tools.fit(revision)
    }
}

impl Fit for ToolSampling {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.params_mut().fit(revision)
    }
}

impl Fit for SamplingMessage {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        // The member came with tools.
        drop_without(Feature::SamplingTools, revision, &mut self.meta);
        self.content.fit(revision)
    }
}

impl Fit for CreateMessageResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.content.fit(revision)
    }
}

impl Fit for SamplingContent {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        if !revision.has(Feature::SamplingTools) {
            self.fold_into_one()?;
        }
        self.blocks_mut()
            .iter_mut()
            .try_for_each(|block| block.fit_sampling(revision))
    }
}

impl SamplingContent {
    /// Replaces an array of one block by the block. Tools and several blocks are an error.
    fn fold_into_one(&mut self) -> Result<(), FitError> {
        if let Self::Many(blocks) = self {
            match blocks.pop() {
                Some(block) if blocks.is_empty() => *self = block.into(),
                _ => return Err(FitError::new(Feature::SamplingTools)),
            }
        }
        match self.blocks() {
            [ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_)] => {
                Err(FitError::new(Feature::SamplingTools))
            }
            _ => Ok(()),
        }
    }
}
