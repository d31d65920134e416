//! Judges the server of the page, as `pintle check` and `pintle lint` do.

use pintle::client::Client;
use pintle::runtime::BoxFuture;
use pintle_check::{CheckOptions, Target, check};
use pintle_lint::{Host, Surface, lint};
use pintle_web::{Judge, TargetError};
use serde_json::json;

use crate::exit::CliError;
use crate::output::causes;

/// The judge of one server. It calls only tools that are read-only and require no arguments.
pub(super) struct CommandJudge(Target);

impl CommandJudge {
    pub(super) fn new(target: Target) -> Self {
        Self(target)
    }

    async fn report(&self) -> Result<String, CliError> {
        let report = check(&self.0, CheckOptions::default()).await?;
        // As the command, so that the program has one writer of reports.
        Ok(serde_json::to_string_pretty(&report).map_err(std::io::Error::from)?)
    }
}

impl Judge for CommandJudge {
    fn check(&self) -> BoxFuture<'_, Result<String, TargetError>> {
        Box::pin(async { self.report().await.map_err(|error| failure(&error)) })
    }

    fn lint<'j>(&'j self, client: &'j Client) -> BoxFuture<'j, Result<String, TargetError>> {
        Box::pin(async {
            let surface = Surface::of(client).await;
            let surface = surface.map_err(|error| failure(&CliError::from(error)))?;
            Ok(json!({ "findings": lint(&surface, &Host::ALL) }).to_string())
        })
    }
}

/// Describes an error for the page.
pub(super) fn failure(error: &CliError) -> TargetError {
    let failure = TargetError::new(causes(error).join(": "));
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
