//! Capabilities for peers of other revisions.

use super::{ClientCapabilities, ServerCapabilities};
use crate::fit::drop_without;
use crate::{Feature, Fit, FitError, JsonObject, Revision};

/// Tasks as an extension; older revisions have them in the core, or not at all.
const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

impl Fit for ClientCapabilities {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
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
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(
            Feature::CompletionsCapability,
            revision,
            &mut self.completions,
        );
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use Revision::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

    fn client(wire: Value, revision: Revision) -> Value {
        let mut capabilities: ClientCapabilities = serde_json::from_value(wire).unwrap();
        capabilities.fit(revision).unwrap();
        serde_json::to_value(capabilities).unwrap()
    }

    fn everything() -> Value {
        json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"context": {}, "tools": {}},
            "roots": {"listChanged": true}, "tasks": {"list": {}}, "experimental": {"x": {}},
            "extensions": {"com.example/a": {}, TASKS_EXTENSION: {}}, "x": {}})
    }

    // spec: 2025-11-25 D0618-03, D0326-05
    #[test]
    fn a_client_declares_only_capabilities_of_the_revision() {
        let plain = json!({"sampling": {}, "roots": {"listChanged": true}, "experimental": {"x": {}}, "x": {}});
        let mut with_forms = plain.clone();
        with_forms["elicitation"] = json!({});

        assert_eq!(client(everything(), V2025_03_26), plain);
        assert_eq!(client(everything(), V2025_06_18), with_forms);
    }

    // spec: 2026-07-28 N-EXT-01, N-EXT-10
    #[test]
    fn tasks_are_declared_at_the_place_of_each_revision() {
        let mut core = everything();
        core["extensions"] = json!({"com.example/a": {}});
        let mut extension = everything();
        extension["roots"] = json!({});
        extension.as_object_mut().unwrap().remove("tasks");

        assert_eq!(client(everything(), V2025_11_25), core);
        assert_eq!(client(everything(), V2026_07_28), extension);
    }

    #[test]
    fn a_client_without_forms_does_not_seem_to_have_them() {
        let wire = json!({"elicitation": {"url": {}}});
        assert_eq!(client(wire.clone(), V2025_06_18), json!({}));
        assert_eq!(client(wire.clone(), V2025_11_25), wire);
    }

    // spec: 2025-11-25 D1105-09
    #[test]
    fn a_server_declares_only_capabilities_of_the_revision() {
        let wire = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true},
            "prompts": {}, "completions": {}, "logging": {}, "tasks": {"cancel": {}}});
        let mut server: ServerCapabilities = serde_json::from_value(wire.clone()).unwrap();

        server.fit(V2025_11_25).unwrap();
        assert_eq!(serde_json::to_value(&server).unwrap(), wire);
        server.fit(Revision::V2024_11_05).unwrap();
        assert_eq!((server.completions, server.tasks), (None, None));
        assert!(server.logging.is_some());
    }
}
