//! Resources for peers of other revisions.

use super::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use crate::fit::{drop_without, fit_freshness};
use crate::{Feature, Fit, FitError, Revision};

impl Fit for Resource {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::Titles, revision, &mut self.title);
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::ObjectMeta, revision, &mut self.meta);
        self.annotations.fit(revision)
    }
}

impl Fit for ResourceTemplate {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::Titles, revision, &mut self.title);
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::ObjectMeta, revision, &mut self.meta);
        self.annotations.fit(revision)
    }
}

impl Fit for ResourceContents {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        match self {
            Self::Text(item) => drop_without(Feature::ObjectMeta, revision, &mut item.meta),
            Self::Blob(item) => drop_without(Feature::ObjectMeta, revision, &mut item.meta),
            Self::Unknown(_) => {}
        }
        Ok(())
    }
}

impl Fit for ListResourcesResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        fit_freshness(&mut self.freshness, revision);
        self.resources.fit(revision)
    }
}

impl Fit for ListResourceTemplatesResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        fit_freshness(&mut self.freshness, revision);
        self.resource_templates.fit(revision)
    }
}

impl Fit for ReadResourceParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::InputRequired, revision, &mut self.input_responses);
        drop_without(Feature::InputRequired, revision, &mut self.request_state);
        Ok(())
    }
}

impl Fit for ReadResourceResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        fit_freshness(&mut self.freshness, revision);
        self.contents.fit(revision)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

    // spec: 2025-11-25 D0618-04, D0326-06
    #[test]
    fn a_resource_has_the_members_its_revision_knows() {
        let wire = json!({"uri": "a:b", "name": "b", "title": "B", "size": 3, "icons": [],
            "annotations": {}, "_meta": {}});
        let table = [
            (V2024_11_05, "uri name size annotations"),
            (V2025_03_26, "uri name size annotations"),
            (V2025_06_18, "uri name title size annotations _meta"),
            (V2025_11_25, "uri name title size icons annotations _meta"),
            (V2026_07_28, "uri name title size icons annotations _meta"),
        ];

        for (revision, members) in table {
            let mut resource: Resource = serde_json::from_value(wire.clone()).unwrap();
            resource.fit(revision).unwrap();
            let fitted = serde_json::to_value(resource).unwrap();
            let names: Vec<&String> = fitted.as_object().unwrap().keys().collect();
            assert_eq!(names, members.split(' ').collect::<Vec<_>>(), "{revision}");
        }
    }

    #[test]
    fn a_read_result_has_a_cache_hint_where_the_revision_has_hints() {
        let mut result = ReadResourceResult::text("a:b", "t");
        result.fit(V2026_07_28).unwrap();
        assert!(result.freshness.is_some());
        result.fit(V2025_11_25).unwrap();
        assert_eq!(result.freshness, None);
    }
}
