//! Discovery of the metadata of the server and its issuer, and the next stage of the sign-in.

use pintle_runtime::WebUrl;

use crate::client::{ClientRegistration, GrantFlow};
use crate::error::{AuthError, AuthServerError};
use crate::flow::issued_tokens::DpopKey;
use crate::flow::machine::{SignIn, Stage};
use crate::flow::sign_in_plan::SignInStep;
use crate::flow_context::FlowContext;
use crate::metadata::{
    DiscoveryStep, MetadataDocument, MetadataError, ResourceMetadata, ServerMetadata, ServerProbe,
};
use crate::scope::Scopes;

impl SignIn {
    pub(super) fn resource_probed(
        &mut self,
        probing: DiscoveryStep<ResourceMetadata>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        match probing {
            DiscoveryStep::Fetch(request) => Ok(SignInStep::Fetch(request)),
            DiscoveryStep::Found(found) => self.resource_found(found.document, &found.place, at),
            DiscoveryStep::Nowhere {
                is_certain: true, ..
            } if self.plan.profile.assume_legacy_metadata => self.assume(at),
            DiscoveryStep::Nowhere { tried, .. } => Err(AuthError::DocumentNotFound {
                document: MetadataDocument::Resource,
                of: self.plan.server.to_string().into(),
                tried,
            }),
            DiscoveryStep::Refused(place, fault) => {
                Err(refused(MetadataDocument::Resource, place, fault))
            }
            DiscoveryStep::Unavailable(place, reason) => Err(AuthError::unavailable(
                MetadataDocument::Resource,
                place,
                reason,
            )),
        }
    }

    fn resource_found(
        &mut self,
        found: ResourceMetadata,
        place: &str,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        let issuer = self.choose(&found.authorization_servers);
        self.resource = found.resource;
        self.advertised = found.scopes_supported;
        self.needs_dpop |= found.needs_dpop;
        let probe = ServerProbe::of_server(&issuer, &self.plan.fetch_policy);
        let mut probe =
            probe.map_err(|fault| refused(MetadataDocument::Resource, place.into(), fault))?;
        let first = probe.begin();
        self.stage = Stage::Server(probe);
        self.server_probed(first, at)
    }

    /// One of several issuers: one that knows us, or else the first.
    fn choose(&self, issuers: &[String]) -> String {
        let held = self.plan.held.iter().map(|(issuer, _)| issuer);
        let registered = self.plan.profile.registered.iter();
        let registered = registered.filter_map(|(issuer, _)| issuer.as_ref());
        let kept = self.plan.kept.iter().map(|(issuer, _)| issuer);
        let mut candidates = registered.chain(held).chain(kept);
        let found = candidates.find(|issuer| issuers.contains(issuer));
        found.or(issuers.first()).cloned().unwrap_or_default()
    }

    /// Takes the server for one that is its own authorization server.
    fn assume(&mut self, at: &FlowContext) -> Result<SignInStep, AuthError> {
        self.resource = self.plan.server.canonical();
        let mut probe = ServerProbe::of_origin(&self.plan.server, &self.plan.fetch_policy);
        let first = probe.begin();
        self.stage = Stage::Assumed(probe);
        self.assumed_probed(first, at)
    }

    pub(super) fn assumed_probed(
        &mut self,
        probing: DiscoveryStep<ServerMetadata>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        match probing {
            DiscoveryStep::Nowhere {
                is_certain: true, ..
            } => self.server_found(ServerMetadata::assumed(&self.plan.server), at),
            DiscoveryStep::Found(found) => {
                let mut server = found.document;
                // Servers of 2025-03-26 must support S256, and their metadata need not list it.
                server
                    .code_challenge_methods_supported
                    .get_or_insert_with(|| vec!["S256".to_owned()]);
                self.server_found(server, at)
            }
            other => self.server_probed(other, at),
        }
    }

    pub(super) fn server_probed(
        &mut self,
        probing: DiscoveryStep<ServerMetadata>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        match probing {
            DiscoveryStep::Fetch(request) => Ok(SignInStep::Fetch(request)),
            DiscoveryStep::Found(found) => self.server_found(found.document, at),
            DiscoveryStep::Nowhere { tried, .. } => Err(AuthError::DocumentNotFound {
                document: MetadataDocument::Server,
                of: tried
                    .first()
                    .map_or_else(Box::default, |(place, _)| origin_of(place)),
                tried,
            }),
            DiscoveryStep::Refused(place, fault) => {
                Err(refused(MetadataDocument::Server, place, fault))
            }
            DiscoveryStep::Unavailable(place, reason) => Err(AuthError::unavailable(
                MetadataDocument::Server,
                place,
                reason,
            )),
        }
    }

    fn server_found(
        &mut self,
        server: ServerMetadata,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        self.server = server;
        if self.needs_dpop {
            if !ServerMetadata::lists(&self.server.dpop_signing_alg_values_supported, "ES256") {
                return Err(self.server_error(AuthServerError::Dpop));
            }
            self.dpop = Some(DpopKey::generate()?);
        }
        self.scopes = self.requested_scopes();
        match &self.plan.profile.grant_flow {
            GrantFlow::AuthorizationCode | GrantFlow::Device => self.choose_client(at),
            GrantFlow::ClientCredentials => {
                self.client = self.registered_client()?;
                let form = vec![("grant_type", "client_credentials".into())];
                self.ask(self.with_target(form), at)
            }
            GrantFlow::Enterprise(_) => {
                if !self.server.takes_id_jag() {
                    return Err(self.server_error(AuthServerError::Enterprise));
                }
                self.client = self.registered_client()?;
                self.stage = Stage::Identity;
                Ok(SignInStep::Identity)
            }
            GrantFlow::WorkloadIdentity => {
                self.client = self
                    .registered_client()
                    .unwrap_or_else(|_| ClientRegistration::public(""));
                self.stage = Stage::Workload;
                Ok(SignInStep::Workload(self.token_endpoint()?))
            }
        }
    }

    /// Which scopes are asked for: what the challenge names, or else all that there are, and
    /// whatever was asked for before.
    ///
    /// Spec: [2025-11-25, Authorization, Scope selection strategy][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy
    fn requested_scopes(&self) -> Scopes {
        let plan = &self.plan;
        let named = plan.profile.scopes.as_ref().or(plan.challenged.as_ref());
        let named = named
            .or(self.advertised.as_ref())
            .cloned()
            .unwrap_or_default();
        let held = plan
            .held
            .iter()
            .filter(|(issuer, _)| *issuer == self.server.issuer);
        let mut all = held
            .fold(Scopes::none(), |all, (_, held)| all.union(held))
            .union(&named);
        let offline = Scopes::parse("offline_access").unwrap_or_default();
        let has_offline = ServerMetadata::lists(&self.server.scopes_supported, "offline_access");
        let is_person = plan.profile.grant_flow.needs_user();
        // Alone it would take the place of what the server gives without being asked.
        if is_person && has_offline && !all.is_empty() && plan.profile.scopes.is_none() {
            all = all.union(&offline);
        }
        all
    }
}

fn refused(document: MetadataDocument, place: String, fault: MetadataError) -> AuthError {
    AuthError::Document {
        document,
        place: place.into(),
        fault,
    }
}

fn origin_of(place: &str) -> Box<str> {
    WebUrl::parse(place).map_or_else(|_| place.into(), |url| url.front().into())
}
