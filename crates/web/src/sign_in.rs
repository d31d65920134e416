//! The steps of a sign-in that the user takes in a browser.

use std::sync::Arc;

use serde_json::json;

use crate::feed::Feed;

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
        self.feed.add(&json!({
            "type": "signIn", "op": self.op, "issuer": issuer, "url": url,
        }));
    }

    /// Shows a code, which the user types into the page at the URL.
    pub fn code(&self, issuer: &str, url: &str, code: &str) {
        self.feed.add(&json!({
            "type": "signIn", "op": self.op, "issuer": issuer, "url": url, "code": code,
        }));
    }
}
