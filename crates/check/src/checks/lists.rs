//! Lists and their pages.

use serde_json::{Value, json};

use super::{LEGACY, MODERN, run, without_fault};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, ensure, observed, observed_after, skipped};
use crate::peer::{LISTS, Peer};
use crate::value;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "tools-list",
        "`tools/list` has a list of tools.",
        "Tools: Listing tools",
        &[must(LEGACY, &["TOOL-03"]), must(MODERN, &["N-TOOL-02"])],
        run!(tools),
    ),
    Check::new(
        "resources-list",
        "`resources/list` has a list of resources.",
        "Resources: Listing resources",
        &[must(LEGACY, &["RES-02"]), must(MODERN, &["N-RSRC-02"])],
        run!(resources),
    ),
    Check::new(
        "templates-list",
        "`resources/templates/list` has a list of templates.",
        "Resources: Resource templates",
        &[must(LEGACY, &["RES-02"]), must(MODERN, &["N-RSRC-09"])],
        run!(templates),
    ),
    Check::new(
        "prompts-list",
        "`prompts/list` has a list of prompts.",
        "Prompts: Listing prompts",
        &[must(LEGACY, &["PROM-02"]), must(MODERN, &["N-PROMPT-02"])],
        run!(prompts),
    ),
    Check::new(
        "list-cursor-shape",
        "The cursor of the next page is a text.",
        "Pagination: Response format",
        &[must(LEGACY, &["PAGE-01"]), must(MODERN, &["N-PAGE-01"])],
        run!(cursor_shape),
    ),
    Check::new(
        "list-ends",
        "The pages of a list end, and each cursor is used once.",
        "SECURITY: an HTTP client, a list",
        &[robust(LEGACY, &["H-165"]), robust(MODERN, &["H-165"])],
        run!(ends),
    ),
    Check::new(
        "tools-list-cursor",
        "An unknown cursor of `tools/list` is answered with error -32602.",
        "Pagination: Error handling",
        &[
            should(LEGACY, &["PAGE-04", "PAGE-08"]),
            should(MODERN, &["N-PAGE-05"]),
        ],
        run!(tools_cursor),
    ),
    Check::new(
        "resources-list-cursor",
        "An unknown cursor of `resources/list` is answered with error -32602.",
        "Pagination: Error handling",
        &[
            should(LEGACY, &["PAGE-04", "PAGE-08"]),
            should(MODERN, &["N-PAGE-05"]),
        ],
        run!(resources_cursor),
    ),
    Check::new(
        "templates-list-cursor",
        "An unknown cursor of `resources/templates/list` is answered with error -32602.",
        "Pagination: Error handling",
        &[
            should(LEGACY, &["PAGE-04", "PAGE-08"]),
            should(MODERN, &["N-PAGE-05"]),
        ],
        run!(templates_cursor),
    ),
    Check::new(
        "prompts-list-cursor",
        "An unknown cursor of `prompts/list` is answered with error -32602.",
        "Pagination: Error handling",
        &[
            should(LEGACY, &["PAGE-04", "PAGE-08"]),
            should(MODERN, &["N-PAGE-05"]),
        ],
        run!(prompts_cursor),
    ),
    Check::new(
        "list-cursor-odd",
        "Cursors of a wrong type or size do not end the conversation.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-111"]), robust(MODERN, &["H-111"])],
        run!(cursor_odd),
    ),
    Check::new(
        "list-same-on-connections",
        "A list is the same on another connection.",
        "Base protocol: Statelessness",
        &[must(MODERN, &["N-STATE-06", "N-STATE-07", "N-TOOL-03"])],
        run!(same_elsewhere),
    ),
    Check::new(
        "tools-list-order",
        "The order of the tools does not change between two requests.",
        "Tools: Listing tools",
        &[should(MODERN, &["N-TOOL-04"])],
        run!(order),
    ),
];

async fn listed(peer: &mut Peer, method: &str, member: &str) -> Judgement {
    let survey = std::sync::Arc::clone(&peer.survey);
    let mut lists = survey.lists().iter();
    let Some(listed) = lists.find(|listed| listed.method == method) else {
        return Err(skipped("the capability is not declared"));
    };
    if let Some(failure) = &listed.failure {
        return Err(observed_after(method, failure.clone()));
    }
    let mut pages = listed.pages.iter();
    without_fault(method, pages.find_map(|page| value::list(page, member)))
}

async fn tools(peer: &mut Peer) -> Judgement {
    listed(peer, "tools/list", "tools").await
}

async fn resources(peer: &mut Peer) -> Judgement {
    listed(peer, "resources/list", "resources").await
}

async fn templates(peer: &mut Peer) -> Judgement {
    listed(peer, "resources/templates/list", "resourceTemplates").await
}

async fn prompts(peer: &mut Peer) -> Judgement {
    listed(peer, "prompts/list", "prompts").await
}

async fn cursor_shape(peer: &mut Peer) -> Judgement {
    let lists = peer.survey.lists();
    if lists.is_empty() {
        return Err(skipped("the server has no lists"));
    }
    let pages = lists.iter().flat_map(|listed| &listed.pages);
    if lists.iter().all(|listed| {
        listed
            .pages
            .iter()
            .all(|page| page.get("nextCursor").is_none())
    }) {
        return Err(skipped("no list has a second page"));
    }
    // Null is read as the end of a list.
    let mut cursors = pages.filter_map(|page| page.get("nextCursor"));
    let odd = cursors.find(|cursor| !cursor.is_string() && !cursor.is_null());
    without_fault(
        "a list",
        odd.map(|cursor| format!("`nextCursor` is {cursor}")),
    )
}

async fn ends(peer: &mut Peer) -> Judgement {
    let lists = peer.survey.lists();
    if lists.iter().all(|listed| listed.cursors.is_empty()) {
        return Err(skipped("no list has a second page"));
    }
    for listed in lists {
        let mut cursors = listed.cursors.clone();
        cursors.sort();
        if cursors.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(observed_after(listed.method, "a cursor was sent twice"));
        }
    }
    Ok(())
}

async fn unknown_cursor(peer: &mut Peer, method: &str) -> Judgement {
    peer.survey.list(method)?;
    let params = json!({ "cursor": "pintle-check-unknown" });
    peer.ask(method, params).await?.has_code(&[-32602])
}

async fn tools_cursor(peer: &mut Peer) -> Judgement {
    unknown_cursor(peer, "tools/list").await
}

async fn resources_cursor(peer: &mut Peer) -> Judgement {
    unknown_cursor(peer, "resources/list").await
}

async fn templates_cursor(peer: &mut Peer) -> Judgement {
    unknown_cursor(peer, "resources/templates/list").await
}

async fn prompts_cursor(peer: &mut Peer) -> Judgement {
    unknown_cursor(peer, "prompts/list").await
}

async fn cursor_odd(peer: &mut Peer) -> Judgement {
    let survey = std::sync::Arc::clone(&peer.survey);
    let Some(listed) = survey.lists().first() else {
        return Err(skipped("the server has no lists"));
    };
    for cursor in [
        json!(5),
        json!({}),
        json!("x".repeat(100_000)),
        json!("\u{0}\n"),
    ] {
        let request = peer.request(listed.method, json!({ "cursor": cursor }));
        let reply = peer.probe_message(&request).await?;
        let is_known = |code| matches!(code, -32602 | -32600 | -32603);
        ensure(reply.code().is_none_or(is_known))?;
    }
    peer.is_alive().await
}

async fn first_page(
    peer: &mut Peer,
    method: &str,
    member: &str,
) -> Result<Value, crate::finding::Stop> {
    let answer = peer.ask(method, Value::Null).await?;
    Ok(answer.result()?.get(member).cloned().unwrap_or_default())
}

async fn same_elsewhere(peer: &mut Peer) -> Judgement {
    let mut other = peer.another().await?;
    let mut was_compared = false;
    for (method, member, _) in LISTS {
        if peer.survey.list(method).is_err() {
            continue;
        }
        was_compared = true;
        let here = first_page(peer, method, member).await?;
        let there = first_page(&mut other, method, member).await?;
        if here != there {
            return Err(observed(format!(
                "`{method}` differs on another connection"
            )));
        }
    }
    match was_compared {
        true => Ok(()),
        false => Err(skipped("the server has no lists")),
    }
}

async fn order(peer: &mut Peer) -> Judgement {
    peer.survey.list("tools/list")?;
    let names = |page: &Value| -> Vec<Value> {
        let tools = page.as_array().into_iter().flatten();
        tools.filter_map(|tool| tool.get("name").cloned()).collect()
    };
    let first = first_page(peer, "tools/list", "tools").await?;
    let second = first_page(peer, "tools/list", "tools").await?;
    ensure(names(&first) == names(&second))
}
