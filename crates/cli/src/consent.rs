//! Consent to servers that a project's file, or a file named on the command line, describes.
//!
//! Such a file may come from a stranger. The user sees the whole definition and agrees before the tool expands,
//! starts or contacts anything of it. [`Consents`] stores the consent for the file and the whole definition. So a
//! changed definition needs a new consent.

mod record;

use std::path::PathBuf;

use crate::ask::Prompter;
use crate::exit::{CliError, Exit};
use crate::show;
use pintle_hosts::{ConfigOwner, Environment, Listed, Review};

use record::Consents;

/// Largest description that is shown, in bytes. A longer one could push its beginning off the screen.
const SHOWN_BYTES: usize = 16 * 1024;

/// The user has not agreed to a server that a project's file, or a named one, describes.
#[derive(Debug, thiserror::Error)]
#[error("no consent to the server `{server}` of {}: {reason}", file.display())]
struct ConsentError {
    server: String,
    /// The file that describes the server.
    file: PathBuf,
    /// Why consent is missing, or how to give it.
    reason: &'static str,
}

/// Requires the consent of the user before the first use of a server, and prints which server it is.
///
/// # Errors
///
/// [`ConfigError`](pintle_hosts::ConfigError) for a definition that is wrong, [`ConsentError`] without consent.
pub(crate) fn require(
    listed: &Listed,
    environment: &Environment<'_>,
    is_trusted: bool,
    prompter: &Prompter,
) -> Result<(), CliError> {
    let review = listed.review(environment)?;
    if is_given(listed, environment, is_trusted) {
        prompter.note(&show::review_line(&review));
        return Ok(());
    }
    ask(&review, prompter)?;
    let consents = Consents::of_user(environment);
    let stored = consents.add(&listed.file, &listed.server.name, listed.definition());
    if let Err(error) = stored {
        prompter.warn(&format!("the consent is not stored: {error}"));
    }
    Ok(())
}

/// Returns true if a server may be used without a question.
pub(crate) fn is_given(listed: &Listed, environment: &Environment<'_>, is_trusted: bool) -> bool {
    let consents = Consents::of_user(environment);
    listed.origin == ConfigOwner::User
        || is_trusted
        || consents.contain(&listed.file, &listed.server.name, &listed.definition())
}

fn ask(review: &Review, prompter: &Prompter) -> Result<(), CliError> {
    let page = show::review(review, prompter.look());
    let refused = |reason| {
        let (server, file) = (review.name.clone(), review.file.clone());
        let error = ConsentError {
            server,
            file,
            reason,
        };
        CliError::new(Exit::Usage, error)
    };
    if page.len() > SHOWN_BYTES {
        return Err(refused("its definition is too long to be shown"));
    }
    match prompter.consent(&page) {
        Some(true) => Ok(()),
        Some(false) => Err(refused("you did not agree to it")),
        None => Err(refused(
            "consent is given at a terminal, or with --trust for one run",
        )),
    }
}
