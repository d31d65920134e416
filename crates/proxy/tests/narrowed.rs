//! Filters of prompts and resources.

use std::time::Duration;

use pintle::client::{CallError, Client, EraMode, InProcess};
use pintle::model::{Revision, SubscriptionFilter};
use pintle::prelude::*;
use pintle::proto::Change;
use pintle::runtime::IntoService;
use pintle::server::ServerHandle;
use pintle_proxy::{PromptFilter, Proxy, ProxyError, ResourceFilter};
use serde_json::{Value, json};

use crate::server::pairs;

/// Has one message.
#[prompt(complete(name = ["Ada", "Grace"]))]
async fn greet(name: String) -> String {
    format!("Hello {name}")
}

/// Has no text.
#[prompt]
async fn silent() -> String {
    String::new()
}

/// Reads a note.
#[resource("note:///{name}", complete(name = ["one"]))]
async fn note(name: String) -> String {
    name
}

/// A client of a proxy with filters, and the handle of the server.
struct Narrowed {
    client: Client,
    handle: ServerHandle,
}

async fn narrowed(
    (of_client, of_server): (Revision, Revision),
    prompts: PromptFilter,
    resources: ResourceFilter,
) -> Result<Narrowed, ProxyError> {
    let server = Server::new("notes", "1.0.0")
        .resource_updates()
        .prompt::<greet>()
        .prompt::<silent>()
        .resource::<note>()
        .add_resource(Resource::text("memo:///a", "a", "A"))
        .add_resource(Resource::text("memo:///b", "b", "B"));
    let handle = server.handle();
    let app = server.into_service().expect("a valid server");
    let proxy = Proxy::builder(move |client| {
        let client = client.mode(EraMode::Pinned(of_server));
        client.connect_lazily(InProcess::new(app.clone()))
    });
    let proxy = proxy
        .prompts(prompts)
        .resources(resources)
        .connect()
        .await?;
    let client = Client::builder().mode(EraMode::Pinned(of_client));
    let client = client
        .connect(InProcess::new(proxy))
        .await
        .expect("a proxy");
    Ok(Narrowed { client, handle })
}

impl Narrowed {
    /// Sends a request. Returns its result, or the code of its error.
    async fn request(&self, method: &str, params: Value) -> Result<Value, i64> {
        let sent = self.client.forward(method, &params.to_string()).await;
        let sent = sent.map_err(|error: CallError| error.answer().expect("an error").code.0)?;
        Ok(serde_json::from_str(sent.get()).expect("JSON"))
    }

    /// Returns a member of each entry of a list.
    async fn listed(&self, method: &str, list: &str, member: &str) -> Vec<String> {
        let listed = self.request(method, json!({})).await.expect("a list");
        let entries = listed[list].as_array().expect("a list").clone();
        let text = |entry: &Value| entry[member].as_str().unwrap_or_default().to_owned();
        entries.iter().map(text).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_hidden_prompt_does_not_exist_and_a_renamed_one_has_its_new_name() {
    for pair in pairs() {
        let filter = PromptFilter::default()
            .without("sil*")
            .rename("greet", "hello");
        let narrowed = narrowed(pair, filter, ResourceFilter::default()).await;
        let narrowed = narrowed.expect("a valid filter");
        let names = narrowed.listed("prompts/list", "prompts", "name").await;
        assert_eq!(names, ["hello"], "{pair:?}");
        let get = |name: &str| json!({ "name": name, "arguments": { "name": "Ada" } });
        let got = narrowed
            .request("prompts/get", get("hello"))
            .await
            .expect("a prompt");
        assert_eq!(got["messages"][0]["content"]["text"], "Hello Ada");
        for hidden in ["greet", "silent"] {
            let refused = narrowed.request("prompts/get", get(hidden)).await;
            assert_eq!(refused, Err(-32602), "{pair:?} {hidden}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_name_belongs_to_one_prompt() {
    let filter = PromptFilter::default().rename("a", "c").rename("b", "c");
    let refused = narrowed(pairs()[0], filter, ResourceFilter::default()).await;
    assert!(matches!(refused.map(drop), Err(ProxyError::Names { name }) if name == "c"));
}

#[tokio::test(start_paused = true)]
async fn a_hidden_resource_is_neither_listed_nor_read() {
    for pair in pairs() {
        let filter = ResourceFilter::default().only("memo:*").without("*b");
        let narrowed = narrowed(pair, PromptFilter::default(), filter).await;
        let narrowed = narrowed.expect("a valid filter");
        let uris = narrowed.listed("resources/list", "resources", "uri").await;
        assert_eq!(uris, ["memo:///a"], "{pair:?}");
        let templates = narrowed.listed(
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
        );
        assert!(templates.await.is_empty(), "{pair:?}");
        let read = |uri: &str| json!({ "uri": uri });
        let got = narrowed.request("resources/read", read("memo:///a")).await;
        assert_eq!(got.expect("a resource")["contents"][0]["text"], "A");
        let missing = match pair.0 >= Revision::LATEST {
            true => -32602,
            false => -32002,
        };
        for hidden in ["memo:///b", "memo:///%62", "note:///x"] {
            let refused = narrowed.request("resources/read", read(hidden)).await;
            assert_eq!(refused, Err(missing), "{pair:?} {hidden}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hidden_resource_has_no_updates() {
    for pair in pairs() {
        let filter = ResourceFilter::default().without("memo:///b");
        let narrowed = narrowed(pair, PromptFilter::default(), filter).await;
        let narrowed = narrowed.expect("a valid filter");
        let mut filter = SubscriptionFilter::new();
        let all = vec!["memo:///b".to_owned(), "memo:///a".to_owned()];
        filter.resource_subscriptions = Some(match pair.0 >= Revision::LATEST {
            true => all,
            // Each subscription is a request of its own, and that of a hidden resource is an error.
            false => vec!["memo:///a".to_owned()],
        });
        let mut subscription = narrowed
            .client
            .listen(filter)
            .await
            .expect("a subscription");
        tokio::time::sleep(Duration::from_millis(100)).await;
        for uri in ["memo:///b", "memo:///a"] {
            narrowed.handle.changes().resource(uri);
        }
        let next = tokio::time::timeout(Duration::from_secs(5), subscription.next()).await;
        let updated = Change::Resource("memo:///a".to_owned());
        assert_eq!(next.expect("an update"), Some(updated), "{pair:?}");
        if pair.0 < Revision::LATEST {
            let subscribe = json!({ "uri": "memo:///b" });
            let refused = narrowed.request("resources/subscribe", subscribe).await;
            assert_eq!(refused, Err(-32002), "{pair:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_visible_prompts_and_templates_are_completed() {
    let prompts = PromptFilter::default().rename("greet", "hello");
    let resources = ResourceFilter::default().without("note:*");
    for pair in pairs() {
        let narrowed = narrowed(pair, prompts.clone(), resources.clone()).await;
        let narrowed = narrowed.expect("a valid filter");
        let argument = json!({ "name": "name", "value": "" });
        for (reference, code) in [
            (json!({ "type": "ref/prompt", "name": "hello" }), Ok(())),
            (
                json!({ "type": "ref/prompt", "name": "greet" }),
                Err(-32602),
            ),
            (
                json!({ "type": "ref/resource", "uri": "note:///{name}" }),
                Err(-32602),
            ),
            (json!({ "type": "ref/other", "name": "hello" }), Err(-32602)),
        ] {
            let params = json!({ "ref": reference, "argument": argument });
            let completed = narrowed.request("completion/complete", params).await;
            assert_eq!(completed.map(drop), code, "{pair:?} {reference}");
        }
    }
}
