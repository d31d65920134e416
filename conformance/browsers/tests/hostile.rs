//! A server with markup in each of its texts.

use pintle_browsers::{Browser, Look, Page, hostile};

/// Fails if markup of the server became a part of the page.
async fn unharmed(page: &Page) {
    assert_eq!(
        page.run("return window.hacked ?? null", vec![]).await,
        serde_json::Value::Null
    );
    let foreign =
        "main img[src=x], main script, main iframe, main svg, main b, main i, main u, main h1";
    assert_eq!(page.count(foreign).await, 0);
}

in_browsers! {
    async fn markup_of_a_server_is_text(page: &Page) of hostile(); {
        page.see("<script>window.hacked=2</script>").await;
        unharmed(page).await;
        page.choose("markup").await;
        page.press("Call the tool").await;
        page.see("<script>window.hacked=5</script>").await;
        unharmed(page).await;
        page.choose("rows").await;
        page.press("Call the tool").await;
        page.see("<svg onload='window.hacked=8'>").await;
        unharmed(page).await;
        page.choose("ask").await;
        page.press("Call the tool").await;
        page.see("<img src=x onerror='window.hacked=9'>").await;
        page.see("<script>window.hacked=10</script>").await;
        unharmed(page).await;
        page.press("Decline").await;
        page.press("Resources").await;
        page.choose("note").await;
        unharmed(page).await;
        page.press("Server").await;
        unharmed(page).await;
        let title = page.client.title().await.expect("a title");
        assert_eq!(title, "Server – Pintle");
    }

    async fn a_script_of_the_page_cannot_write_markup(page: &Page) of hostile(); {
        page.see("markup").await;
        let script = "const node = document.createElement('script'); node.textContent = 'window.hacked = 12'; \
                      try { document.body.append(node); } catch {} return window.hacked ?? null";
        assert_eq!(page.run(script, vec![]).await, serde_json::Value::Null);
    }
}
