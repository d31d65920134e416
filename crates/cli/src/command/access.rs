//! `pintle login`, `pintle logout`, `pintle auth status`: the user's sign-ins.

use std::sync::Arc;

use pintle::auth::metadata::MetadataDocument;
use pintle::auth::{AuthError, Revocation, SignedOut};

use super::{Action, Invocation, next_step};
use crate::access::{Access, AccessError, Guide, PagePolicy, UserCredentials, canonical, is_http};
use crate::args::{Format, ServerSpec, Settings, UsageError};
use crate::ask::Prompter;
use crate::conversation::target;
use crate::exit::CliError;
use crate::live::Live;
use crate::output;
use crate::screen::Screen;
use crate::show::{self, SignedIn};
use pintle_doctor::auth::probe;
use pintle_hosts::{Endpoint, Target, without_query};

/// Does an action on stored credentials.
pub(super) async fn run(invocation: Invocation) -> Result<(), CliError> {
    let screen = Screen::look();
    let live = Arc::new(Live::new(screen.notes));
    let settings = &invocation.settings;
    let command = AccessCommand {
        prompter: Prompter::new(&settings.inputs, &settings.answers, screen, live),
        screen,
        settings,
        format: invocation.format,
    };
    match invocation.action {
        Action::Login => command.login(invocation.required_server()?).await,
        Action::Logout => command.logout(invocation.required_server()?).await,
        _ => match &invocation.server {
            Some(server) => command.status_of(server),
            None => command.status(),
        },
    }
}

/// A command on credentials, with its terminal and settings.
struct AccessCommand<'i> {
    prompter: Arc<Prompter>,
    screen: Screen,
    settings: &'i Settings,
    format: Format,
}

impl AccessCommand<'_> {
    /// Signs the user in, with the challenges of the server's answer to a request without a token.
    async fn login(&self, spec: &ServerSpec) -> Result<(), CliError> {
        let endpoint = self.endpoint(spec)?;
        if endpoint.is_authorized() {
            let reason = "the Authorization header of this server is set, so it needs no sign-in";
            return Err(UsageError(reason.to_owned()).into());
        }
        let guide = Guide::new(&self.prompter, self.page_policy()?);
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
            }) if !probe.is_refused() => CliError::not_found(needs_no_sign_in(probe.status)),
            _ => failure,
        })?;
        self.print(&stored(&endpoint.url, &access)?)
    }

    fn page_policy(&self) -> Result<PagePolicy, CliError> {
        let access = &self.settings.access;
        match (access.is_shown || access.is_device, self.prompter.is_interactive()) {
            (true, _) => Ok(PagePolicy::Shown),
            (false, true) => Ok(PagePolicy::Opened),
            (false, false) => Err(CliError::from(AuthError::SignInUnavailable).with_next(|| {
                "Run the command at a terminal, or add --no-browser to show the URL of the sign-in page, or --device to sign in with a code."
                    .to_owned()
            })),
        }
    }

    /// Deletes the credentials that are stored for a server, and revokes its tokens.
    async fn logout(&self, spec: &ServerSpec) -> Result<(), CliError> {
        let endpoint = self.endpoint(spec)?;
        let access = self.access(&endpoint.url)?;
        let server = without_query(&endpoint.url).to_owned();
        let report = match access.oauth().sign_out().await? {
            SignedOut::Forgotten(revocation) => show::signed_out(&server, revoked(&revocation)),
            _ => show::not_signed_in(&server),
        };
        match self.format {
            Format::Text => output::result(report.text.as_bytes()),
            Format::Json => output::json(&self.screen, &report.json),
        }
    }

    /// Shows whether the user is signed in to a server.
    fn status_of(&self, spec: &ServerSpec) -> Result<(), CliError> {
        let endpoint = self.endpoint(spec)?;
        let access = self.access(&endpoint.url)?;
        let found = stored(&endpoint.url, &access)?;
        self.print(&found)?;
        match found.is_empty() {
            false => Ok(()),
            true => Err(CliError::from(AccessError::SignedOut).with_next(|| next_step(spec))),
        }
    }

    /// Shows the servers that the user is signed in to.
    fn status(&self) -> Result<(), CliError> {
        let credentials = UserCredentials::of_user(&self.settings.access)?;
        let mut found = Vec::new();
        for server in credentials.servers()? {
            let access = Access::at(&server, &self.settings.access, credentials.clone())?;
            found.extend(stored(&server, &access)?);
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

    /// Returns the HTTP endpoint of the typed server.
    fn endpoint(&self, spec: &ServerSpec) -> Result<Endpoint, CliError> {
        match target(spec, self.settings, &self.prompter)? {
            Target::Url(endpoint) if is_http(&endpoint.url) => Ok(endpoint),
            _ => {
                let reason = "a sign-in requires a server at an http or https URL";
                Err(UsageError(reason.to_owned()).into())
            }
        }
    }
}

/// Returns the reason why the tokens are not revoked; `None` if they are.
fn revoked(revocation: &Revocation) -> Option<String> {
    match revocation {
        Revocation::Done => None,
        Revocation::Failed(error) => Some(output::causes(error).join(": ")),
        _ => Some("the issuer has no revocation endpoint".to_owned()),
    }
}

fn stored(url: &str, access: &Access) -> Result<Vec<SignedIn>, CliError> {
    let server = canonical(url).unwrap_or_else(|| url.to_owned());
    let issued = access.issued_tokens()?;
    let signed_in = issued.map(|issued| SignedIn::new(without_query(&server), &issued));
    Ok(signed_in.into_iter().collect())
}

fn needs_no_sign_in(status: u16) -> String {
    format!(
        "this server requires no sign-in: it answered a request without a token with HTTP status {status}, \
         and publishes no metadata"
    )
}
