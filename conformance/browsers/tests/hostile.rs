//! A server with markup in each of its texts.

use pintle_browsers::{Page, hostile};

/// Fails if markup of the server became a part of the page.
async fn unharmed(page: &Page<'_>) {
    assert_eq!(
        page.run("return window.hacked ?? null", vec![]).await,
        serde_json::Value::Null
    );
    let foreign = "body :is(img[src=x], script, iframe, svg:not(.plot), b, i, u, :is(main, aside) h1, [onclick], [onerror], [onload])";
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

/// A recording with markup in each place that the page shows.
const RECORDING: &str = r#"{"pintle_recording":1,"started":"2026-11-26T00:00:00Z"}
{"ms":1,"to":"server","message":{"id":1,"method":"<img src=x onerror='window.hacked=30'>","params":{"name":"<i>name</i>"}}}
{"ms":2,"to":"client","message":{"id":1,"result":{"text":"first"}}}
{"ms":3,"to":"server","message":{"id":2,"method":"<img src=x onerror='window.hacked=30'>"}}
{"ms":4,"to":"client","text":"<b>noise</b>"}
{"ms":5,"to":"client","message":{"id":2,"result":{"text":"<script>window.hacked=31</script>"}},"odd":["<u>odd</u>"]}
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
        page.choose("<i>Broken</i>").await;
        page.press("Call the tool").await;
        page.see("<img src=x onerror='window.hacked=12'>").await;
        unharmed(page).await;
        page.press("Prompts").await;
        page.choose("letter").await;
        page.see("<img src=x onerror='window.hacked=13'>").await;
        page.fill("<b>to</b>", "me").await;
        page.press("Get the messages").await;
        page.see("<script>window.hacked=14</script>").await;
        unharmed(page).await;
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

    async fn markup_in_reports_is_text(page: &Page) of hostile(); {
        page.see("markup").await;
        page.press("Checks").await;
        page.press("Check the server").await;
        page.see("Page: <img src=x onerror='window.hacked=20'>").await;
        page.press("All checks").await;
        page.see("skipped: <img src=x onerror='window.hacked=20'>").await;
        page.press("Check the tools").await;
        page.see("Fix: <img src=x onerror='window.hacked=20'>").await;
        page.see("Standard error: <script>window.hacked=21</script>").await;
        page.press("!").await;
        unharmed(page).await;
        page.press("Server").await;
        page.see_element("[aria-label='Standard error of the server'] li").await;
        unharmed(page).await;
        page.press("Bench").await;
        page.fill("Tool", "broken").await;
        page.fill("Calls", "5").await;
        page.press("Measure").await;
        page.see_element(".plot").await;
        unharmed(page).await;
    }

    async fn markup_in_a_sign_in_is_text(page: &Page) of hostile().guarded(); {
        page.see("The server requires a sign-in.").await;
        page.press("Sign in").await;
        page.see("Enter this code there: <script>window.hacked=21</script>").await;
        page.see("The server names <img src=x onerror='window.hacked=20'>").await;
        unharmed(page).await;
        page.see("<script>window.hacked=2</script>").await;
    }

    async fn markup_in_a_recording_is_text(page: &Page) of hostile().with_recording(RECORDING); {
        page.see("<img src=x onerror='window.hacked=30'>").await;
        page.see("Text: <b>noise</b>").await;
        page.press("←From the server: Answer").await;
        page.see("<u>odd</u>").await;
        page.press("Compare with the one before").await;
        page.see_element(".diff ins").await;
        page.see("<script>window.hacked=31</script>").await;
        unharmed(page).await;
    }

    async fn a_text_never_runs_as_a_script(page: &Page) of hostile(); {
        page.see("markup").await;
        let hacked = page.run_until_done(ATTEMPTS, vec![]).await;
        assert_eq!(hacked, serde_json::Value::Null);
    }
}
