//! A quota of requests that holds for three replicas together.

#[path = "../../../runtime/tests/fleet/link.rs"]
#[expect(dead_code, reason = "the tests of the fleet use the rest")]
#[expect(
    clippy::duplicate_mod,
    reason = "its items belong to the parent module"
)]
mod link;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use pintle::http::{ClientAddress, HttpOptions, HttpServer, HttpService, ResponseBody};
use pintle::prelude::*;
use pintle::runtime::IntoService as _;
use pintle::server::{App, StateBackend};
use pintle::store::Store;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tower_service::Service as _;

use super::request;
use link::{Fault, Host, Link};

/// The interval of the quotas.
const INTERVAL: Duration = Duration::from_secs(60);
const REPLICAS: usize = 3;

/// A replica, and its way to the store.
struct Replica {
    service: HttpService<App>,
    link: Arc<Link>,
}

/// Starts a replica whose peers have `quota` requests in each interval.
async fn replica(host: &Arc<Host>, quota: usize) -> Replica {
    let link = host.link();
    let state = StateBackend::open(Arc::clone(&link) as Arc<dyn Store>, None).await;
    let server = Server::new("harbour", "1.0.0")
        .dynamic()
        .state_backend(state.expect("opens"));
    let mut options = HttpOptions::default();
    options.limits.max_requests_per_peer = quota;
    options.limits.quota_interval = INTERVAL;
    let service = HttpService::new(server.into_service().expect("starts"), options);
    Replica { service, link }
}

/// Starts three replicas at the beginning of an interval. The clock of the store begins at 1,000 s.
async fn replicas(quota: usize) -> ([Replica; REPLICAS], Arc<Host>) {
    let host = Host::new();
    let mut replicas = Vec::new();
    for _ in 0..REPLICAS {
        replicas.push(replica(&host, quota).await);
    }
    sleep(Duration::from_secs(20)).await;
    let replicas = replicas.try_into().ok().expect("as many");
    (replicas, host)
}

/// The client of a request.
#[derive(Clone)]
enum Client {
    Principal(&'static str),
    Address(&'static str),
}

const ADA: Client = Client::Principal("ada");

/// A list of the revision without sessions.
fn list() -> Value {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    request(1, "tools/list", json!({ "_meta": meta }))
}

const HEADERS: [(&str, &str); 5] = [
    ("host", "localhost"),
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/list"),
];

impl Replica {
    async fn send(&self, client: &Client, message: &Value) -> http::Response<ResponseBody> {
        let mut request = Request::builder().method("POST").uri("/mcp");
        for (name, value) in HEADERS {
            request = request.header(name, value);
        }
        let request = match client {
            Client::Principal(name) => request.extension(Principal::new(*name, ["read"])),
            Client::Address(text) => {
                let address: IpAddr = text.parse().expect("an address");
                request.extension(ClientAddress(address))
            }
        };
        let request = request.body(message.to_string()).expect("a request");
        let mut service = self.service.clone();
        service.call(request).await.expect("never fails")
    }

    /// Returns the status of one request.
    async fn ask(&self, client: &Client) -> u16 {
        self.send(client, &list()).await.status().as_u16()
    }

    /// Sends requests, and returns the number of those that were served. The others are answered 429.
    async fn served(&self, client: &Client, requests: usize) -> usize {
        let mut served = 0;
        for _ in 0..requests {
            match self.ask(client).await {
                200 => served += 1,
                status => assert_eq!(status, 429),
            }
        }
        served
    }
}

/// Sends requests to the replicas in turn, and returns the number of those that were served.
async fn served_in_turn(replicas: &[Replica], client: &Client, requests: usize) -> usize {
    let mut served = 0;
    for number in 0..requests {
        served += replicas[number % replicas.len()].served(client, 1).await;
    }
    served
}

#[tokio::test(start_paused = true)]
async fn a_quota_holds_for_three_replicas_together() {
    let (replicas, _) = replicas(100).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 300).await, 100);
    let refused = replicas[0].send(&ADA, &list()).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "60");
    sleep(INTERVAL - Duration::from_millis(1_500)).await;
    let refused = replicas[1].send(&ADA, &list()).await;
    assert_eq!(refused.headers()["retry-after"], "2");
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 300).await, 100);
}

#[tokio::test(start_paused = true)]
async fn a_client_of_one_replica_has_most_of_its_quota_there() {
    let (replicas, _) = replicas(240).await;
    let [first, second, third] = &replicas;
    // The others hold blocks that the client does not use: at most an eighth of the quota.
    let others = second.served(&ADA, 1).await + third.served(&ADA, 1).await;
    assert_eq!(others, 2);
    let served = first.served(&ADA, 300).await;
    assert!((210..=238).contains(&served), "{served}");
}

#[tokio::test(start_paused = true)]
async fn each_peer_has_a_quota_of_its_own() {
    let (replicas, _) = replicas(10).await;
    for client in [
        ADA,
        Client::Principal("bob"),
        Client::Address("192.0.2.1"),
        Client::Address("192.0.2.2"),
        Client::Address("2001:db8::1"),
    ] {
        assert_eq!(served_in_turn(&replicas, &client, 30).await, 10);
    }
    // The hosts of one network of IPv6 are one peer.
    let neighbor = Client::Address("2001:db8::2");
    assert_eq!(served_in_turn(&replicas, &neighbor, 30).await, 0);
}

// Operations of the store by kind of request: a budget that does not depend on the machine.
#[tokio::test(start_paused = true)]
async fn most_requests_of_a_quota_need_no_operation() {
    let (replicas, _) = replicas(2_400).await;
    let operations = || {
        let all = replicas
            .iter()
            .map(|replica| replica.link.take_operations());
        all.sum::<usize>()
    };
    // The first request of a replica joins the fleet.
    assert_eq!(served_in_turn(&replicas, &ADA, 3).await, 3);
    operations();
    // A half of the quota, in blocks of 37 to 50; the first blocks are of 37.
    assert_eq!(served_in_turn(&replicas, &ADA, 1_197).await, 1_197);
    let used = operations();
    assert!(used <= 20, "{used} operations for 1,197 requests");
    // At the end blocks have one request. A replica may refuse one while another replica has a rest.
    assert_eq!(served_in_turn(&replicas, &ADA, 1_230).await, 1_200);
    operations();
    assert_eq!(served_in_turn(&replicas, &ADA, 30).await, 0);
    let used = operations();
    assert!(used <= REPLICAS, "{used} operations for refused requests");
}

#[tokio::test(start_paused = true)]
async fn without_the_store_each_replica_admits_its_share() {
    for fault in [Fault::Refused, Fault::Silent] {
        let (replicas, host) = replicas(90).await;
        assert_eq!(served_in_turn(&replicas, &ADA, 3).await, 3);
        // The replicas notice each other.
        sleep(INTERVAL).await;
        assert_eq!(served_in_turn(&replicas, &ADA, 3).await, 3);
        sleep(INTERVAL).await;
        for replica in &replicas {
            replica.link.set(fault);
        }
        for replica in &replicas {
            assert_eq!(replica.served(&ADA, 60).await, 30, "{fault:?}");
        }
        for replica in &replicas {
            replica.link.set(Fault::None);
        }
        let millis = host.now().as_millis() % 60_000;
        sleep(INTERVAL - Duration::from_millis(millis)).await;
        assert_eq!(served_in_turn(&replicas, &ADA, 180).await, 90, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_without_the_store_adds_its_share_to_the_quota() {
    let (replicas, _) = replicas(90).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 3).await, 3);
    sleep(INTERVAL).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 3).await, 3);
    sleep(INTERVAL).await;
    let [away, others @ ..] = &replicas;
    away.link.set(Fault::Refused);
    assert_eq!(served_in_turn(others, &ADA, 180).await, 90);
    assert_eq!(away.served(&ADA, 60).await, 30);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_begins_after_a_loss_counts_with_the_others() {
    let (replicas, host) = replicas(90).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 3).await, 3);
    host.lose_content();
    // The others notice the loss, and write their keys again.
    sleep(INTERVAL).await;
    let later = replica(&host, 90).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 180).await, 90);
    assert_eq!(later.served(&ADA, 10).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_begins_before_a_loss_is_noticed_learns_the_keys() {
    let (replicas, host) = replicas(90).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 3).await, 3);
    host.lose_content();
    let later = replica(&host, 90).await;
    assert_eq!(later.served(&ADA, 1).await, 1);
    sleep(INTERVAL).await;
    assert_eq!(served_in_turn(&replicas, &ADA, 180).await, 90);
    assert_eq!(later.served(&ADA, 10).await, 0);
}

/// Sends one request over a connection of its own, and returns the head of the response.
async fn post(address: SocketAddr) -> String {
    let mut socket = TcpStream::connect(address).await.expect("a port");
    let body = list().to_string();
    let mut text = "POST /mcp HTTP/1.1\r\nconnection: close\r\n".to_owned();
    for (name, value) in HEADERS {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n{body}", body.len());
    socket.write_all(text.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.expect("an answer");
    answer.to_lowercase()
}

#[tokio::test]
async fn an_address_has_one_quota_at_three_ports() {
    let host = Host::new();
    let mut addresses = Vec::new();
    for _ in 0..REPLICAS {
        let service = replica(&host, 5).await.service;
        let server = HttpServer::bind(service, "127.0.0.1:0").await;
        let server = server.expect("a free port");
        addresses.push(server.address().expect("an address"));
        tokio::spawn(server.run());
    }
    let mut answers = Vec::new();
    for number in 0..9 {
        answers.push(post(addresses[number % REPLICAS]).await);
    }
    let (served, refused) = answers.split_at(5);
    for answer in served {
        assert!(answer.starts_with("http/1.1 200 "), "{answer}");
    }
    for answer in refused {
        assert!(answer.starts_with("http/1.1 429 "), "{answer}");
        assert!(answer.contains("\r\nretry-after: "), "{answer}");
        assert!(answer.contains("the quota of requests of this client is used up"));
    }
}
