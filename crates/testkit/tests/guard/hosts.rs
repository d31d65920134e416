//! The host names under which a guarded server answers.

use super::ask::{list, verb};
use super::site::Site;

// hardening: H-3
#[tokio::test]
async fn a_foreign_host_is_refused_before_its_token_is_read() {
    let site = Site::new().await;
    let port = site.address.port();
    let token = site.token().sign();
    let metadata = verb("GET", "/.well-known/oauth-protected-resource/mcp");
    let asks = [
        (metadata, 200),
        (list(), 401),
        (list().bearer(&token), 200),
        (verb("GET", "/elsewhere"), 401),
    ];
    for (ask, status) in asks {
        for foreign in ["evil.test", &format!("evil.test:{port}"), "127.0.0.1.evil"] {
            let came = ask.of_host(site.address, foreign).await;
            let refused = (came.status, &*came.body);
            assert_eq!(refused, (403, "the host is not allowed"), "{ask:?}");
            assert_eq!(came.header("www-authenticate"), "", "{ask:?}");
        }
        let came = ask.of_host(site.address, "localhost").await;
        assert_eq!(came.status, status, "{ask:?}");
    }
}
