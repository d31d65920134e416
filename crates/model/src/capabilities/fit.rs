//! Capabilities for peers of other revisions.

use super::{ClientCapabilities, ServerCapabilities};
use crate::fit::drop_without;
use crate::{Feature, Fit, JsonObject, Revision, Unfit};

/// Tasks as an extension; older revisions have them in the core, or not at all.
const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

impl Fit for ClientCapabilities {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        self.fit_elicitation(revision);
        if let Some(sampling) = &mut self.sampling {
            drop_without(Feature::SubCapabilities, revision, &mut sampling.context);
            drop_without(Feature::SubCapabilities, revision, &mut sampling.tools);
        }
        if let Some(roots) = &mut self.roots {
            drop_without(Feature::RootsListChanged, revision, &mut roots.list_changed);
        }
        drop_without(Feature::CoreTasks, revision, &mut self.tasks);
        fit_extensions(&mut self.extensions, revision);
        Ok(())
    }
}

impl ClientCapabilities {
    fn fit_elicitation(&mut self, revision: Revision) {
        drop_without(Feature::Elicitation, revision, &mut self.elicitation);
        if revision.has(Feature::SubCapabilities) {
            return;
        }
        // Without modes there are only forms: who cannot show one must not seem to.
        if !self.has_form_elicitation() {
            self.elicitation = None;
        }
        if let Some(elicitation) = &mut self.elicitation {
            elicitation.form = None;
            elicitation.url = None;
        }
    }
}

impl Fit for ServerCapabilities {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        drop_without(Feature::CompletionsCapability, revision, &mut self.completions);
        drop_without(Feature::CoreTasks, revision, &mut self.tasks);
        fit_extensions(&mut self.extensions, revision);
        Ok(())
    }
}

fn fit_extensions(extensions: &mut Option<JsonObject>, revision: Revision) {
    drop_without(Feature::Extensions, revision, extensions);
    if revision.has(Feature::TasksExtension) {
        return;
    }
    if let Some(members) = extensions {
        members.shift_remove(TASKS_EXTENSION);
        if members.is_empty() {
            *extensions = None;
        }
    }
}
