//! The extensions of a running server: their methods, topics and capabilities.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use pintle_model::method::{Method, support_of};
use pintle_model::names::{check_extension_id, check_meta_key};
use pintle_model::{
    ClientCapabilities, Error, ErrorCode, Feature, Freshness, JsonObject, ServerCapabilities,
    SubscriptionFilter,
};
use pintle_proto::{Reply, ServerProfile, Terms, Topic};
use pintle_runtime::Context;
use serde_json::json;

use crate::ability::{ExtractContext, RequiredState};
use crate::entry::MountContext;
use crate::erase::erase;
use crate::rejection::Rejection;

use super::call::{MethodCall, MethodKind, Run, Running};
use super::{ExtensionDefinitionError, MethodHandler, ProtocolExtension};

/// The prefix of the extensions that the protocol has published.
const OFFICIAL: &str = "io.modelcontextprotocol/";
/// The prefix of the names of notices, which names of methods do not have.
const NOTIFICATIONS: &str = "notifications/";
/// The longest name, in bytes.
const MAX_NAME: usize = 128;

/// A method of an extension: its name and its handler.
#[derive(Clone)]
pub struct ExtensionMethod {
    name: &'static str,
    run: Arc<Run>,
    needs: Vec<RequiredState>,
    freshness: Option<Freshness>,
}

impl ExtensionMethod {
    /// Answers a method with an async function: see [`MethodHandler`].
    pub fn new<M: Method, S>(handler: impl MethodHandler<M, S>) -> Self {
        fn needs<M: Method, S, H: MethodHandler<M, S>>(_: &H) -> Vec<RequiredState> {
            H::needs()
        }
        Self {
            name: M::NAME,
            needs: needs(&handler),
            run: erase::<MethodKind<M>, _, _>(move |call: &MethodCall<'_>| handler.start(call)),
            freshness: None,
        }
    }

    /// Sets how long clients may cache the results, in revisions that have such hints. A result with
    /// a hint of its own keeps it.
    #[must_use]
    pub fn freshness(mut self, freshness: Freshness) -> Self {
        self.freshness = Some(freshness);
        self
    }

    /// Returns the name of the method.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for ExtensionMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionMethod")
            .field("name", &self.name)
            .field("freshness", &self.freshness)
            .finish_non_exhaustive()
    }
}

/// An extension where it lives: with the state of its server and its own.
#[derive(Debug)]
pub(crate) struct MountedExtension {
    pub(crate) extension: ProtocolExtension,
    pub(crate) mount_context: Arc<MountContext>,
}

/// All extensions of the servers that are mounted together.
#[derive(Debug, Default)]
pub(crate) struct Extended {
    method_by_name: HashMap<&'static str, MethodLocation>,
    topics: Vec<Topic>,
    /// The ids with the settings and the required features, in the order of their addition.
    offered: Vec<(String, JsonObject, Feature)>,
}

/// Where a method is answered.
#[derive(Debug)]
struct MethodLocation {
    method: ExtensionMethod,
    mounted_extension: Arc<MountedExtension>,
}

impl Extended {
    /// Adds an extension.
    ///
    /// # Errors
    ///
    /// [`ExtensionDefinitionError`] for a name that is not its own.
    pub(crate) fn add(
        &mut self,
        mounted_extension: Arc<MountedExtension>,
    ) -> Result<(), ExtensionDefinitionError> {
        let ProtocolExtension {
            id,
            settings,
            needs,
            methods,
            topics,
            ..
        } = &mounted_extension.extension;
        self.advertise(id, settings, *needs)?;
        for method in methods {
            check_name(method.name, false)?;
            let place = MethodLocation {
                method: method.clone(),
                mounted_extension: Arc::clone(&mounted_extension),
            };
            if self.method_by_name.insert(method.name, place).is_some() {
                return Err(ExtensionDefinitionError::TakenName(method.name.into()));
            }
        }
        topics.iter().try_for_each(|topic| self.add_topic(topic))
    }

    /// Adds an extension that is only advertised to clients.
    ///
    /// # Errors
    ///
    /// [`ExtensionDefinitionError`] for an id that breaks the rules, or that is taken.
    pub(crate) fn advertise(
        &mut self,
        id: &str,
        settings: &JsonObject,
        needs: Feature,
    ) -> Result<(), ExtensionDefinitionError> {
        check_id(id)?;
        if self.offered.iter().any(|(offered, ..)| offered == id) {
            return Err(ExtensionDefinitionError::Taken);
        }
        self.offered.push((id.to_owned(), settings.clone(), needs));
        Ok(())
    }

    fn add_topic(&mut self, topic: &Topic) -> Result<(), ExtensionDefinitionError> {
        check_name(topic.notice(), true)?;
        if self.topics.iter().any(|one| one.notice() == topic.notice()) {
            return Err(ExtensionDefinitionError::TakenName(topic.notice().into()));
        }
        let is_core = serde_json::from_value(json!({ topic.member(): null }))
            .is_ok_and(|filter: SubscriptionFilter| filter.extra.is_empty());
        if is_core || self.topics.iter().any(|one| one.member() == topic.member()) {
            return Err(ExtensionDefinitionError::TakenTopic(topic.member().into()));
        }
        self.topics.push(topic.clone());
        Ok(())
    }

    /// Adds the extensions to the capabilities.
    pub(crate) fn offer_in(&self, mut capabilities: ServerCapabilities) -> ServerCapabilities {
        for (id, settings, _) in &self.offered {
            capabilities = capabilities.with_extension(id, settings.clone());
        }
        capabilities
    }

    /// Adds the revisions that have the extensions, and the topics for listeners.
    pub(crate) fn describe_in(&self, mut profile: ServerProfile) -> ServerProfile {
        for (id, _, needs) in &self.offered {
            profile = profile.with_extension_need(id.as_str(), *needs);
        }
        profile.with_topics(self.topics.iter().cloned())
    }

    /// Answers a method that the core does not have.
    ///
    /// # Errors
    ///
    /// - -32601 if no extension of the request's revision has the method.
    /// - -32021 if the client must declare the extension and did not; -32600 before 2026-07-28.
    /// - -32602 if the parameters are not those of the method.
    /// - The error that the handler returns.
    pub(crate) async fn answer(
        &self,
        profile: &ServerProfile,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let request = cx.request();
        let name = request.method.as_str();
        let revision = request.terms.revision;
        let place = self
            .method_by_name
            .get(name)
            .filter(|place| profile.offers_extension(place.id(), revision))
            .ok_or_else(|| Error::method_not_found(name))?;
        place.check_client(&request.terms)?;
        let mut body = place.start(cx)?.await?;
        if let Some(freshness) = place.method.freshness
            && revision.has(Feature::Freshness)
        {
            body = body.with_freshness(freshness);
        }
        Ok(Reply::Complete(body.render()))
    }
}

impl MethodLocation {
    fn id(&self) -> &str {
        &self.mounted_extension.extension.id
    }

    fn start(&self, cx: &Context) -> Result<Running, Error> {
        let scope = ExtractContext::new(cx, &self.mounted_extension.mount_context.state);
        let call = MethodCall::new(&cx.request().params, scope);
        (self.method.run)(&call).map_err(Rejection::into_error)
    }

    fn check_client(&self, terms: &Terms) -> Result<(), Error> {
        let is_declared = terms.capabilities.extension(self.id()).is_some();
        if is_declared || !self.mounted_extension.extension.is_mutual {
            return Ok(());
        }
        let message = format!("the client did not declare the extension {}", self.id());
        if !terms.has(Feature::Envelope) {
            return Err(Error::invalid_request(message));
        }
        let needed = ClientCapabilities::default().with_extension(self.id(), JsonObject::new());
        Err(Error::new(ErrorCode::MISSING_CLIENT_CAPABILITY, message)
            .with_data(json!({ "requiredCapabilities": needed })))
    }
}

impl MountedExtension {
    /// Returns the first state that a handler needs and the server does not have.
    pub(crate) fn missing(&self) -> Option<(&'static str, &RequiredState)> {
        self.extension.methods.iter().find_map(|method| {
            let is_missing = |need: &&RequiredState| !need.is_met_by(&self.mount_context.state);
            Some((method.name, method.needs.iter().find(is_missing)?))
        })
    }
}

/// Checks that an id has a prefix. The prefix of the protocol must precede a name.
fn check_id(id: &str) -> Result<(), ExtensionDefinitionError> {
    let checked = match id.strip_prefix(OFFICIAL) {
        Some("") | None => check_extension_id(id),
        Some(_) => check_meta_key(id),
    };
    checked.map_err(ExtensionDefinitionError::Id)
}

/// Checks that the core does not have the name, and that a header can repeat it.
fn check_name(name: &str, is_notice: bool) -> Result<(), ExtensionDefinitionError> {
    if support_of(name).is_some() {
        return Err(ExtensionDefinitionError::CoreName(name.into()));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let is_name = (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(is_allowed)
        && !name.starts_with("rpc.")
        && name.starts_with(NOTIFICATIONS) == is_notice;
    if is_name {
        return Ok(());
    }
    Err(ExtensionDefinitionError::BadName(name.into()))
}
