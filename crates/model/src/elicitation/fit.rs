//! Questions and answers, fitted to a revision.

use serde_json::Value;

use super::{
    ElicitFormParams, ElicitParams, ElicitResult, ElicitSchema, ElicitUrlParams,
    ElicitationCompleteParams, PrimitiveSchema, UrlElicitationRequired,
};
use crate::fit::drop_without;
use crate::{Feature, Fit, FitError, Revision};

impl Fit for ElicitParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::Elicitation)?;
        match self {
            Self::Form(form) => form.fit(revision),
            Self::Url(url) => url.fit(revision),
            Self::Unknown(_) => FitError::unless(revision, Feature::UrlElicitation),
        }
    }
}

impl Fit for ElicitFormParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::Elicitation)?;
        // The member came with the second mode.
        drop_without(Feature::UrlElicitation, revision, &mut self.mode);
        drop_without(Feature::CoreTasks, revision, &mut self.task);
        // A question inside a result has no `_meta`.
        drop_without(Feature::ServerRequests, revision, &mut self.meta);
        self.requested_schema.fit(revision)
    }
}

impl Fit for ElicitUrlParams {
    /// Does not add an `elicitationId`: a sender of 2025-11-25 must set it before.
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::UrlElicitation)?;
        drop_without(Feature::ElicitationIds, revision, &mut self.elicitation_id);
        drop_without(Feature::CoreTasks, revision, &mut self.task);
        drop_without(Feature::ServerRequests, revision, &mut self.meta);
        Ok(())
    }
}

impl Fit for ElicitSchema {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::SchemaDialect, revision, &mut self.dialect);
        self.properties
            .values_mut()
            .try_for_each(|field| field.fit(revision))
    }
}

impl Fit for PrimitiveSchema {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        if !revision.has(Feature::ElicitationDefaults) {
            self.drop_default();
        }
        if !revision.has(Feature::ElicitationChoices) {
            self.without_choices()?;
        }
        Ok(())
    }
}

impl PrimitiveSchema {
    /// Drops the default of everything but yes and no, which always could have one.
    fn drop_default(&mut self) {
        match self {
            Self::String(schema) => schema.default = None,
            Self::Number(schema) => schema.default = None,
            Self::SingleSelect(schema) => schema.default = None,
            Self::TitledSingleSelect(schema) => schema.default = None,
            Self::LegacyTitled(schema) => schema.default = None,
            Self::MultiSelect(schema) => schema.default = None,
            Self::TitledMultiSelect(schema) => schema.default = None,
            Self::Boolean(_) | Self::Unknown(_) => {}
        }
    }

    /// Puts the titles of a choice in a list of their own, as they were first written.
    fn without_choices(&mut self) -> Result<(), FitError> {
        match self {
            Self::TitledSingleSelect(titled) => {
                *self = Self::LegacyTitled(std::mem::take(titled).into());
                Ok(())
            }
            Self::MultiSelect(_) | Self::TitledMultiSelect(_) => {
                Err(FitError::new(Feature::ElicitationChoices))
            }
            _ => Ok(()),
        }
    }
}

impl Fit for ElicitResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::Elicitation)?;
        // An answer inside a retry has no `_meta`.
        drop_without(Feature::ServerRequests, revision, &mut self.meta);
        if self
            .content
            .iter()
            .flat_map(|content| content.values())
            .any(Value::is_array)
        {
            FitError::unless(revision, Feature::ElicitationChoices)?;
        }
        Ok(())
    }
}

impl Fit for ElicitationCompleteParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::ElicitationIds)
    }
}

impl Fit for UrlElicitationRequired {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::ElicitationIds)?;
        self.elicitations.fit(revision)
    }
}
