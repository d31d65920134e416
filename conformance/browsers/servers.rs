//! The servers that the page shows.

use std::sync::Arc;

use pintle_client::InProcess;
use pintle_runtime::BoxConnect;
use pintle_showcase::ShowcaseOptions;
use pintle_tap::Mock;
use pintle_web::{OneTarget, Target};

/// Markup in each text that a server controls.
const HOSTILE: &str = r#"
name = "<img src=x onerror='window.hacked=1'>"

[[tool]]
name = "markup"
description = "<script>window.hacked=2</script><b>bold</b><iframe src='javascript:window.hacked=3'></iframe>"
text = "<img src=x onerror='window.hacked=4'><script>window.hacked=5</script>"

[[tool]]
name = "rows"
description = "</p><h1>Another page</h1>"
structured = { "<b onclick='window.hacked=6'>key</b>" = "<img src=x onerror='window.hacked=7'>", list = [{ "<i>a</i>" = "<svg onload='window.hacked=8'>" }] }

[[tool]]
name = "ask"
text = "<i>done</i>"

[tool.question]
message = "<img src=x onerror='window.hacked=9'>"
fields = { reason = { type = "string", title = "<u>reason</u>", description = "<script>window.hacked=10</script>" } }

[[resource]]
uri = "note://<b>today</b>"
text = "<script>window.hacked=11</script>"
"#;

/// Returns the showcase as the only server.
///
/// # Panics
///
/// If it does not start.
pub async fn showcase() -> OneTarget {
    let service = pintle_showcase::service(ShowcaseOptions::default()).await;
    let service = Arc::new(service.expect("the showcase starts"));
    Target::new("showcase", BoxConnect::new(InProcess::new(service))).into()
}

/// Returns a server with markup in all of its texts.
///
/// # Panics
///
/// If its description is not valid.
pub fn hostile() -> OneTarget {
    let mock: Mock = HOSTILE.parse().expect("a description");
    OneTarget::new("hostile", mock.server()).expect("a server")
}
