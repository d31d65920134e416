//! Authorization for a server at an `http` or `https` URL.
//!
//! A conversation sends stored credentials, renews them, and opens no sign-in page: see [`RecordingAuthorizer`].
//! [`Access::sign_in`] runs outside of conversations, because a user may take longer than their timeouts.

mod credential_store;
mod error;
mod profile;
mod recording_authorizer;
mod rejection_reporter;
mod visit;

use std::error::Error;
use std::sync::Arc;

use pintle::auth::{AuthError, IssuedTokens, OAuth, OAuthBuilder, WebUrl};
use pintle::http::client::{DocumentClient, HttpClientOptions};

use crate::args::AccessSettings;
use crate::args::UsageError;
use crate::exit::CliError;
use pintle_hosts::{Endpoint, Target};

pub(crate) use credential_store::UserCredentials;
pub(crate) use error::AccessError;
pub(crate) use recording_authorizer::RecordingAuthorizer;
pub(crate) use rejection_reporter::RejectionReporter;
pub(crate) use visit::{Guide, PagePolicy, SignInGuide};

/// The authorization for one server: its OAuth client and the store of its credentials.
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
    /// Returns the authorization for a server. A program has none, and neither has a server with a configured
    /// `Authorization` header.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for a URL that OAuth does not support, or an invalid key;
    /// [`AuthError`] for a requested keyring that stores nothing.
    pub(crate) fn of(target: &Target, settings: &AccessSettings) -> Result<Option<Self>, CliError> {
        match target {
            Target::Url(endpoint) if is_open(endpoint) => {
                Self::at(&endpoint.url, settings, credentials(settings)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns the authorization for the server at a URL.
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

    /// Uses published metadata only, because the server has not required authorization.
    pub(crate) fn without_legacy_assumption(mut self) -> Self {
        self.assumption = MetadataAssumption::Nothing;
        self
    }

    /// Returns the authorizer of conversations.
    pub(crate) fn authorizer(&self) -> RecordingAuthorizer {
        self.authorizer.clone()
    }

    /// Returns the tokens that are stored for the server, if there are any.
    ///
    /// # Errors
    ///
    /// [`AuthError`].
    pub(crate) fn issued_tokens(&self) -> Result<Option<Arc<IssuedTokens>>, CliError> {
        Ok(self.oauth().issued_tokens()?)
    }

    /// Returns the OAuth client that conversations use.
    pub(crate) fn oauth(&self) -> &OAuth {
        self.authorizer.oauth()
    }

    /// Signs the user in for the challenges of the server. Conversations then send the new token.
    ///
    /// # Errors
    ///
    /// [`AuthError`], [`AccessError::Declined`].
    pub(crate) async fn sign_in(
        &mut self,
        challenges: &[String],
        guide: &Guide,
    ) -> Result<(), CliError> {
        let mut builder = guide.lead(self.builder()?);
        if let Some(port) = self.settings.redirect_port {
            builder = builder.redirect_port(port);
        }
        let oauth = builder.build();
        oauth
            .sign_in_after(challenges)
            .await
            .map_err(|error| match error {
                AuthError::SignInUnavailable if guide.was_declined() => {
                    CliError::from(AccessError::Declined)
                }
                error => error.into(),
            })?;
        // A new authorizer, because it reads the stored tokens again and opens no page.
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

/// Returns true if a cause of the failure is a missing sign-in.
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

/// Returns the store of credentials: for this run if the tool signs in as itself, otherwise for the user.
fn credentials(settings: &AccessSettings) -> Result<UserCredentials, CliError> {
    match settings.is_itself {
        true => Ok(UserCredentials::for_this_run()),
        false => match UserCredentials::of_user(settings) {
            // Without a directory, a sign-in lasts for this run.
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

/// Returns the canonical form of a URL, which names its stored credentials.
pub(crate) fn canonical(url: &str) -> Option<String> {
    let url = WebUrl::parse(url.split('#').next()?).ok()?;
    Some(url.canonical())
}

/// Returns true if an HTTP server has no configured `Authorization` header.
fn is_open(endpoint: &Endpoint) -> bool {
    is_http(&endpoint.url) && !endpoint.is_authorized()
}

/// Returns true if a URL has the scheme `http` or `https`.
pub(crate) fn is_http(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    ["http", "https"]
        .iter()
        .any(|own| scheme.eq_ignore_ascii_case(own))
}
