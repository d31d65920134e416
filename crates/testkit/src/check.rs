//! Judges servers and clients by the requirements of the protocol: the checks of `pintle check`.
//!
//! ```no_run
//! use pintle_testkit::check::{CheckOptions, Target, assert_server};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::http("http://127.0.0.1:3000/mcp", &Default::default())?;
//! assert_server(&target, CheckOptions::default()).await;
//! # Ok(())
//! # }
//! ```

use std::fmt::Write as _;

pub use pintle_check::*;

/// Asserts that a server passes each check of the options, and returns the report.
///
/// # Panics
///
/// With the failed checks, and if the server cannot be judged.
pub async fn assert_server(target: &Target, options: CheckOptions) -> Report {
    assert_clean(check(target, options).await)
}

/// Asserts that a client passes each check of the options, and returns the report.
///
/// # Panics
///
/// With the failed checks, and if the client cannot be judged.
pub async fn assert_client(visitor: &Visitor, options: CheckOptions) -> Report {
    assert_clean(check_client(visitor, options).await)
}

fn assert_clean(report: Result<Report, CheckError>) -> Report {
    let report = report.unwrap_or_else(|error| panic!("nothing was judged: {error}"));
    let mut text = String::new();
    for failure in report.failures() {
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "{failure:#?}");
    }
    assert!(text.is_empty(), "{text}");
    report
}
