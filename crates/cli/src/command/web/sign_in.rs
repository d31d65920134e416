//! Signs the user in by the page: `pintle login`, with its steps in the browser.

use std::sync::Arc;

use pintle_doctor::auth::probe;
use pintle_hosts::Target;
use pintle_web::SignInSteps;
use tokio::task::spawn_blocking;

use crate::access::{Access, AccessError, Guide, PagePolicy, SignInGuide};
use crate::args::{ServerSpec, Settings, UsageError};
use crate::ask::Prompter;
use crate::conversation::target;
use crate::exit::CliError;
use crate::live::Live;
use crate::screen::Screen;

/// Passes the steps to the page.
struct PageGuide(SignInSteps);

impl SignInGuide for PageGuide {
    fn visit(&self, issuer: &str, url: &str) {
        self.0.visit(issuer, url);
    }

    fn code(&self, issuer: &str, url: &str, code: &str) {
        self.0.code(issuer, url, code);
    }
}

/// Signs the user in, and stores the tokens where `pintle login` does.
pub(super) async fn sign_in(
    server: ServerSpec,
    settings: Arc<Settings>,
    steps: SignInSteps,
) -> Result<(), CliError> {
    let screen = Screen::look();
    let live = Arc::new(Live::new(screen.notes));
    let (inputs, answers) = (&settings.inputs, &settings.answers);
    let prompter = Prompter::new(inputs, answers, screen, live);
    let guide = Guide::new(&prompter, PagePolicy::Shown).with_steps(PageGuide(steps));
    let found = {
        let settings = Arc::clone(&settings);
        // The terminal may ask for consent, or for inputs of a file.
        let found = spawn_blocking(move || target(&server, &settings, &prompter)).await;
        found.map_err(std::io::Error::other)??
    };
    let access = Access::of(&found, &settings.access)?;
    let (Target::Url(endpoint), Some(mut access)) = (found, access) else {
        let reason = "a sign-in requires an http or https URL without an Authorization header";
        return Err(UsageError(reason.to_owned()).into());
    };
    let probe = probe(&endpoint).await.map_err(AccessError::Probe)?;
    if !probe.is_refused() {
        access = access.without_legacy_assumption();
    }
    access.sign_in(&probe.challenges, &guide).await
}
