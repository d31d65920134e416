//! A server with markup in each of its texts.

use pintle_browsers::{Page, hostile};

/// Fails if markup of the server became a part of the page.
async fn unharmed(page: &Page<'_>) {
    assert_eq!(
        page.run("return window.hacked ?? null", vec![]).await,
        serde_json::Value::Null
    );
    let foreign = "body :is(img[src=x], script, iframe, svg, b, i, u, :is(main, aside) h1, [onclick], [onerror], [onload])";
    assert_eq!(page.count(foreign).await, 0);
}

/// Tries to run a text as a script, in each way that a page has. Its end is an event of a later picture.
const ATTEMPTS: &str = r#"
const done = arguments[0];
const add = (name, change) => {
  const node = document.createElement(name);
  change(node);
  document.body.append(node);
  return node;
};
const attempts = [
  () => add('script', (node) => { node.textContent = 'window.hacked = 12'; }),
  () => add('script', (node) => node.append('window.hacked = 13')),
  () => add('div', (node) => { node.innerHTML = "<img src=x onerror='window.hacked = 14'>"; }),
  () => document.body.insertAdjacentHTML('beforeend', "<svg onload='window.hacked = 15'></svg>"),
  () => add('button', (node) => node.setAttribute('onclick', 'window.hacked = 16')).click(),
  () => add('a', (node) => { node.href = 'javascript:window.hacked = 17'; }).click(),
  () => add('iframe', (node) => { node.srcdoc = '<script>parent.hacked = 18</script>'; }),
  () => setTimeout('window.hacked = 19'),
];
for (const attempt of attempts) {
  try { attempt(); } catch {}
}
add('img', (node) => {
  node.addEventListener('error', () => setTimeout(() => done(window.hacked ?? null)));
  node.src = 'y';
});
"#;

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
        page.press("Read").await;
        page.see("<script>window.hacked=11</script>").await;
        unharmed(page).await;
        page.press("Server").await;
        page.see("<img src=x onerror='window.hacked=1'>").await;
        page.press("←From the server").await;
        unharmed(page).await;
        let title = page.title().await;
        assert_eq!(title, "Server – Pintle");
    }

    async fn a_text_never_runs_as_a_script(page: &Page) of hostile(); {
        page.see("markup").await;
        let hacked = page.run_until_done(ATTEMPTS, vec![]).await;
        assert_eq!(hacked, serde_json::Value::Null);
    }
}
