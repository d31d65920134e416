//! Pages about sign-ins: their servers, and the result of a sign-out. They contain no secret.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pintle::auth::IssuedTokens;
use serde_json::{Value, json};

use crate::page::{Page, Row};
use crate::screen::Look;
use crate::text;

/// A server with stored tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedIn {
    server: String,
    issuer: String,
    resource: String,
    client: String,
    scopes: Vec<String>,
    expires: Option<SystemTime>,
    renews: bool,
    is_bound: bool,
}

/// The result of a sign-out, as text and as JSON.
pub(crate) struct SignOutReport {
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl SignedIn {
    /// Describes issued tokens. `server` is the URL of its server, without a query.
    pub(crate) fn new(server: &str, issued: &IssuedTokens) -> Self {
        let tokens = &issued.tokens;
        let scopes = tokens.scopes.as_ref().unwrap_or(&issued.requested);
        Self {
            server: server.to_owned(),
            issuer: issued.issuer.clone(),
            resource: issued.resource.clone(),
            client: issued.client.id.clone(),
            scopes: scopes.iter().map(str::to_owned).collect(),
            expires: tokens.expires,
            renews: tokens.refresh.is_some(),
            is_bound: tokens.is_bound,
        }
    }

    fn rows(&self, now: SystemTime) -> Vec<Row> {
        let mut rows = vec![
            Row::new("issuer", &*self.issuer),
            Row::new("client", &*self.client),
        ];
        if !self.scopes.is_empty() {
            rows.push(Row::new("scopes", self.scopes.join(" ")));
        }
        if let Some(end) = self.expires {
            rows.push(Row::new("token", life(end, now, self.renews)));
        }
        if self.is_bound {
            rows.push(Row::new("bound", "to a key of this machine (DPoP)"));
        }
        rows
    }

    fn json(&self) -> Value {
        let seconds = |end: SystemTime| {
            let since = end.duration_since(UNIX_EPOCH);
            since.unwrap_or_default().as_secs()
        };
        json!({
            "server": self.server,
            "issuer": self.issuer,
            "resource": self.resource,
            "client": self.client,
            "scopes": self.scopes,
            // In seconds since 1970.
            "expires": self.expires.map(seconds),
            "renews": self.renews,
            "bound": self.is_bound,
        })
    }
}

/// Returns one section for each server.
pub(crate) fn signed_in(all: &[SignedIn], look: Look) -> String {
    let mut page = Page::new(look);
    let now = SystemTime::now();
    for one in all {
        page.heading(&one.server, "signed in");
        page.rows(2, &one.rows(now));
    }
    if all.is_empty() {
        page.line("Not signed in to any server.");
    }
    page.into_text()
}

/// Returns the same servers as JSON.
pub(crate) fn signed_in_json(all: &[SignedIn]) -> Value {
    let servers: Vec<Value> = all.iter().map(SignedIn::json).collect();
    json!({ "servers": servers })
}

/// Reports that no tokens were stored for the server.
pub(crate) fn not_signed_in(server: &str) -> SignOutReport {
    SignOutReport {
        text: format!("Not signed in to {server}.\n"),
        json: json!({ "server": server, "forgotten": false }),
    }
}

/// Reports a sign-out. `left` is the reason why the issuer has not revoked the tokens, if it has not.
pub(crate) fn signed_out(server: &str, left: Option<String>) -> SignOutReport {
    let text = match &left {
        None => format!("Signed out of {server}: its tokens are revoked.\n"),
        Some(why) => {
            let why = text::line(why);
            format!("Signed out of {server}: its tokens stay valid until they expire ({why}).\n")
        }
    };
    let revoked = left.is_none();
    SignOutReport {
        text,
        json: json!({ "server": server, "forgotten": true, "revoked": revoked, "reason": left }),
    }
}

fn life(end: SystemTime, now: SystemTime, renews: bool) -> String {
    let then = match renews {
        true => "it is renewed when it is used",
        false => "then a new sign-in is necessary",
    };
    match end.duration_since(now) {
        Ok(left) => format!("for {}; {then}", span(left)),
        Err(gone) => format!("ended {} ago; {then}", span(gone.duration())),
    }
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(expires: Option<u64>) -> SignedIn {
        SignedIn {
            server: "https://a.example/mcp".to_owned(),
            issuer: "https://as.example".to_owned(),
            resource: "https://a.example/mcp".to_owned(),
            client: "c\u{1b}1".to_owned(),
            scopes: vec!["read".to_owned(), "write".to_owned()],
            expires: expires.map(|end| UNIX_EPOCH + Duration::from_secs(end)),
            renews: true,
            is_bound: false,
        }
    }

    #[test]
    fn the_page_of_sign_ins_is_safe_to_print() {
        let text = signed_in(&[one(Some(1))], Look::PLAIN);
        for part in [
            "https://a.example/mcp  signed in",
            "as.example",
            "read write",
            "ended",
            "renewed",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(
            signed_in(&[], Look::PLAIN),
            "Not signed in to any server.\n"
        );
        let json = signed_in_json(&[one(Some(1)), one(None)]);
        assert_eq!(json["servers"][0]["expires"], 1);
        assert_eq!(json["servers"][1]["expires"], Value::Null);
    }

    #[test]
    fn times_are_rounded() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        for (end, text) in [
            (90, "for 90 s;"),
            (3_599, "for 59 min;"),
            (86_400, "for 24 h;"),
            (864_000, "for 10 days;"),
        ] {
            assert!(life(at(end), at(0), false).starts_with(text), "{end}");
        }
        assert!(life(at(0), at(60), true).starts_with("ended 60 s ago;"));
    }
}
