//! `pintle login`, `pintle logout`, `pintle auth status`: who asks, from now on.

use std::sync::Arc;

use pintle::auth::metadata::MetadataDocument;
use pintle::auth::{AuthError, Revocation, SignedOut};

use super::{Action, Invocation, next_step};
use crate::access::{
    Access, AccessError, Guide, PagePolicy, UserCredentials, canonical, is_http, probe,
};
use crate::args::{Format, ServerSpec, Settings, UsageError};
use crate::ask::Prompter;
use crate::conversation::target;
use crate::exit::CliError;
use crate::live::Live;
use crate::output;
use crate::screen::Screen;
use crate::show::{self, SignedIn};
use pintle_hosts::{Endpoint, Target, without_query};

/// Does what was wanted of whoever keeps credentials.
pub(super) async fn run(invocation: Invocation) -> Result<(), CliError> {
    let screen = Screen::look();
    let live = Arc::new(Live::new(screen.notes));
    let settings = &invocation.settings;
    let here = Here {
        desk: Prompter::new(&settings.inputs, &settings.answers, screen, live),
        screen,
        settings,
        format: invocation.format,
    };
    match invocation.action {
        Action::Login => here.login(invocation.required_server()?).await,
        Action::Logout => here.logout(invocation.required_server()?).await,
        _ => match &invocation.server {
            Some(server) => here.status_of(server),
            None => here.status(),
        },
    }
}

/// Where results and questions go.
struct Here<'i> {
    desk: Arc<Prompter>,
    screen: Screen,
    settings: &'i Settings,
    format: Format,
}

impl Here<'_> {
    /// Signs somebody in, for what the server says to whoever shows nothing.
    async fn login(&self, wanted: &ServerSpec) -> Result<(), CliError> {
        let endpoint = self.endpoint(wanted)?;
        if endpoint.is_authorized() {
            let said = "the Authorization header of this server is set, so it needs no sign-in";
            return Err(UsageError(said.to_owned()).into());
        }
        let guide = Guide::new(&self.desk, self.page_policy()?);
        let mut access = self.access(&endpoint.url)?;
        let probe = probe(&endpoint).await.map_err(AccessError::Probe)?;
        if !probe.is_refused() {
            access = access.without_legacy_assumption();
        }
        let signed_in = access.sign_in(&probe.challenges, &guide).await;
        signed_in.map_err(|failure| match failure.as_error() {
            Some(AuthError::DocumentNotFound {
                document: MetadataDocument::Resource,
                ..
            }) if !probe.is_refused() => CliError::not_found(lets_everybody_in(probe.status)),
            _ => failure,
        })?;
        self.print(&kept(&endpoint.url, &access)?)
    }

    fn page_policy(&self) -> Result<PagePolicy, CliError> {
        match (self.settings.access.is_shown, self.desk.is_somebody_there()) {
            (true, _) => Ok(PagePolicy::Shown),
            (false, true) => Ok(PagePolicy::Opened),
            (false, false) => Err(CliError::from(AuthError::SignInUnavailable).with_next(|| {
                "Run the command at a terminal, or add --no-browser to show the URL of the sign-in page."
                    .to_owned()
            })),
        }
    }

    /// Forgets what is kept for a server.
    async fn logout(&self, wanted: &ServerSpec) -> Result<(), CliError> {
        let endpoint = self.endpoint(wanted)?;
        let access = self.access(&endpoint.url)?;
        let server = without_query(&endpoint.url).to_owned();
        let said = match access.oauth().sign_out().await? {
            SignedOut::Forgotten(revocation) => show::signed_out(&server, revoked(&revocation)),
            _ => show::not_signed_in(&server),
        };
        match self.format {
            Format::Text => output::result(said.text.as_bytes()),
            Format::Json => output::json(&self.screen, &said.json),
        }
    }

    /// Says whether somebody is signed in to a server.
    fn status_of(&self, wanted: &ServerSpec) -> Result<(), CliError> {
        let endpoint = self.endpoint(wanted)?;
        let access = self.access(&endpoint.url)?;
        let found = kept(&endpoint.url, &access)?;
        self.print(&found)?;
        match found.is_empty() {
            false => Ok(()),
            true => Err(CliError::from(AccessError::SignedOut).with_next(|| next_step(wanted))),
        }
    }

    /// Says to which servers somebody is signed in.
    fn status(&self) -> Result<(), CliError> {
        let credentials = UserCredentials::of_user(&self.settings.access)?;
        let mut found = Vec::new();
        for server in credentials.servers()? {
            let access = Access::at(&server, &self.settings.access, credentials.clone())?;
            found.extend(kept(&server, &access)?);
        }
        self.print(&found)
    }

    fn access(&self, url: &str) -> Result<Access, CliError> {
        let settings = &self.settings.access;
        Access::at(url, settings, UserCredentials::of_user(settings)?)
    }

    fn print(&self, found: &[SignedIn]) -> Result<(), CliError> {
        match self.format {
            Format::Json => output::json(&self.screen, &show::signed_in_json(found)),
            Format::Text => output::result(show::signed_in(found, self.screen.output).as_bytes()),
        }
    }

    /// The endpoint that was meant.
    fn endpoint(&self, wanted: &ServerSpec) -> Result<Endpoint, CliError> {
        match target(wanted, self.settings, &self.desk)? {
            Target::Url(endpoint) if is_http(&endpoint.url) => Ok(endpoint),
            _ => {
                let said = "a sign-in requires a server at an http or https URL";
                Err(UsageError(said.to_owned()).into())
            }
        }
    }
}

/// What became of the tokens; none if they are taken back.
fn revoked(revocation: &Revocation) -> Option<String> {
    match revocation {
        Revocation::Done => None,
        Revocation::Failed(error) => Some(output::causes(error).join(": ")),
        _ => Some("the issuer has no revocation endpoint".to_owned()),
    }
}

fn kept(url: &str, access: &Access) -> Result<Vec<SignedIn>, CliError> {
    let server = canonical(url).unwrap_or_else(|| url.to_owned());
    let grant = access.grant()?;
    let signed_in = grant.map(|grant| SignedIn::new(without_query(&server), &grant));
    Ok(signed_in.into_iter().collect())
}

fn lets_everybody_in(status: u16) -> String {
    format!(
        "this server requires no sign-in: it answered a request without a token with HTTP status {status}, \
         and publishes no metadata"
    )
}
