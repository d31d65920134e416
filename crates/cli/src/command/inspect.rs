//! `pintle inspect`: everything about a server.

use pintle::auth::WebUrl;
use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::model::Feature;

use super::list::offers;
use crate::args::Format;
use crate::conversation::{Conversation, Opening};
use crate::exit::CliError;
use crate::output;
use crate::show;
use pintle_doctor::auth::{LinkState, diagnose_auth};
use pintle_hosts::without_query;

/// Prints the server's identity, revisions, capabilities and offers.
pub(crate) async fn run(conversation: &Conversation) -> Result<(), CliError> {
    let offers = offers(conversation, &[]).await?;
    let Some(server) = conversation.client.server() else {
        return Err(CliError::not_found("the server has gone"));
    };
    let described = show::Server {
        identity: server.identity.as_deref(),
        capabilities: &server.capabilities,
        instructions: server.instructions.as_deref(),
        revision: server.revision.to_string(),
        supported: &server.supported,
        era: match server.revision.has(Feature::Handshake) {
            true => "legacy",
            false => "modern",
        },
    };
    let screen = &conversation.screen;
    match conversation.format {
        Format::Json => output::json(screen, &described.json(&offers)),
        Format::Text => output::result(show::server(&described, &offers, screen.output).as_bytes()),
    }
}

/// Prints the chain from a server that requires a token to its authorization server. Returns the
/// failure with a next step about the first broken link.
///
/// # Errors
///
/// The output cannot be printed.
pub(crate) async fn explain(
    opening: &Opening<'_>,
    failure: CliError,
) -> Result<CliError, CliError> {
    let Some(endpoint) = opening.shown() else {
        return Ok(failure);
    };
    let Ok(server) = WebUrl::parse(endpoint.url.split('#').next().unwrap_or_default()) else {
        return Ok(failure);
    };
    let has_client = opening.options().settings.access.client.is_some();
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    // If the server no longer answers, the failure already explains it.
    let Ok(links) = diagnose_auth(&fetch, &endpoint, server, has_client).await else {
        return Ok(failure);
    };
    let (screen, server) = (opening.screen(), without_query(&endpoint.url));
    match opening.options().format {
        Format::Json => output::json(screen, &show::auth_diagnosis_json(server, &links))?,
        Format::Text => {
            output::result(show::auth_diagnosis(server, &links, screen.output).as_bytes())?;
        }
    }
    let broken = links
        .into_iter()
        .find(|link| link.state == LinkState::Broken);
    Ok(match broken {
        Some(link) => failure.with_next(|| {
            let next = link.next.unwrap_or_default();
            format!("The chain breaks at its link `{}`: {next}.", link.name)
        }),
        None => failure,
    })
}
