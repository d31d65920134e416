//! The documents of the server and of whoever issues its tokens, and what they lead to.

use pintle_runtime::WebUrl;

use crate::client::{ClientId, Way};
use crate::error::{AuthError, AuthServerError};
use crate::flow::grant::DpopKey;
use crate::flow::machine::{SignIn, Stage};
use crate::flow::plan::Need;
use crate::metadata::{
    Document, MetadataError, Probing, ResourceMetadata, ServerMetadata, ServerProbe,
};
use crate::moment::Moment;
use crate::scope::Scopes;

impl SignIn {
    pub(super) fn resource_probed(
        &mut self,
        probing: Probing<ResourceMetadata>,
        at: &Moment,
    ) -> Result<Need, AuthError> {
        match probing {
            Probing::Fetch(request) => Ok(Need::Fetch(request)),
            Probing::Found(found) => self.resource_found(found.document, &found.place, at),
            Probing::Nowhere {
                is_certain: true, ..
            } if self.plan.profile.assumes => self.assume(at),
            Probing::Nowhere { tried, .. } => Err(AuthError::DocumentNotFound {
                document: Document::Resource,
                of: self.plan.server.to_string().into(),
                tried,
            }),
            Probing::Refused(place, fault) => Err(refused(Document::Resource, place, fault)),
            Probing::Unavailable(place, reason) => {
                Err(AuthError::unavailable(Document::Resource, place, reason))
            }
        }
    }

    fn resource_found(
        &mut self,
        found: ResourceMetadata,
        place: &str,
        at: &Moment,
    ) -> Result<Need, AuthError> {
        let issuer = self.choose(&found.authorization_servers);
        self.resource = found.resource;
        self.advertised = found.scopes_supported;
        self.needs_dpop |= found.needs_dpop;
        let probe = ServerProbe::of_server(&issuer, &self.plan.bounds);
        let mut probe = probe.map_err(|fault| refused(Document::Resource, place.into(), fault))?;
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
        let mut known = registered.chain(held).chain(kept);
        let found = known.find(|issuer| issuers.contains(issuer));
        found.or(issuers.first()).cloned().unwrap_or_default()
    }

    /// Takes the server for one that is its own authorization server.
    fn assume(&mut self, at: &Moment) -> Result<Need, AuthError> {
        self.resource = self.plan.server.canonical();
        let mut probe = ServerProbe::of_origin(&self.plan.server, &self.plan.bounds);
        let first = probe.begin();
        self.stage = Stage::Assumed(probe);
        self.assumed_probed(first, at)
    }

    pub(super) fn assumed_probed(
        &mut self,
        probing: Probing<ServerMetadata>,
        at: &Moment,
    ) -> Result<Need, AuthError> {
        match probing {
            Probing::Nowhere {
                is_certain: true, ..
            } => self.server_found(ServerMetadata::assumed(&self.plan.server), at),
            Probing::Found(found) => {
                let mut server = found.document;
                // That revision has S256 in every server, and no member that says so.
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
        probing: Probing<ServerMetadata>,
        at: &Moment,
    ) -> Result<Need, AuthError> {
        match probing {
            Probing::Fetch(request) => Ok(Need::Fetch(request)),
            Probing::Found(found) => self.server_found(found.document, at),
            Probing::Nowhere { tried, .. } => Err(AuthError::DocumentNotFound {
                document: Document::Server,
                of: tried
                    .first()
                    .map_or_else(Box::default, |(place, _)| origin_of(place)),
                tried,
            }),
            Probing::Refused(place, fault) => Err(refused(Document::Server, place, fault)),
            Probing::Unavailable(place, reason) => {
                Err(AuthError::unavailable(Document::Server, place, reason))
            }
        }
    }

    fn server_found(&mut self, server: ServerMetadata, at: &Moment) -> Result<Need, AuthError> {
        self.server = server;
        if self.needs_dpop {
            if !ServerMetadata::lists(&self.server.dpop_signing_alg_values_supported, "ES256") {
                return Err(self.lack(AuthServerError::Dpop));
            }
            self.dpop = Some(DpopKey::generate()?);
        }
        self.scopes = self.wanted();
        match &self.plan.profile.way {
            Way::Person => self.know(at),
            Way::Itself => {
                self.client = self.registered_client()?;
                let form = vec![("grant_type", "client_credentials".into())];
                self.ask(self.with_target(form), at)
            }
            Way::Enterprise(_) => {
                if !self.server.takes_id_jag() {
                    return Err(self.lack(AuthServerError::Enterprise));
                }
                self.client = self.registered_client()?;
                self.stage = Stage::Identity;
                Ok(Need::Identity)
            }
            Way::Workload => {
                self.client = self
                    .registered_client()
                    .unwrap_or_else(|_| ClientId::public(""));
                self.stage = Stage::Workload;
                Ok(Need::Workload(self.token_endpoint()?))
            }
        }
    }

    /// Which scopes are asked for: what the challenge names, or else all that there are, and
    /// whatever was asked for before.
    ///
    /// Spec: [2025-11-25, Authorization, Scope selection strategy][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy
    fn wanted(&self) -> Scopes {
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
        let is_person = matches!(plan.profile.way, Way::Person);
        // Alone it would take the place of what the server gives without being asked.
        if is_person && has_offline && !all.is_empty() && plan.profile.scopes.is_none() {
            all = all.union(&offline);
        }
        all
    }
}

fn refused(document: Document, place: String, fault: MetadataError) -> AuthError {
    AuthError::Document {
        document,
        place: place.into(),
        fault,
    }
}

fn origin_of(place: &str) -> Box<str> {
    WebUrl::parse(place).map_or_else(|_| place.into(), |url| url.front().into())
}
