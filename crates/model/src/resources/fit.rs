//! Resources for peers of other revisions.

use super::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use crate::fit::{drop_without, fit_freshness};
use crate::{Feature, Fit, Revision, Unfit};

impl Fit for Resource {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        drop_without(Feature::Titles, revision, &mut self.title);
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::ObjectMeta, revision, &mut self.meta);
        self.annotations.fit(revision)
    }
}

impl Fit for ResourceTemplate {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        drop_without(Feature::Titles, revision, &mut self.title);
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::ObjectMeta, revision, &mut self.meta);
        self.annotations.fit(revision)
    }
}

impl Fit for ResourceContents {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        match self {
            Self::Text(item) => drop_without(Feature::ObjectMeta, revision, &mut item.meta),
            Self::Blob(item) => drop_without(Feature::ObjectMeta, revision, &mut item.meta),
            Self::Unknown(_) => {}
        }
        Ok(())
    }
}

impl Fit for ListResourcesResult {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        fit_freshness(&mut self.freshness, revision);
        self.resources.fit(revision)
    }
}

impl Fit for ListResourceTemplatesResult {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        fit_freshness(&mut self.freshness, revision);
        self.resource_templates.fit(revision)
    }
}

impl Fit for ReadResourceParams {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        drop_without(Feature::InputRequired, revision, &mut self.input_responses);
        drop_without(Feature::InputRequired, revision, &mut self.request_state);
        Ok(())
    }
}

impl Fit for ReadResourceResult {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        fit_freshness(&mut self.freshness, revision);
        self.contents.fit(revision)
    }
}
