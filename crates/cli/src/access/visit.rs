//! Sends the user at the terminal to a sign-in page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pintle::auth::{
    AuthError, AuthorizationResponse, OAuthBuilder, SignInRequest, UserCode, open_browser,
};
use pintle::runtime::Answer;

use crate::ask::Prompter;

/// Sends the user to the page of an authorization server.
#[derive(Clone)]
pub(crate) struct Guide {
    prompter: Arc<Prompter>,
    policy: PagePolicy,
    declined: Arc<AtomicBool>,
    /// Receives the steps in place of the terminal.
    steps: Option<Arc<dyn SignInGuide>>,
}

/// Shows the steps of a sign-in in another place than the terminal.
pub(crate) trait SignInGuide: Send + Sync {
    /// Shows the URL of a sign-in page.
    fn visit(&self, issuer: &str, url: &str);

    /// Shows a code, and the URL where the user types it.
    fn code(&self, issuer: &str, url: &str, code: &str);
}

/// The way a sign-in page is shown. Closed: a page is not opened in any other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PagePolicy {
    /// The address is shown.
    Shown,
    /// The address is shown and opened, because the user requested exactly that.
    Opened,
    /// The address is shown, and opened if the user agrees.
    Asked,
}

impl Guide {
    pub(crate) fn new(prompter: &Arc<Prompter>, policy: PagePolicy) -> Self {
        Self {
            prompter: Arc::clone(prompter),
            policy,
            declined: Arc::default(),
            steps: None,
        }
    }

    /// Shows the steps in another place than the terminal.
    pub(crate) fn with_steps(mut self, steps: impl SignInGuide + 'static) -> Self {
        self.steps = Some(Arc::new(steps));
        self
    }

    /// Makes an authorizer use this guide for its sign-in pages.
    pub(super) fn lead(&self, builder: OAuthBuilder) -> OAuthBuilder {
        let (guide, prompter) = (self.clone(), Arc::clone(&self.prompter));
        let builder = builder.on_sign_in(move |visit| {
            let guide = guide.clone();
            async move { guide.send(visit).await }
        });
        let steps = self.steps.clone();
        builder.on_user_code(move |code| {
            match &steps {
                Some(steps) => steps.code(&code.issuer, &code.url, &code.code),
                None => show_code(&prompter, &code),
            }
            async { Ok(()) }
        })
    }

    /// Returns true if the user was asked to sign in and the sign-in did not happen.
    pub(super) fn was_declined(&self) -> bool {
        self.declined.load(Ordering::SeqCst)
    }

    async fn send(&self, visit: SignInRequest) -> Result<Option<AuthorizationResponse>, AuthError> {
        if let Some(steps) = &self.steps {
            steps.visit(&visit.issuer, &visit.url);
            return Ok(None);
        }
        match self.policy {
            PagePolicy::Shown => self.show(&visit),
            PagePolicy::Opened => {
                self.show(&visit);
                if let Err(error) = open_browser(&visit.url).await {
                    let prompter = &self.prompter;
                    prompter.note(&format!(
                        "the browser does not open ({error}); open the URL yourself"
                    ));
                }
            }
            PagePolicy::Asked => {
                let prompter = Arc::clone(&self.prompter);
                if !matches!(
                    Prompter::sign_in(prompter, visit).await,
                    Answer::Accepted(())
                ) {
                    self.declined.store(true, Ordering::SeqCst);
                    return Err(AuthError::SignInUnavailable);
                }
            }
        }
        self.prompter.note("waiting for the sign-in there…");
        Ok(None)
    }

    fn show(&self, visit: &SignInRequest) {
        self.prompter.note(&format!("sign in at {}:", visit.issuer));
        self.prompter.note(&format!("  {}", visit.url));
    }
}

/// Shows the code for the page of an authorization server. No page is opened, because the user may be at another
/// device.
fn show_code(prompter: &Prompter, code: &UserCode) {
    prompter.note(&format!("sign in at {}, on any device:", code.issuer));
    prompter.note(&format!("  {}", code.url));
    prompter.note(&format!("  and enter the code {}", code.code));
    if let Some(url) = &code.complete_url {
        prompter.note("or open this URL, which contains the code:");
        prompter.note(&format!("  {url}"));
    }
    let minutes = code.expires_in.as_secs().div_ceil(60);
    prompter.note(&format!(
        "waiting for the sign-in there; the code is valid for {minutes} min…"
    ));
}
