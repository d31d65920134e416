use std::sync::{Arc, Mutex as StdMutex};

use pintle_runtime::Service as _;
use tokio::time::{Instant, sleep};

use crate::Server;

/// The hooks that ran.
type Ran = Arc<StdMutex<Vec<&'static str>>>;

fn ran(ran: &Ran) -> Vec<&'static str> {
    ran.lock().expect("no panic").clone()
}

fn note(ran: &Ran, name: &'static str) {
    ran.lock().expect("no panic").push(name);
}

/// A server with two hooks of each kind, and one of each kind in a mounted server.
fn server(all: &Ran) -> Server {
    let hook = |name| {
        let all = Arc::clone(all);
        move || async move { note(&all, name) }
    };
    let starts = |name| {
        let hook = hook(name);
        move || async move {
            hook().await;
            Ok(())
        }
    };
    let mounted = Server::new("mounted", "1")
        .on_start(starts("mounted start"))
        .on_stop(hook("mounted stop"));
    Server::new("outer", "1")
        .mount("m", mounted)
        .on_start(starts("first start"))
        .on_stop(hook("first stop"))
        .on_start(starts("second start"))
        .on_stop(hook("second stop"))
}

#[tokio::test(start_paused = true)]
async fn hooks_run_once_and_in_their_order() {
    let all = Ran::default();
    let app = server(&all).build().expect("valid");
    app.stop().await;
    assert!(ran(&all).is_empty(), "the server has not started");
    app.start().await.expect("starts");
    app.start().await.expect("starts");
    let starts = ["first start", "second start", "mounted start"];
    assert_eq!(ran(&all), starts);
    app.stop().await;
    assert_eq!(ran(&all), starts, "the other transport still serves");
    app.stop().await;
    app.stop().await;
    let stops = ["first stop", "second stop", "mounted stop"];
    assert_eq!(ran(&all), [starts, stops].concat());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_ends_the_start_and_no_stop_follows() {
    let all = Ran::default();
    let server = server(&all).on_start(|| async { Err("the database is away".into()) });
    let app = server.build().expect("valid");
    let error = app.start().await.expect_err("a failure");
    assert_eq!(
        format!("{error:?}"),
        "a start hook of the server failed: the database is away"
    );
    assert!(app.start().await.is_err());
    app.stop().await;
    assert_eq!(ran(&all), ["first start", "second start"]);
}

#[tokio::test(start_paused = true)]
async fn the_hooks_of_the_stop_have_a_limit_of_time() {
    let all = Ran::default();
    let server = server(&all)
        .on_stop(|| sleep(super::STOP_TIMEOUT * 2))
        .stop_timeout(super::STOP_TIMEOUT / 2);
    let app = server.build().expect("valid");
    app.start().await.expect("starts");
    let began = Instant::now();
    app.stop().await;
    assert_eq!(began.elapsed(), super::STOP_TIMEOUT / 2);
}
