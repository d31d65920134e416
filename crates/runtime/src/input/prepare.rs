//! A question before it is asked: whether the client may be asked, whether the question is valid,
//! and how it reads in the revision.

use pintle_model::{ElicitParams, Feature, Fit, InputRequest};
use pintle_proto::Terms;

use super::error::AskError;
use super::need::RequiredCapability;
use super::requested::check_own_schema;
use super::url::is_fit_for_users;
use crate::random::random_name;

/// Prepares a question for a client on `terms`: checks it, and writes it as the revision does.
/// Parts that the client has not declared are left out where the protocol lets a server do so.
///
/// # Errors
///
/// - [`AskError::Unsupported`] if the client has not declared that it can be asked this.
/// - [`AskError::Invalid`] if the question is invalid, or its revision cannot express it.
pub fn prepare(request: &mut InputRequest, terms: &Terms) -> Result<(), AskError> {
    let need = RequiredCapability::of(request)
        .ok_or_else(|| AskError::Invalid("its method is unknown".to_owned()))?;
    if !need.is_met_by(terms) {
        return Err(AskError::Unsupported(need));
    }
    check(request)?;
    adapt(request, terms)
}

fn check(request: &InputRequest) -> Result<(), AskError> {
    match request {
        InputRequest::CreateMessage(params) => params
            .check()
            .map_err(|fault| AskError::Invalid(fault.to_string())),
        InputRequest::Elicit(params) => match &**params {
            ElicitParams::Url(url) if !is_fit_for_users(&url.url) => Err(AskError::Invalid(
                "the user is sent to https only, or to http on the loopback".to_owned(),
            )),
            ElicitParams::Form(form) => {
                check_own_schema(&form.requested_schema).map_err(AskError::Invalid)
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn adapt(request: &mut InputRequest, terms: &Terms) -> Result<(), AskError> {
    if let InputRequest::CreateMessage(params) = request
        && !may_include_context(terms)
    {
        params.include_context = None;
    }
    if let InputRequest::Elicit(params) = request
        && let ElicitParams::Url(url) = &mut **params
        && terms.has(Feature::ElicitationIds)
        && url.elicitation_id.is_none()
    {
        let id = random_name().map_err(|error| AskError::Invalid(error.to_string()))?;
        url.elicitation_id = Some(id);
    }
    request
        .fit(terms.revision)
        .map_err(|unfit| AskError::Invalid(unfit.to_string()))
}

/// Whether a sampling request on these terms may ask for context: where clients declare that, this
/// one has.
pub fn may_include_context(terms: &Terms) -> bool {
    let sampling = terms.capabilities.sampling.as_ref();
    !terms.has(Feature::SubCapabilities)
        || sampling.is_some_and(|sampling| sampling.context.is_some())
}
