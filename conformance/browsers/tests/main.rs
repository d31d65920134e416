//! Each feature of the page, in Chromium and Firefox.
//!
//! Each browser starts once and runs the tests one after the other, each in a tab of its own. The pages of two tests
//! have different ports, so they share no storage. Arguments select tests by a part of their names.

#![allow(clippy::print_stdout, reason = "it reports tests")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use pintle_browsers::{Browser, Driver};
use tokio::runtime::{Builder, Runtime};

/// A test, which opens a page in the browser.
#[derive(Clone, Copy)]
struct Test {
    name: &'static str,
    run: for<'d> fn(&'d mut Driver) -> Pin<Box<dyn Future<Output = ()> + 'd>>,
}

/// Declares tests. Each receives the page of a server.
macro_rules! in_browsers {
    ($($(#[$meta:meta])* async fn $name:ident($page:ident: &Page) of $target:expr; $body:block)*) => {
        $($(#[$meta])* async fn $name(driver: &mut pintle_browsers::Driver) {
            let look = pintle_browsers::Look::default();
            let page = Page::open(driver, look, $target).await;
            let $page = &page;
            $body
        })*

        pub(crate) const TESTS: &[crate::Test] = &[$(
            crate::Test { name: stringify!($name), run: |driver| Box::pin($name(driver)) },
        )*];
    };
}

mod access;
mod calls;
mod hostile;
mod offers;
mod questions;
mod reports;
mod timeline;

/// A browser that does not end within this time is killed.
const LATE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let parts: Vec<String> = std::env::args().skip(1).collect();
    let groups = [
        access::LOOKS,
        access::TESTS,
        calls::TESTS,
        hostile::TESTS,
        offers::TESTS,
        questions::TESTS,
        reports::TESTS,
        timeline::TESTS,
    ];
    let tests: Vec<Test> = groups
        .concat()
        .into_iter()
        .filter(|test| parts.is_empty() || parts.iter().any(|part| test.name.contains(&**part)))
        .collect();
    let count = 2 * tests.len();
    let run = |browser| {
        let tests = tests.clone();
        thread::spawn(move || run_all(browser, &tests))
    };
    let one_by_one = std::env::var("PINTLE_BROWSERS").is_ok_and(|number| number == "1");
    let ended = match one_by_one {
        true => [Browser::Chromium, Browser::Firefox].map(|browser| run(browser).join()),
        false => [Browser::Chromium, Browser::Firefox]
            .map(run)
            .map(thread::JoinHandle::join),
    };
    let failed: Vec<String> = ended
        .into_iter()
        .flat_map(|ended| ended.unwrap_or_else(|_| vec!["a browser".to_owned()]))
        .collect();
    println!(
        "\n{} of {count} tests passed",
        count.saturating_sub(failed.len())
    );
    match failed.is_empty() && count > 0 {
        true => ExitCode::SUCCESS,
        false => {
            println!("failed: {}", failed.join(", "));
            ExitCode::FAILURE
        }
    }
}

/// Runs the tests in a browser. Returns the names of those that failed.
fn run_all(browser: Browser, tests: &[Test]) -> Vec<String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut driver = None;
    let mut failed = Vec::new();
    for test in tests {
        let began = Instant::now();
        let own = driver.get_or_insert_with(|| runtime.block_on(Driver::start(browser)));
        let run = AssertUnwindSafe(|| runtime.block_on((test.run)(own)));
        let has_passed = catch_unwind(run).is_ok();
        let verdict = if has_passed { "ok" } else { "FAILED" };
        let seconds = began.elapsed().as_secs_f32();
        println!("{browser:?} {} ... {verdict}, {seconds:.1} s", test.name);
        if !has_passed {
            failed.push(format!("{} in {browser:?}", test.name));
            // The session may be in the middle of a command.
            end(&runtime, driver.take());
        }
    }
    end(&runtime, driver);
    failed
}

fn end(runtime: &Runtime, driver: Option<Driver>) {
    if let Some(driver) = driver {
        let ending = async { tokio::time::timeout(LATE, driver.end()).await };
        let _ = catch_unwind(AssertUnwindSafe(|| runtime.block_on(ending)));
    }
}
