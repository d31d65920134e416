//! Many servers behind one handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pintle_client::{AddMemberError, Client, ClientOptions, Group, GroupError, GroupOptions};
use pintle_model::{CompleteParams, CompletionReference, ContentBlock};
use pintle_proto::lifecycle::Binding;
use pintle_proto::{Change, TransportError, TransportErrorKind};
use pintle_runtime::Connect;
use pintle_testkit::{HostileReply, HostileServer, HostileTransport};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::client::within;

const SECOND: Duration = Duration::from_secs(1);

/// A server with these tools, prompts, resources and templates. It answers each use with its own
/// name and the item that was named.
fn server(
    name: &'static str,
    names: &'static [&'static str],
    uris: &'static [&'static str],
) -> HostileServer {
    HostileServer::legacy(move |out, message| answer(out, message, name, names, uris))
}

fn answer(out: &mut HostileReply, message: &Value, name: &str, names: &[&str], uris: &[&str]) {
    let named = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let is_template = |uri: &&&str| uri.contains('{');
    let asked = &message["params"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "tools/list" => json!({ "tools": names.iter().map(named).collect::<Vec<_>>() }),
        "prompts/list" => json!({ "prompts": names.iter().map(named).collect::<Vec<_>>() }),
        "resources/list" => {
            let uris = uris.iter().filter(|uri| !is_template(uri));
            let uris: Vec<Value> = uris.map(|uri| json!({ "name": "r", "uri": uri })).collect();
            json!({ "resources": uris })
        }
        "resources/templates/list" => {
            let uris = uris.iter().filter(is_template);
            let uris: Vec<Value> = uris
                .map(|uri| json!({ "name": "t", "uriTemplate": uri }))
                .collect();
            json!({ "resourceTemplates": uris })
        }
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": format!("{name} {}", asked["name"]) }] })
        }
        "prompts/get" => {
            json!({ "description": format!("{name} {}", asked["name"]), "messages": [] })
        }
        "resources/read" => json!({ "contents": [{ "uri": asked["uri"], "text": name }] }),
        "completion/complete" => {
            let about = [&json!(name), &asked["ref"]["name"], &asked["ref"]["uri"]];
            let values: Vec<_> = about
                .into_iter()
                .filter(|value| value.is_string())
                .collect();
            json!({ "completion": { "values": values } })
        }
        "resources/subscribe" => json!({}),
        _ => return,
    };
    out.reply(message, result);
}

fn group(members: &[(&str, &HostileServer)]) -> Group {
    let group = Group::new();
    for (name, server) in members {
        let added = group.add(name, Client::builder(), (*server).clone());
        added.expect("a member");
    }
    group
}

async fn called(group: &Group, name: &str) -> String {
    let result = within(group.call_tool(name, json!({})))
        .await
        .expect("a result");
    match &result.content[..] {
        [ContentBlock::Text(text)] => text.text.clone(),
        other => panic!("{other:?}"),
    }
}

async fn read(group: &Group, uri: &str) -> Result<String, GroupError> {
    let read = within(group.read_resource(uri)).await?;
    Ok(json!(read)["contents"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned())
}

/// A server that cannot be reached while it is down, or whose connection never completes.
#[derive(Clone)]
struct Flaky {
    server: HostileServer,
    is_down: Arc<AtomicBool>,
    hangs: bool,
}

impl Connect for Flaky {
    type Transport = HostileTransport;

    async fn connect(&self) -> Result<HostileTransport, TransportError> {
        match self.is_down.load(Ordering::SeqCst) {
            true if self.hangs => std::future::pending().await,
            true => Err(TransportErrorKind::Unreachable.into()),
            false => self.server.connect().await,
        }
    }

    fn binding(&self) -> Binding {
        self.server.binding()
    }
}

fn down(server: HostileServer, hangs: bool) -> (Flaky, Arc<AtomicBool>) {
    let is_down = Arc::new(AtomicBool::new(true));
    let flaky = Flaky {
        server,
        is_down: Arc::clone(&is_down),
        hangs,
    };
    (flaky, is_down)
}

// hardening: H-77
// spec: 2026-07-28 N-TOOL-06
#[tokio::test(start_paused = true)]
async fn items_of_members_are_listed_under_names_that_resolve_to_them() {
    let (a, b) = (
        server("A", &["read", "_x", "c__d"], &[]),
        server("B", &["read", "write"], &[]),
    );
    let group = group(&[("b", &b), ("a", &a)]);
    assert_eq!(
        (a.conversations(), b.conversations()),
        (0, 0),
        "nobody has asked yet"
    );
    let tools = within(group.list_tools()).await;
    let names: Vec<_> = tools
        .items
        .iter()
        .map(|offer| offer.item.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["a__read", "a___x", "a__c__d", "b__read", "b__write"]
    );
    assert!(tools.failures.is_empty() && tools.spoiled.is_empty());
    for offer in &tools.items {
        let expected = format!("{} {:?}", offer.member.to_uppercase(), offer.own);
        assert_eq!(called(&group, &offer.item.name).await, expected);
    }
    let prompts = within(group.list_prompts()).await;
    assert_eq!(prompts.items.len(), 5);
    let got = within(group.get_prompt("b__write", ()))
        .await
        .expect("a prompt");
    assert_eq!(got.description.as_deref(), Some("B \"write\""));
    for name in ["c__read", "read", "__read", ""] {
        let error = within(group.call_tool(name, ())).await.unwrap_err();
        assert!(matches!(error, GroupError::NoMember { .. }), "{error}");
    }
}

// spec: 2025-11-25 TOOL-12
#[tokio::test(start_paused = true)]
async fn names_that_no_tool_may_have_are_folded_and_found_in_another_run() {
    const LONG: &str = "this-name-is-far-longer-than-the-models-of-some-hosts-can-bear-it";
    let a = server("A", &[LONG, "a/b", "a_b"], &[]);
    let short = || {
        let mut options = GroupOptions::default();
        options.max_name_chars = 64;
        let group = Group::with(options);
        group
            .add("m", Client::builder(), a.clone())
            .expect("a member");
        group
    };
    let tools = within(short().list_tools()).await;
    assert_eq!(tools.items.len(), 3);
    for offer in &tools.items {
        let name = &offer.item.name;
        assert!(pintle_model::names::check_tool_name(name).is_ok() && name.len() <= 64);
        // A group that has listed nothing finds it, too.
        assert_eq!(called(&short(), name).await, format!("A {:?}", offer.own));
        let got = within(short().get_prompt(name, ()))
            .await
            .expect("a prompt");
        assert_eq!(got.description, Some(format!("A {:?}", offer.own)));
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_folded_names_as_the_limit_are_offered_and_the_others_are_named() {
    for (limit, offered) in [(2, 2), (1, 1)] {
        let mut options = GroupOptions::default();
        options.max_shortened_names = limit;
        let group = Group::with(options);
        group
            .add("m", Client::builder(), server("A", &["a/1", "a/2"], &[]))
            .expect("a member");
        let tools = within(group.list_tools()).await;
        assert_eq!(
            (tools.items.len(), tools.spoiled.len()),
            (offered, 2 - offered)
        );
    }
}

// spec: 2025-11-25 GEN-04
#[tokio::test(start_paused = true)]
async fn a_resource_is_read_from_the_member_that_lists_it() {
    let a = server("A", &[], &["a:1", "both:1", "f:///a/{path}"]);
    let b = server("B", &[], &["b:1", "both:1", "f:///{+path}", "g:///{x}"]);
    let c = server("C", &[], &["g:///{y}"]);
    let group = group(&[("a", &a), ("b", &b), ("c", &c)]);
    for (uri, whose) in [
        ("a:1", "A"),
        ("b:1", "B"),
        ("f:///a/x", "A"),
        ("f:///b/x", "B"),
        ("f:///a", "B"),
    ] {
        assert_eq!(read(&group, uri).await.expect("a resource"), whose, "{uri}");
    }
    for (uri, who) in [("both:1", ["a", "b"]), ("g:///1", ["b", "c"])] {
        match read(&group, uri).await.unwrap_err() {
            GroupError::Ambiguous { members, .. } => assert_eq!(members[..], who.map(Arc::from)),
            error => panic!("{error}"),
        }
    }
    let error = read(&group, "z:1").await.unwrap_err();
    assert!(matches!(error, GroupError::Unlisted { .. }), "{error}");
    assert_eq!(a.count("resources/list"), 1, "it was asked once");
    let listed = within(group.list_resources()).await;
    let both = listed
        .items
        .iter()
        .filter(|offer| offer.item.uri == "both:1");
    assert_eq!(both.count(), 2, "both are there, each with its member");
    let subscription = within(group.subscribe("b:1")).await.expect("one");
    assert!(subscription.granted().wants_resource("b:1"));
    assert_eq!(
        (
            a.count("resources/subscribe"),
            b.count("resources/subscribe")
        ),
        (0, 1)
    );
    assert_eq!(
        c.count("resources/read"),
        0,
        "nothing of the others is sent to c"
    );
}

#[tokio::test(start_paused = true)]
async fn as_many_uris_as_the_limit_are_known() {
    let mut options = GroupOptions::default();
    options.max_member_uris = 1;
    let group = Group::with(options);
    group
        .add("a", Client::builder(), server("A", &[], &["a:1", "a:2"]))
        .expect("a member");
    assert_eq!(within(group.list_resources()).await.items.len(), 2);
    read(&group, "a:1").await.expect("a resource");
    read(&group, "a:2").await.unwrap_err();
}

// spec: 2025-11-25 RES-06
#[tokio::test(start_paused = true)]
async fn arguments_are_completed_by_the_member_with_the_prompt_or_template() {
    let (a, b) = (
        server("A", &["p"], &["a:{x}"]),
        server("B", &["p"], &["b:{x}"]),
    );
    let group = group(&[("a", &a), ("b", &b)]);
    for (reference, expected) in [
        (CompletionReference::prompt("b__p"), ["B", "p"]),
        (
            CompletionReference::resource_template("a:{x}"),
            ["A", "a:{x}"],
        ),
    ] {
        let params = CompleteParams::new(reference, "x", "");
        let completed = within(group.complete(params)).await.expect("values");
        assert_eq!(completed.completion.values, expected);
    }
}

// hardening: H-87
#[tokio::test(start_paused = true)]
async fn a_member_that_is_down_or_hangs_does_not_lose_the_others() {
    let group = group(&[("good", &server("G", &["t"], &[]))]);
    let (refusing, is_down) = down(server("R", &["t"], &[]), false);
    let (hanging, _) = down(server("H", &["t"], &[]), true);
    let broken = HostileServer::legacy(|out, message| out.fail(message, -32603, "broken"));
    group
        .add("refusing", Client::builder(), refusing)
        .expect("a member");
    group
        .add("hanging", Client::builder(), hanging)
        .expect("a member");
    group
        .add("broken", Client::builder(), broken)
        .expect("a member");
    let began = Instant::now();
    let tools = within(group.list_tools()).await;
    assert_eq!(
        began.elapsed(),
        30 * SECOND,
        "as long as a connection may take"
    );
    assert_eq!(tools.items.len(), 1);
    let failed: Vec<_> = tools
        .failures
        .iter()
        .map(|failure| &*failure.member)
        .collect();
    assert_eq!(failed, ["broken", "hanging", "refusing"]);
    let error = within(group.call_tool("refusing__t", ()))
        .await
        .unwrap_err();
    assert!(matches!(error, GroupError::Failed { .. }), "{error}");
    // The server is up again, and the group connects to it again.
    is_down.store(false, Ordering::SeqCst);
    sleep(60 * SECOND).await;
    assert_eq!(called(&group, "refusing__t").await, "R \"t\"");
}

// hardening: H-87
#[tokio::test(start_paused = true)]
async fn a_member_may_take_as_long_to_list_as_the_limit() {
    for (wait, items) in [(4_999, 1), (5_001, 0)] {
        let mut options = GroupOptions::default();
        options.member_timeout = 5 * SECOND;
        let group = Group::with(options);
        let slow = HostileServer::legacy(move |out, message| {
            let result = json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] });
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            out.send_after(Duration::from_millis(wait), answer);
        });
        group
            .add("slow", Client::builder(), slow)
            .expect("a member");
        let tools = within(group.list_tools()).await;
        assert_eq!(
            (tools.items.len(), tools.failures.len()),
            (items, 1 - items)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn members_connect_all_at_once() {
    let slow = |name| {
        HostileServer::new(move |out, message| {
            let server = json!({ "name": name, "version": "0" });
            let welcome = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": server });
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": welcome });
            if message["method"] == "initialize" {
                out.send_after(5 * SECOND, answer);
            } else if message["method"] == "server/discover" {
                out.fail(message, -32601, "no");
            }
        })
    };
    let (one, other) = (slow("one"), slow("other"));
    let group = group(&[("a", &one), ("b", &other)]);
    let (refusing, _) = down(server("R", &[], &[]), false);
    group
        .add("c", Client::builder(), refusing)
        .expect("a member");
    let began = Instant::now();
    let failures = within(group.connect()).await;
    assert_eq!(began.elapsed(), 5 * SECOND);
    assert_eq!((failures.len(), &*failures[0].member), (1, "c"));
    let states = group.members();
    let connected: Vec<_> = states.iter().map(|state| state.is_connected).collect();
    assert_eq!(connected, [true, true, false]);
    assert!(states[0].server.is_some() && states[2].server.is_none());
    // A member without the capability lists nothing, and has not failed.
    let tools = within(group.list_tools()).await;
    assert_eq!((tools.items.len(), tools.failures.len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn members_come_and_go() {
    let (a, b) = (server("A", &["t"], &[]), server("B", &["t"], &[]));
    let mut options = GroupOptions::default();
    options.max_members = 2;
    let group = Group::with(options);
    let add = |name: &str| group.add(name, Client::builder(), a.clone());
    add("a").expect("a member");
    assert!(matches!(add("a"), Err(AddMemberError::Taken { .. })));
    for bad in ["", "a__b", "_a", "a_", "a b", "a.b"] {
        assert!(
            matches!(add(bad), Err(AddMemberError::Name { .. })),
            "{bad}"
        );
    }
    let bad = Client::builder().roots(["http://a"]);
    assert!(matches!(
        group.add("r", bad, a.clone()),
        Err(AddMemberError::Invalid(_))
    ));
    let client = within(Client::connect(b.clone())).await.expect("it opens");
    group.add_client("b", client).expect("a member");
    assert!(matches!(add("c"), Err(AddMemberError::Full { limit: 2 })));
    assert_eq!(called(&group, "b__t").await, "B \"t\"");
    assert!(within(group.remove("b")).await && !within(group.remove("b")).await);
    within(group.call_tool("b__t", ())).await.unwrap_err();
    add("c").expect("there is room again");
    assert_eq!(within(group.list_tools()).await.items.len(), 2);
    within(group.close()).await;
    assert!(matches!(add("d"), Err(AddMemberError::Closed)));
    assert!(group.members().is_empty());
}

/// A server that sends `tools/list_changed` a second after a tool was called.
fn changing() -> HostileServer {
    HostileServer::legacy(|out, message| match message["method"].as_str() {
        Some("tools/call") => {
            let notice = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            out.send_after(SECOND, notice);
            out.reply(message, crate::client::good());
        }
        Some("prompts/get") => out.lose_all(TransportErrorKind::Disconnected),
        _ => {}
    })
}

#[tokio::test(start_paused = true)]
async fn changes_come_in_one_stream_with_the_names_of_members() {
    let (a, b) = (changing(), changing());
    let group = group(&[("a", &a)]);
    let mut changes = group.changes();
    let member_and_kind = |change: Option<pintle_client::MemberChange>| {
        let change = change.expect("a change");
        (change.member.to_string(), change.change)
    };
    assert!(tokio::time::timeout(SECOND, changes.next()).await.is_err());
    within(group.call_tool("a__t", ())).await.expect("a result");
    assert_eq!(
        member_and_kind(within(changes.next()).await),
        ("a".to_owned(), Change::Tools)
    );
    // A member that is added later is watched, too; a member that is removed is not.
    group
        .add("b", Client::builder(), b.clone())
        .expect("a member");
    assert!(tokio::time::timeout(SECOND, changes.next()).await.is_err());
    within(group.call_tool("b__t", ())).await.expect("a result");
    assert_eq!(
        member_and_kind(within(changes.next()).await),
        ("b".to_owned(), Change::Tools)
    );
    within(group.remove("a")).await;
    assert!(
        tokio::time::timeout(1_000 * SECOND, changes.next())
            .await
            .is_err()
    );
    // Every list that may have changed during the outage is reported as changed.
    let began = Instant::now();
    assert!(within(group.get_prompt("b__p", ())).await.is_err());
    let mut missed = Vec::new();
    for _ in 0..3 {
        missed.push(member_and_kind(within(changes.next()).await).1);
    }
    assert_eq!(missed, [Change::Tools, Change::Prompts, Change::Resources]);
    assert!(began.elapsed() < 10 * SECOND);
    within(group.close()).await;
    assert_eq!(within(changes.next()).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_member_has_options_of_its_own() {
    let silent = HostileServer::legacy(|_, _| {});
    let group = Group::new();
    let mut options = ClientOptions::default();
    let limits = Arc::make_mut(&mut options.limits);
    limits.call_idle_timeout = 2 * SECOND;
    group
        .add("quick", Client::builder().options(options), silent)
        .expect("a member");
    let began = Instant::now();
    within(group.call_tool("quick__t", ())).await.unwrap_err();
    assert_eq!(began.elapsed(), 2 * SECOND);
    let found = within(group.find_tool("quick__t")).await.expect("a member");
    within(found.client.call_tool(&found.own, ()).timeout(SECOND))
        .await
        .unwrap_err();
    assert_eq!(began.elapsed(), 3 * SECOND);
    within(group.call_tool("quick__t", ()).timeout(SECOND))
        .await
        .unwrap_err();
    assert_eq!(began.elapsed(), 4 * SECOND);
    assert!(group.client("quick").is_some() && group.client("slow").is_none());
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_serialize_fail_before_a_call() {
    let silent = HostileServer::legacy(|_, _| {});
    let group = group(&[("a", &silent)]);
    for name in ["a__t", "b__t"] {
        let arguments = std::collections::BTreeMap::from([((1, 2), 3)]);
        let error = within(group.call_tool(name, arguments)).await.unwrap_err();
        match (name, error) {
            ("a__t", GroupError::Failed { source, .. }) => {
                assert!(matches!(
                    source,
                    pintle_client::CallError::InvalidParams { .. }
                ));
            }
            ("b__t", GroupError::NoMember { .. }) => {}
            (_, other) => panic!("{other:?}"),
        }
    }
}
