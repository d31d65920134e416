//! From a server that wants a token to the token: one machine for all ways.

mod vouch;

use std::sync::Arc;

use pintle_runtime::{FetchFault, FetchRequest, Fetched, Reach};

use crate::client::{ClientId, Profile, Way};
use crate::error::{AuthError, Lack, Request};
use crate::flow::code::{Ask, Landed, Pending, Visit};
use crate::flow::register::{self, Known};
use crate::flow::token::{DpopKey, Exchange, Exchanged, Grant};
use crate::metadata::{
    Document, Probing, ResourceMetadata, ResourceProbe, ServerMetadata, ServerProbe,
};
use crate::moment::Moment;
use crate::reach::Bounds;
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::url::WebUrl;

/// What a sign-in begins with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// The server that wants a token.
    pub server: WebUrl,
    /// Where the challenge says that its metadata is.
    pub named: Option<String>,
    /// Which scopes the challenge names: they are what the operation needs.
    pub challenged: Option<Scopes>,
    /// What was asked for before, and of whom: another sign-in there loses none of it.
    pub held: Option<(String, Scopes)>,
    /// Whether the challenge wants tokens that are bound to a key.
    pub wants_dpop: bool,
    /// Who we are.
    pub profile: Arc<Profile>,
    /// What may be followed.
    pub bounds: Bounds,
    /// Where users come back to.
    pub redirect: String,
    /// What earlier registrations came to, by issuer.
    pub kept: Vec<(String, ClientId)>,
}

impl Plan {
    /// A first sign-in for a server.
    pub fn new(server: WebUrl, profile: Arc<Profile>, redirect: impl Into<String>) -> Self {
        Self {
            bounds: Bounds::of(&server),
            server,
            named: None,
            challenged: None,
            held: None,
            wants_dpop: false,
            profile,
            redirect: redirect.into(),
            kept: Vec::new(),
        }
    }
}

/// What a sign-in needs next. Closed: whoever drives it does all of it.
#[derive(Debug)]
pub enum Need {
    /// Fetch this, and hand in what comes.
    Fetch(FetchRequest),
    /// Send a user there, and hand in how they come back.
    Visit(Visit),
    /// Bring the token by which the identity provider names the user, and hand it in.
    Identity,
    /// Bring what the platform says of this workload, for this audience, and hand it in.
    Workload(String),
    /// Keep this: it is done.
    Done(Box<Grant>),
}

/// A sign-in under way.
#[derive(Debug)]
pub struct SignIn {
    plan: Plan,
    stage: Stage,
    resource: String,
    advertised: Option<Scopes>,
    needs_dpop: bool,
    server: ServerMetadata,
    client: ClientId,
    scopes: Scopes,
    dpop: Option<DpopKey>,
    registered: bool,
}

#[derive(Debug)]
enum Stage {
    Resource(ResourceProbe),
    Server(ServerProbe),
    /// The server is its own authorization server, as in 2025-03-26.
    Assumed(ServerProbe),
    Registering(String),
    Visiting(Box<Pending>),
    Identity,
    Workload,
    AtEnterprise(Box<Exchange>),
    Token(Box<Exchange>),
    Over,
}

impl SignIn {
    /// Begins, and says what is needed first.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn begin(plan: Plan, at: &Moment) -> Result<(Self, Need), AuthError> {
        let mut probe =
            ResourceProbe::of_resource(&plan.server, plan.named.as_deref(), &plan.bounds);
        let first = probe.begin();
        let mut sign_in = Self {
            needs_dpop: plan.wants_dpop,
            plan,
            stage: Stage::Resource(probe),
            resource: String::new(),
            advertised: None,
            server: ServerMetadata::default(),
            client: ClientId::public(""),
            scopes: Scopes::none(),
            dpop: None,
            registered: false,
        };
        let need = sign_in.resource_probed(first, at)?;
        Ok((sign_in, need))
    }

    /// The issuer, and what a registration at it came to: to be kept, whatever becomes of the rest.
    pub fn registration(&self) -> Option<(&str, &ClientId)> {
        self.registered
            .then_some((&self.server.issuer, &self.client))
    }

    /// What follows from an answer.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn take_answer(
        &mut self,
        answer: Result<Fetched, FetchFault>,
        at: &Moment,
    ) -> Result<Need, AuthError> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Resource(mut probe) => {
                let probing = probe.take(answer);
                self.stage = Stage::Resource(probe);
                self.resource_probed(probing, at)
            }
            Stage::Server(mut probe) => {
                let probing = probe.take(answer);
                self.stage = Stage::Server(probe);
                self.server_probed(probing, at)
            }
            Stage::Assumed(mut probe) => {
                let probing = probe.take(answer);
                self.stage = Stage::Assumed(probe);
                self.assumed_probed(probing, at)
            }
            Stage::Registering(endpoint) => {
                self.client = register::read(answer, &endpoint, &self.plan.redirect)?;
                self.registered = true;
                self.visit(at)
            }
            Stage::AtEnterprise(exchange) => self.vouched(exchange, answer, at),
            Stage::Token(exchange) => self.given(exchange, answer, at),
            _ => Err(AuthError::Unexpected),
        }
    }

    /// What follows from a user's way back.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn take_landed(&mut self, landed: &Landed, at: &Moment) -> Result<Need, AuthError> {
        let Stage::Visiting(pending) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Err(AuthError::Unexpected);
        };
        let code = pending.end(landed.query(), at.now)?;
        let form = vec![
            ("grant_type", Secret::from("authorization_code")),
            ("code", code),
            ("redirect_uri", pending.redirect.into()),
            ("code_verifier", pending.verifier),
            ("resource", self.resource.clone().into()),
        ];
        self.ask(form, at)
    }

    /// What follows from the assertion that was needed.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn take_assertion(&mut self, assertion: Secret, at: &Moment) -> Result<Need, AuthError> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Identity => self.ask_enterprise(assertion, at),
            Stage::Workload => self.present(assertion, at),
            _ => Err(AuthError::Unexpected),
        }
    }

    fn resource_probed(
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
            Probing::Nowhere { tried, .. } => Err(AuthError::Nowhere {
                document: Document::Resource,
                of: self.plan.server.to_string().into(),
                tried,
            }),
            Probing::Refused(place, fault) => Err(refused(Document::Resource, place, fault)),
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

    fn assumed_probed(
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

    fn server_probed(
        &mut self,
        probing: Probing<ServerMetadata>,
        at: &Moment,
    ) -> Result<Need, AuthError> {
        match probing {
            Probing::Fetch(request) => Ok(Need::Fetch(request)),
            Probing::Found(found) => self.server_found(found.document, at),
            Probing::Nowhere { tried, .. } => Err(AuthError::Nowhere {
                document: Document::Server,
                of: tried
                    .first()
                    .map_or_else(Box::default, |(place, _)| origin_of(place)),
                tried,
            }),
            Probing::Refused(place, fault) => Err(refused(Document::Server, place, fault)),
        }
    }

    fn server_found(&mut self, server: ServerMetadata, at: &Moment) -> Result<Need, AuthError> {
        self.server = server;
        if self.needs_dpop {
            if !ServerMetadata::lists(&self.server.dpop_signing_alg_values_supported, "ES256") {
                return Err(self.lack(Lack::Dpop));
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

    fn know(&mut self, at: &Moment) -> Result<Need, AuthError> {
        let plan = &self.plan;
        let mut kept = plan.kept.iter();
        let kept = kept.find(|(issuer, _)| *issuer == self.server.issuer);
        let known = register::client(
            &plan.profile,
            &self.server,
            kept.map(|(_, client)| client),
            &plan.redirect,
            &self.scopes,
            self.reach(self.server.registration_endpoint.as_deref()),
        )?;
        match known {
            Known::As(client) => {
                self.client = client;
                self.visit(at)
            }
            Known::Register(request) => {
                self.stage = Stage::Registering(request.url.clone());
                Ok(Need::Fetch(request))
            }
        }
    }

    fn visit(&mut self, at: &Moment) -> Result<Need, AuthError> {
        let scope = self.scopes.to_string();
        let ask = Ask {
            server: &self.server,
            client: &self.client.id,
            redirect: &self.plan.redirect,
            resource: &self.resource,
            scope: Some(scope.as_str()).filter(|scope| !scope.is_empty()),
        };
        let (pending, visit) = Pending::begin(&ask, at)?;
        self.token_endpoint()?;
        self.stage = Stage::Visiting(Box::new(pending));
        Ok(Need::Visit(visit))
    }

    /// The client that somebody registered for this server.
    fn registered_client(&self) -> Result<ClientId, AuthError> {
        let profile = &self.plan.profile;
        let is_own =
            |issuer: &Option<String>| issuer.as_ref().is_none_or(|own| *own == self.server.issuer);
        let found = profile.registered.iter().find(|(issuer, _)| is_own(issuer));
        match (found, profile.registered.first()) {
            (Some((_, client)), _) => Ok(client.clone()),
            (None, Some((Some(other), _))) => {
                Err(self.lack(Lack::OtherIssuer(other.as_str().into())))
            }
            _ => Err(self.lack(Lack::Registration)),
        }
    }

    fn with_target(&self, mut form: Vec<(&'static str, Secret)>) -> Vec<(&'static str, Secret)> {
        form.push(("resource", self.resource.clone().into()));
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.to_string().into()));
        }
        form
    }

    fn ask(&mut self, form: Vec<(&'static str, Secret)>, at: &Moment) -> Result<Need, AuthError> {
        let endpoint = self.token_endpoint()?;
        let exchange = Exchange {
            what: Request::Token,
            reach: self.reach(Some(&endpoint)),
            endpoint,
            issuer: self.server.issuer.clone(),
            client: self.client.clone(),
            methods: self.server.token_endpoint_auth_methods_supported.clone(),
            form,
            dpop: self.dpop.clone(),
            nonce: None,
        };
        let request = exchange.request(at)?;
        self.stage = Stage::Token(Box::new(exchange));
        Ok(Need::Fetch(request))
    }

    fn given(
        &mut self,
        mut exchange: Box<Exchange>,
        answer: Result<Fetched, FetchFault>,
        at: &Moment,
    ) -> Result<Need, AuthError> {
        match exchange.take(answer, at)? {
            Exchanged::Again(request) => {
                self.stage = Stage::Token(exchange);
                Ok(Need::Fetch(request))
            }
            Exchanged::Done(given) => Ok(Need::Done(Box::new(Grant {
                tokens: exchange.tokens(given, at)?,
                issuer: self.server.issuer.clone(),
                resource: self.resource.clone(),
                token_endpoint: exchange.endpoint,
                client: exchange.client,
                requested: self.scopes.clone(),
                dpop: exchange.dpop,
            }))),
        }
    }

    fn token_endpoint(&self) -> Result<String, AuthError> {
        let endpoint = self.server.token_endpoint.clone();
        endpoint.ok_or_else(|| self.lack(Lack::Endpoint("token_endpoint")))
    }

    fn reach(&self, endpoint: Option<&str>) -> Reach {
        let url = endpoint.and_then(|text| WebUrl::parse(text).ok());
        let bounds = &self.plan.bounds;
        url.map_or(Reach::Public, |url| bounds.reach(&url))
    }

    fn lack(&self, reason: Lack) -> AuthError {
        AuthError::Server {
            issuer: self.server.issuer.as_str().into(),
            reason,
        }
    }
}

fn refused(document: Document, place: String, fault: crate::metadata::DocumentFault) -> AuthError {
    AuthError::Document {
        document,
        place: place.into(),
        fault,
    }
}

fn origin_of(place: &str) -> Box<str> {
    WebUrl::parse(place).map_or_else(|_| place.into(), |url| url.front().into())
}
