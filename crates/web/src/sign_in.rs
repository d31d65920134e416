//! The steps of a sign-in that the user takes in a browser.

use std::sync::Arc;

use crate::feed::Feed;
use crate::object::Object;

/// Shows the steps of a sign-in in the page. No token is a part of a step.
#[derive(Clone)]
pub struct SignInSteps {
    feed: Arc<Feed>,
    op: u64,
}

impl SignInSteps {
    pub(crate) fn new(feed: &Arc<Feed>, op: u64) -> Self {
        Self {
            feed: Arc::clone(feed),
            op,
        }
    }

    /// Shows the URL of the sign-in page, which the user opens.
    pub fn visit(&self, issuer: &str, url: &str) {
        self.feed.add(&self.step(issuer, url));
    }

    /// Shows a code, which the user types into the page at the URL.
    pub fn code(&self, issuer: &str, url: &str, code: &str) {
        self.feed.add(self.step(issuer, url).text("code", code));
    }

    fn step(&self, issuer: &str, url: &str) -> Object {
        let mut step = Object::event("signIn");
        step.whole("op", self.op);
        step.text("issuer", issuer).text("url", url);
        step
    }
}
