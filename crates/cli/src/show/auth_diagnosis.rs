//! Prints why a server rejects a client without a valid token: each checked step, its state and advice.

use serde_json::{Value, json};

use crate::page::Page;
use crate::screen::{Look, Style};
use crate::text;
use pintle_doctor::auth::{Link, LinkState};

/// Returns one line for each link, with advice below links that do not hold for every client.
pub(crate) fn auth_diagnosis(server: &str, links: &[Link], look: Look) -> String {
    let mut page = Page::new(look);
    page.heading("Authorization", server);
    for link in links {
        let (style, word) = match link.state {
            LinkState::Whole => (Style::Good, "ok    "),
            LinkState::Weak => (Style::Marked, "weak  "),
            LinkState::Broken => (Style::Bad, "broken"),
        };
        let (word, finding) = (look.paint(style, word), text::line(&link.finding));
        page.line(&format!("  {word} {}: {finding}", link.name));
        if let Some(next) = &link.next {
            page.paragraphs(9, &format!("-> {next}"));
        }
    }
    page.into_text()
}

/// Returns the same links as JSON.
pub(crate) fn auth_diagnosis_json(server: &str, links: &[Link]) -> Value {
    let links = links.iter().map(|link| {
        json!({
            "link": link.name,
            "state": match link.state {
                LinkState::Whole => "ok",
                LinkState::Weak => "weak",
                LinkState::Broken => "broken",
            },
            "said": link.finding,
            "next": link.next,
        })
    });
    json!({ "server": server, "authorization": links.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_shown_safely_with_their_advice() {
        let link = |state, next: Option<&str>| Link {
            name: "issuer",
            state,
            finding: "it is \u{1b}odd".to_owned(),
            next: next.map(str::to_owned),
        };
        let links = [
            link(LinkState::Whole, None),
            link(LinkState::Broken, Some("mend it")),
        ];
        let text = auth_diagnosis("https://a.example", &links, Look::PLAIN);
        assert_eq!(
            text,
            "Authorization  https://a.example\n  ok     issuer: it is \\u{1b}odd\n  broken issuer: it is \
             \\u{1b}odd\n         -> mend it\n"
        );
        let json = auth_diagnosis_json("https://a.example", &links);
        assert_eq!(json["authorization"][1]["next"], "mend it");
        assert_eq!(json["authorization"][0]["next"], Value::Null);
    }
}
