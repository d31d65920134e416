//! Authorization for a server at an `http` or `https` URL.
//!
//! A conversation asks with what is kept, renews it, and opens nothing: that is [`RecordingAuthorizer`]. Signing in
//! ([`Access::sign_in`]) is done outside of conversations, whose patience is shorter than people are
//! away.

mod auth_probe;
mod credential_store;
mod error;
mod given;
mod profile;
mod recording_authorizer;
mod visit;

use std::error::Error;
use std::sync::Arc;

use pintle::auth::{AuthError, OAuth, OAuthBuilder, TokenGrant, WebUrl};
use pintle::http::client::{DocumentClient, HttpClientOptions};

use crate::args::AccessSettings;
use crate::args::UsageError;
use crate::exit::CliError;
use pintle_hosts::{Endpoint, Target};

pub(crate) use auth_probe::{probe, probe_with};
pub(crate) use credential_store::UserCredentials;
pub(crate) use error::AccessError;
pub(crate) use given::Given;
pub(crate) use recording_authorizer::RecordingAuthorizer;
pub(crate) use visit::{Guide, PagePolicy};

/// How one server is asked.
pub(crate) struct Access {
    url: String,
    settings: AccessSettings,
    credentials: UserCredentials,
    assumption: MetadataAssumption,
    authorizer: RecordingAuthorizer,
}

/// The assumption about a server that publishes no metadata. Closed: there is no third assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetadataAssumption {
    /// The server follows 2025-03-26, and is its own authorization server.
    Legacy,
    /// No assumption: only published metadata counts.
    Nothing,
}

impl Access {
    /// How a server is asked; none where nobody signs in: for a program, and where a header says who
    /// asks.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for an address that cannot be authorized, or a key that is none;
    /// [`AuthError`] for a keyring that was asked for and keeps nothing.
    pub(crate) fn of(target: &Target, settings: &AccessSettings) -> Result<Option<Self>, CliError> {
        match target {
            Target::Url(endpoint) if is_open(endpoint) => {
                Self::at(&endpoint.url, settings, credentials(settings)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// How the server at an address is asked.
    ///
    /// # Errors
    ///
    /// As [`Access::of`].
    pub(crate) fn at(
        url: &str,
        settings: &AccessSettings,
        credentials: UserCredentials,
    ) -> Result<Self, CliError> {
        let assumption = MetadataAssumption::Legacy;
        let authorizer =
            RecordingAuthorizer::new(builder(url, settings, &credentials, assumption)?.build());
        Ok(Self {
            url: url.to_owned(),
            settings: settings.clone(),
            credentials,
            assumption,
            authorizer,
        })
    }

    /// For a server that did not ask who is there.
    pub(crate) fn without_legacy_assumption(mut self) -> Self {
        self.assumption = MetadataAssumption::Nothing;
        self
    }

    /// Returns the authorizer of conversations.
    pub(crate) fn authorizer(&self) -> RecordingAuthorizer {
        self.authorizer.clone()
    }

    /// Returns the grant that is stored for the server, if there is one.
    ///
    /// # Errors
    ///
    /// [`AuthError`].
    pub(crate) fn grant(&self) -> Result<Option<Arc<TokenGrant>>, CliError> {
        Ok(self.oauth().grant()?)
    }

    /// Returns the OAuth client that conversations use.
    pub(crate) fn oauth(&self) -> &OAuth {
        self.authorizer.oauth()
    }

    /// Signs somebody in, for what the server wanted, and lets conversations ask with that.
    ///
    /// # Errors
    ///
    /// [`AuthError`], [`AccessError::Declined`].
    pub(crate) async fn sign_in(
        &mut self,
        wanted: &[String],
        guide: &Guide,
    ) -> Result<(), CliError> {
        let mut way = guide.lead(self.builder()?);
        if let Some(port) = self.settings.redirect_port {
            way = way.redirect_port(port);
        }
        let oauth = way.build();
        oauth
            .sign_in_after(wanted)
            .await
            .map_err(|error| match error {
                AuthError::SignInUnavailable if guide.was_declined() => {
                    CliError::from(AccessError::Declined)
                }
                error => error.into(),
            })?;
        // It reads anew what is kept, and sends nobody anywhere.
        self.authorizer = RecordingAuthorizer::new(self.builder()?.build());
        Ok(())
    }

    fn builder(&self) -> Result<OAuthBuilder, CliError> {
        builder(
            &self.url,
            &self.settings,
            &self.credentials,
            self.assumption,
        )
    }
}

/// Whether somebody could sign in, and nobody has: then it is worth to ask.
pub(crate) fn requires_sign_in(failure: &CliError) -> bool {
    let mut cause = Some(failure as &(dyn Error + 'static));
    while let Some(error) = cause {
        if let Some(AuthError::SignInUnavailable) = error.downcast_ref() {
            return true;
        }
        cause = error.source();
    }
    false
}

fn builder(
    url: &str,
    settings: &AccessSettings,
    credentials: &UserCredentials,
    assumption: MetadataAssumption,
) -> Result<OAuthBuilder, CliError> {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    let mut profile = profile::profile(settings)?;
    profile.assume_legacy_metadata = assumption == MetadataAssumption::Legacy;
    let builder = OAuth::of(url, profile, fetch);
    let builder = builder.map_err(|error| UsageError(error.to_string()))?;
    Ok(builder.store(credentials.clone()))
}

/// Where a conversation has its credentials from.
fn credentials(settings: &AccessSettings) -> Result<UserCredentials, CliError> {
    match settings.is_itself {
        true => Ok(UserCredentials::for_this_run()),
        false => match UserCredentials::of_user(settings) {
            // Without a place to credentials anything, what comes of a sign-in is good for this run.
            Err(error) if has_no_directory(&error) && !settings.in_keyring => {
                Ok(UserCredentials::for_this_run())
            }
            kept => kept,
        },
    }
}

fn has_no_directory(error: &CliError) -> bool {
    matches!(error.as_error(), Some(AccessError::NoDirectory))
}

/// The form of an address under which something is kept for it.
pub(crate) fn canonical(url: &str) -> Option<String> {
    let url = WebUrl::parse(url.split('#').next()?).ok()?;
    Some(url.canonical())
}

/// Whether nothing says who asks.
fn is_open(endpoint: &Endpoint) -> bool {
    is_http(&endpoint.url) && !endpoint.is_authorized()
}

/// Whether an address is one of HTTP.
pub(crate) fn is_http(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    ["http", "https"]
        .iter()
        .any(|own| scheme.eq_ignore_ascii_case(own))
}
