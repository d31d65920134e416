//! Sending somebody at the terminal to sign in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pintle::auth::{AuthError, AuthorizationResponse, OAuthBuilder, SignInRequest, open_browser};
use pintle::runtime::Answer;

use crate::ask::Prompter;

/// Who leads somebody to the page of an authorization server.
#[derive(Clone)]
pub(crate) struct Guide {
    desk: Arc<Prompter>,
    manner: Manner,
    declined: Arc<AtomicBool>,
}

/// How somebody is led. Closed: nothing is opened in any other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The address is shown.
    Shown,
    /// It is shown and opened: whoever is led has asked for just that.
    Opened,
    /// It is shown, and opened on a yes.
    Asked,
}

impl Guide {
    pub(crate) fn new(desk: &Arc<Prompter>, manner: Manner) -> Self {
        Self {
            desk: Arc::clone(desk),
            manner,
            declined: Arc::default(),
        }
    }

    /// Lets an authorizer send people here.
    pub(super) fn lead(&self, builder: OAuthBuilder) -> OAuthBuilder {
        let guide = self.clone();
        builder.on_sign_in(move |visit| {
            let guide = guide.clone();
            async move { guide.send(visit).await }
        })
    }

    /// Whether somebody was asked, and did not want to.
    pub(super) fn was_declined(&self) -> bool {
        self.declined.load(Ordering::SeqCst)
    }

    async fn send(&self, visit: SignInRequest) -> Result<Option<AuthorizationResponse>, AuthError> {
        match self.manner {
            Manner::Shown => self.show(&visit),
            Manner::Opened => {
                self.show(&visit);
                if let Err(error) = open_browser(&visit.url).await {
                    let desk = &self.desk;
                    desk.note(&format!("no browser opens ({error}): visit it yourself"));
                }
            }
            Manner::Asked => {
                let desk = Arc::clone(&self.desk);
                if !matches!(Prompter::sign_in(desk, visit).await, Answer::Accepted(())) {
                    self.declined.store(true, Ordering::SeqCst);
                    return Err(AuthError::SignInUnavailable);
                }
            }
        }
        self.desk
            .note("waiting until somebody has signed in there…");
        Ok(None)
    }

    fn show(&self, visit: &SignInRequest) {
        self.desk.note(&format!("sign in at {}:", visit.issuer));
        self.desk.note(&format!("  {}", visit.url));
    }
}
