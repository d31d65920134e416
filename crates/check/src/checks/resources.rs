//! Resources, templates and subscriptions.

use pintle_model::Feature;
use serde_json::{Value, json};

use super::{LEGACY, LEGACY_11, MODERN, content, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, ensure, observed, observed_after, skipped};
use crate::peer::Peer;
use crate::value::{self, Fault};

/// Those with methods to subscribe.
const SUBSCRIPTIONS: &[Feature] = &[Feature::SessionSubscriptions];
/// A resource that no server has.
const UNKNOWN: &str = "pintle-check://no-such-resource";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "resource-shape",
        "A resource has a name and a URI, and its other members have their types.",
        "Resources: Data types",
        &[must(LEGACY, &["RES-15"]), must(MODERN, &["N-RSRC-13"])],
        run!(shape),
    ),
    Check::new(
        "resource-size",
        "The size of a resource is a number from 0.",
        "Resources: Data types",
        &[must(LEGACY, &["RES-10"])],
        run!(size),
    ),
    Check::new(
        "template-shape",
        "A template has a name and an RFC 6570 template.",
        "Resources: Resource templates",
        &[must(LEGACY, &["RES-06"]), must(MODERN, &["N-RSRC-09"])],
        run!(template),
    ),
    Check::new(
        "resource-annotations",
        "The audience of a resource is `user` or `assistant`, and its priority is 0 to 1.",
        "Resources: Annotations",
        &[must(LEGACY, &["RES-09"]), robust(MODERN, &["N-RSRC-15"])],
        run!(annotations),
    ),
    Check::new(
        "resource-icons",
        "The icons of resources and templates have a source and known sizes.",
        "Base protocol: Icons",
        &[
            must(LEGACY_11, &["ICON-01", "ICON-02"]),
            must(MODERN, &["N-ICON-05"]),
        ],
        run!(icons),
    ),
    Check::new(
        "resource-read",
        "Contents have a URI, and either a text or Base64.",
        "Resources: Resource contents",
        &[
            must(LEGACY, &["RES-08", "RES-19"]),
            must(MODERN, &["N-RSRC-08", "N-RSRC-14"]),
        ],
        run!(read),
    ),
    Check::new(
        "resource-unknown",
        "A read of an unknown resource is answered with an error.",
        "Resources: Error handling",
        &[should(LEGACY, &["RES-16"]), must(MODERN, &["N-RSRC-03"])],
        run!(unknown),
    ),
    Check::new(
        "resource-unknown-code",
        "The error of an unknown resource has the code -32002, or -32602.",
        "Resources: Error handling",
        &[should(LEGACY, &["RES-16"])],
        run!(unknown_code),
    ),
    Check::new(
        "resource-read-without-uri",
        "A read without a URI is answered with an error.",
        "Resources: Security considerations",
        &[must(LEGACY, &["RES-17"]), must(MODERN, &["N-RSRC-14"])],
        run!(without_uri),
    ),
    Check::new(
        "resource-traversal",
        "A URI that leaves a directory is not read.",
        "SECURITY: files",
        &[
            robust(LEGACY, &["H-88", "H-112"]),
            robust(MODERN, &["H-88", "H-112"]),
        ],
        run!(traversal),
    ),
    Check::new(
        "resource-subscribe",
        "A server that declares `subscribe` serves subscriptions.",
        "Resources: Subscriptions",
        &[must(SUBSCRIPTIONS, &["RES-03"])],
        run!(subscribe),
    ),
    Check::new(
        "resource-subscribe-undeclared",
        "Without `subscribe` a subscription is answered with an error.",
        "Lifecycle: Operation",
        &[robust(SUBSCRIPTIONS, &["AMB-62"])],
        run!(subscribe_undeclared),
    ),
];

fn each(peer: &Peer, method: &str, judge: impl Fn(&Value) -> Fault) -> Judgement {
    for entry in peer.survey.entries(method)? {
        if let Some(fault) = judge(entry) {
            let name = entry
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or("(no name)");
            return Err(observed_after(method, format!("{name:?}: {fault}")));
        }
    }
    Ok(())
}

async fn shape(peer: &mut Peer) -> Judgement {
    each(peer, "resources/list", |resource| {
        value::text(resource, "name")
            .or_else(|| value::uri(resource, "uri"))
            .or_else(|| value::optional_text(resource, "title"))
            .or_else(|| value::optional_text(resource, "description"))
            .or_else(|| value::optional_text(resource, "mimeType"))
    })
}

async fn template(peer: &mut Peer) -> Judgement {
    each(peer, "resources/templates/list", |template| {
        value::text(template, "name")
            .or_else(|| value::text(template, "uriTemplate"))
            .or_else(|| value::optional_text(template, "mimeType"))
            .or_else(|| unbalanced(template.get("uriTemplate")?.as_str()?))
    })
}

/// Returns a fault unless each expression of a template is closed and is not empty.
fn unbalanced(template: &str) -> Fault {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let closed = after
            .split_once('}')
            .filter(|(inner, _)| !inner.is_empty() && !inner.contains('{'));
        let Some((_, tail)) = closed else {
            return Some(format!("an expression of {template:?} is not closed"));
        };
        if before.contains('}') {
            return Some(format!("a brace of {template:?} is not opened"));
        }
        rest = tail;
    }
    rest.contains('}')
        .then(|| format!("a brace of {template:?} is not opened"))
}

async fn annotations(peer: &mut Peer) -> Judgement {
    content::needs_member(&peer.survey, &["resources/list"], "/annotations")?;
    each(peer, "resources/list", content::annotations)
}

async fn icons(peer: &mut Peer) -> Judgement {
    let methods = ["resources/list", "resources/templates/list"];
    content::needs_member(&peer.survey, &methods, "/icons")?;
    for method in methods {
        if peer.survey.entries(method).is_ok() {
            each(peer, method, content::icons)?;
        }
    }
    Ok(())
}

async fn size(peer: &mut Peer) -> Judgement {
    content::needs_member(&peer.survey, &["resources/list"], "/size")?;
    each(peer, "resources/list", |resource| {
        value::optional_count(resource, "size")
    })
}

async fn read(peer: &mut Peer) -> Judgement {
    let mut was_read = false;
    for sample in &peer.survey.reads {
        let Ok(result) = &sample.outcome else {
            continue;
        };
        if result.get("resultType") == Some(&json!("input_required")) {
            continue;
        }
        was_read = true;
        let fault = value::list(result, "contents")
            .or_else(|| value::entries(result, "contents").find_map(content::contents));
        if let Some(fault) = fault {
            return Err(observed_after(sample.sent.to_string(), fault));
        }
    }
    match was_read {
        true => Ok(()),
        false => Err(skipped("no resource was read")),
    }
}

fn needs_resources(peer: &Peer) -> Judgement {
    match peer.survey.capability("resources") {
        Some(_) => Ok(()),
        None => Err(skipped("the server declares no resources")),
    }
}

async fn unknown(peer: &mut Peer) -> Judgement {
    needs_resources(peer)?;
    let answer = peer
        .ask("resources/read", json!({ "uri": UNKNOWN }))
        .await?;
    match peer.is_modern() {
        true => answer.has_code(&[-32602]),
        false => answer.code().map(|_| ()),
    }
}

async fn unknown_code(peer: &mut Peer) -> Judgement {
    needs_resources(peer)?;
    let answer = peer
        .ask("resources/read", json!({ "uri": UNKNOWN }))
        .await?;
    match answer.response.get("error") {
        // A later revision has another code, and clients accept both.
        Some(_) => answer.has_code(&[-32002, -32602]),
        None => Err(skipped("the response is not an error")),
    }
}

async fn without_uri(peer: &mut Peer) -> Judgement {
    needs_resources(peer)?;
    for params in [json!({}), json!({ "uri": 5 }), json!({ "uri": null })] {
        let request = peer.request("resources/read", params);
        let reply = peer.probe_message(&request).await?;
        ensure(!reply.has_result())?;
    }
    Ok(())
}

async fn traversal(peer: &mut Peer) -> Judgement {
    needs_resources(peer)?;
    for uri in [
        "file:///../../../../../../etc/passwd",
        "file:///%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "../../../../etc/passwd",
        "..\\..\\windows\\win.ini",
        "file:///etc/passwd\u{0}.txt",
        "",
    ] {
        let answer = peer.ask("resources/read", json!({ "uri": uri })).await?;
        let text = answer.response.to_string();
        if answer.response.get("result").is_some() && (text.contains("root:") || uri.is_empty()) {
            return Err(observed("the server returned contents"));
        }
    }
    peer.is_alive().await
}

async fn subscribe(peer: &mut Peer) -> Judgement {
    needs_resources(peer)?;
    if !peer.survey.declares("resources", "subscribe") {
        return Err(skipped("the server does not declare `subscribe`"));
    }
    let survey = std::sync::Arc::clone(&peer.survey);
    let resources = survey.entries("resources/list")?;
    let Some(uri) = resources.first().and_then(|resource| resource.get("uri")) else {
        return Err(skipped("no resource has a URI"));
    };
    let is_empty = |result: &Value| {
        result
            .as_object()
            .is_some_and(|result| result.keys().all(|key| key == "_meta"))
    };
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = peer.ask(method, json!({ "uri": uri })).await?;
        ensure(is_empty(answer.result()?))?;
    }
    Ok(())
}

async fn subscribe_undeclared(peer: &mut Peer) -> Judgement {
    if peer.survey.declares("resources", "subscribe") {
        return Err(skipped("the server declares `subscribe`"));
    }
    let answer = peer
        .ask("resources/subscribe", json!({ "uri": UNKNOWN }))
        .await?;
    match answer.response.get("error") {
        Some(_) => Ok(()),
        None => Err(observed(answer.response.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::unbalanced;

    #[test]
    fn expressions_of_templates_are_closed() {
        for good in ["a:b", "a:{b}", "a:{b}/{+c}{?d,e}", "a:{b}{c}"] {
            assert_eq!(unbalanced(good), None, "{good}");
        }
        for bad in ["a:{b", "a:b}", "a:{}", "a:{b{c}}", "a:{b}}{c}"] {
            assert!(unbalanced(bad).is_some(), "{bad}");
        }
    }
}
