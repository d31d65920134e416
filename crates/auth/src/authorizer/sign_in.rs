//! Signing in: the machine is driven, the user is sent to the issuer, registrations are stored.

use std::future::Future;
use std::sync::Arc;

use pintle_runtime::Fetch;
use tokio::time::{Instant, timeout, timeout_at};

use crate::authorizer::challenge_summary::ChallengeSummary;
use crate::authorizer::{Inner, flow_context, kept};
use crate::client::{ClientRegistration, GrantFlow};
use crate::credentials::Clients;
use crate::error::AuthError;
use crate::flow::{
    AuthorizationResponse, IssuedTokens, SignIn, SignInPlan, SignInRequest, SignInStep, UserCode,
};
use crate::form;
use crate::redirect::Loopback;
use crate::scope::Scopes;
use crate::secret::Secret;

/// Under which name registrations are kept.
const CLIENTS: &str = "clients";

impl Inner {
    /// Signs in. It does not use the stored registration at the issuer `stale`, because that issuer
    /// does not know it any more.
    pub(super) async fn sign_in(
        self: &Arc<Self>,
        challenge: ChallengeSummary,
        held: Option<(String, Scopes)>,
        stale: Option<&str>,
    ) -> Result<IssuedTokens, AuthError> {
        let needs_page = matches!(self.profile.grant_flow, GrantFlow::AuthorizationCode);
        let can_ask = match self.profile.grant_flow {
            GrantFlow::AuthorizationCode => self.on_visit.is_some(),
            GrantFlow::Device => self.on_user_code.is_some(),
            _ => true,
        };
        if !can_ask {
            return Err(AuthError::SignInUnavailable);
        }
        let clients = self.load_text(CLIENTS.to_owned()).await?;
        let clients = Clients::read(clients.as_ref()).into_all();
        let loopback = match (&self.redirect, needs_page) {
            (None, true) => Some(listen(&clients, self.port).await?),
            _ => None,
        };
        let redirect = loopback
            .as_ref()
            .map(Loopback::redirect)
            .or(self.redirect.clone().filter(|_| needs_page));
        let mut plan = SignInPlan::new(
            self.server.clone(),
            Arc::clone(&self.profile),
            redirect.unwrap_or_default(),
        );
        plan.named = challenge.metadata;
        plan.challenged = challenge.scopes;
        plan.wants_dpop = challenge.is_dpop;
        plan.held = held;
        plan.fetch_policy = self.fetch_policy.clone();
        plan.kept = clients;
        plan.kept.retain(|(issuer, _)| stale != Some(issuer));
        self.drive(plan, loopback.as_ref()).await
    }

    async fn drive(
        self: &Arc<Self>,
        plan: SignInPlan,
        loopback: Option<&Loopback>,
    ) -> Result<IssuedTokens, AuthError> {
        let (mut sign_in, mut need) = SignIn::begin(plan, &flow_context()?)?;
        let mut is_remembered = false;
        let mut deadline = Instant::now();
        loop {
            need = match need {
                SignInStep::Fetch(request) => {
                    let answer = self.fetch.fetch(request).await;
                    sign_in.take_answer(answer, &flow_context()?)?
                }
                SignInStep::Visit(visit) => {
                    let response = self.visit(visit, loopback).await;
                    if let (Err(AuthError::SignInTimedOut(_)), Some(issuer)) =
                        (&response, sign_in.earlier())
                    {
                        let issuer = issuer.to_owned();
                        self.change_clients(move |clients| clients.forget(&issuer))
                            .await;
                    }
                    let response = response?;
                    sign_in.take_response(&response, &flow_context()?)?
                }
                SignInStep::ShowCode(code) => {
                    deadline = Instant::now() + self.options.sign_in_timeout;
                    self.show_code(code, deadline).await?;
                    sign_in.resume(&flow_context()?)?
                }
                SignInStep::Wait(pause) => {
                    let pause = tokio::time::sleep(pause);
                    self.before(deadline, pause).await?;
                    sign_in.resume(&flow_context()?)?
                }
                SignInStep::Identity => {
                    let token = self.assertion(String::new(), "identity token").await?;
                    sign_in.take_assertion(token, &flow_context()?)?
                }
                SignInStep::Workload(audience) => {
                    let token = self
                        .assertion(audience, "assertion of the platform")
                        .await?;
                    sign_in.take_assertion(token, &flow_context()?)?
                }
                SignInStep::Done(issued) => return Ok(*issued),
            };
            if let Some((issuer, client)) = sign_in.registration().filter(|_| !is_remembered) {
                let (issuer, client) = (issuer.to_owned(), client.clone());
                self.change_clients(move |clients| clients.put(&issuer, &client))
                    .await;
                is_remembered = true;
            }
        }
    }

    async fn assertion(&self, audience: String, what: &'static str) -> Result<Secret, AuthError> {
        match &self.on_assertion {
            Some(bring) => bring(audience).await,
            None => Err(AuthError::NoAssertion(what)),
        }
    }

    async fn show_code(&self, code: UserCode, deadline: Instant) -> Result<(), AuthError> {
        let show = self.on_user_code.as_ref();
        let show = show.ok_or(AuthError::SignInUnavailable)?;
        self.before(deadline, show(code)).await?
    }

    async fn before<T>(
        &self,
        deadline: Instant,
        something: impl Future<Output = T>,
    ) -> Result<T, AuthError> {
        let wait = self.options.sign_in_timeout;
        let done = timeout_at(deadline, something).await;
        done.map_err(|_| AuthError::SignInTimedOut(wait))
    }

    /// Sends a user, and waits for the way back.
    async fn visit(
        &self,
        visit: SignInRequest,
        loopback: Option<&Loopback>,
    ) -> Result<AuthorizationResponse, AuthError> {
        let on_visit = self.on_visit.as_ref().ok_or(AuthError::SignInUnavailable)?;
        let wait = self.options.sign_in_timeout;
        let state = state_of(&visit);
        let opening = on_visit(visit);
        let landing = async {
            match loopback {
                Some(loopback) => loopback.wait_for_redirect(&state).await,
                None => std::future::pending().await,
            }
        };
        let coming = async {
            let mut landing = std::pin::pin!(landing);
            tokio::select! {
                // A response may arrive before the program that opens the browser has ended.
                biased;
                response = &mut landing => Ok(response),
                opened = opening => match opened? {
                    Some(response) => Ok(response),
                    None => Ok(landing.await),
                },
            }
        };
        timeout(wait, coming)
            .await
            .unwrap_or(Err(AuthError::SignInTimedOut(wait)))
    }

    /// Changes the stored registrations. A failure is logged and ends no sign-in, because the
    /// client can register again.
    async fn change_clients(self: &Arc<Self>, change: impl FnOnce(&mut Clients) + Send + 'static) {
        if let Err(error) = self.try_change_clients(change).await {
            tracing::warn!(%error, "a registration is not saved");
        }
    }

    /// Changes the stored registrations under a lock that excludes other processes.
    async fn try_change_clients(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Clients) + Send + 'static,
    ) -> Result<(), AuthError> {
        let alone = self.lock(CLIENTS).await?;
        self.blocking(move |inner| {
            let _alone = alone;
            let found = inner.store.load(CLIENTS).map_err(kept)?;
            let mut clients = Clients::read(found.as_ref());
            change(&mut clients);
            inner
                .store
                .save(CLIENTS, Some(&clients.write()))
                .map_err(kept)
        })
        .await
    }
}

/// Listens on the configured port, or else on the port of an earlier redirect URI if it is free.
async fn listen(
    clients: &[(String, ClientRegistration)],
    port: Option<u16>,
) -> Result<Loopback, AuthError> {
    let before = clients
        .iter()
        .find_map(|(_, client)| client.redirect.as_deref());
    let bound = match port {
        Some(port) => Loopback::at(port).await,
        None => Loopback::bind(before).await,
    };
    let chosen = port.map_or_else(String::new, |port| format!("port {port}: "));
    bound.map_err(|error| AuthError::NoRedirectPort(format!("{chosen}{error}").into()))
}

fn state_of(visit: &SignInRequest) -> String {
    let query = visit.url.split_once('?').map_or("", |(_, query)| query);
    let pairs = form::read(query).unwrap_or_default();
    let found = pairs.into_iter().find(|(name, _)| name == "state");
    found.map_or_else(String::new, |(_, state)| state)
}
