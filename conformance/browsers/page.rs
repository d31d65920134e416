//! The page as a user sees and uses it.

use pintle_web::{Targets, Web, WebOptions};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::driver::{Driver, Look};
use crate::wire::Request;

/// A page in a tab of a browser.
pub struct Page<'d> {
    driver: Mutex<&'d mut Driver>,
    serving: JoinHandle<()>,
}

/// The Tab key.
pub const TAB: &str = "\u{e004}";
/// The Enter key.
pub const ENTER: &str = "\u{e007}";

/// Waits for a control that is visible, by its accessible name. `labels` of a control are its `<label>` elements.
const FIND: &str = r"
const [kind, name] = arguments;
const done = arguments[arguments.length - 1];
const nameOf = (node) => node.getAttribute('aria-label') ?? node.labels?.[0]?.textContent ?? node.textContent;
const find = () => [...document.querySelectorAll(kind)].find((node) => node.checkVisibility() && nameOf(node).trim().startsWith(name));
const found = find();
if (found) done(found);
else {
  const observer = new MutationObserver(() => { const found = find(); if (found) { observer.disconnect(); clearTimeout(late); done(found); } });
  observer.observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true });
  const late = setTimeout(() => { observer.disconnect(); done(null); }, 20000);
}
";

/// Finds an option of a list by its label.
const OPTION: &str =
    "return [...arguments[0].options].find((option) => option.label === arguments[1]) ?? null";

/// Waits for a condition. The page is checked after each of its changes.
const WAIT: &str = r"
const [condition, value] = arguments;
const done = arguments[arguments.length - 1];
const holds = () => {
  // Without the regions that only screen readers present: they still have the last announcement.
  const text = [...document.querySelectorAll('.top, nav, main, aside, dialog[open]')].map((node) => node.innerText).join('\n');
  return condition === 'text' ? text.includes(value) : condition === 'gone' ? !text.includes(value) : document.querySelector(value) !== null;
};
if (holds()) done(true);
else {
  const observer = new MutationObserver(() => { if (holds()) { observer.disconnect(); clearTimeout(late); done(true); } });
  observer.observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true });
  const late = setTimeout(() => { observer.disconnect(); done(document.body.innerText); }, 20000);
}
";

impl<'d> Page<'d> {
    /// Opens the page of some servers in a tab.
    ///
    /// # Panics
    ///
    /// If the browser fails, as all functions here.
    pub async fn open(driver: &'d mut Driver, look: Look, targets: impl Targets) -> Self {
        let web = Web::bind(([127, 0, 0, 1], 0).into(), targets, WebOptions::default());
        let web = web.await.expect("the page is served");
        let url = web.url();
        let serving = tokio::spawn(web.serve(std::future::pending()));
        driver.open_tab(look).await;
        let page = Self {
            driver: Mutex::new(driver),
            serving,
        };
        page.send(Request::post("url", "Navigate", json!({ "url": url })))
            .await;
        page
    }

    async fn send(&self, request: Request) -> Value {
        self.driver.lock().await.wire.send(request).await
    }

    /// Chooses a revision, and connects again.
    pub async fn use_revision(&self, revision: &str) {
        self.see("Disconnect").await;
        self.press("Disconnect").await;
        self.see("Not connected").await;
        self.fill("Revision", revision).await;
        self.press("Connect").await;
        let connected = format!("· {revision}");
        self.see(&connected).await;
    }

    /// Waits until a text is visible.
    pub async fn see(&self, text: &str) {
        self.wait("text", text).await;
    }

    /// Waits until a text is not visible.
    pub async fn see_no(&self, text: &str) {
        self.wait("gone", text).await;
    }

    /// Waits until an element exists.
    pub async fn see_element(&self, selector: &str) {
        self.wait("element", selector).await;
    }

    async fn wait(&self, condition: &str, value: &str) {
        let seen = self
            .run_until_done(WAIT, vec![json!(condition), json!(value)])
            .await;
        assert!(
            seen == true,
            "{condition} {value:?} is not true of:\n{seen}"
        );
    }

    /// Clicks a button, or the summary of details.
    pub async fn press(&self, name: &str) {
        let button = self.find("button, summary", name).await;
        self.click(&button).await;
    }

    /// Types into a field, or chooses an option.
    pub async fn fill(&self, name: &str, text: &str) {
        let field = self.find("input, textarea, select", name).await;
        let tag = self
            .run("return arguments[0].tagName", vec![reference(&field)])
            .await;
        if tag == "SELECT" {
            let option = self.run(OPTION, vec![reference(&field), json!(text)]).await;
            let option = id_of(&option).unwrap_or_else(|| panic!("{name} has no option {text:?}"));
            return self.click(&option).await;
        }
        self.send(Request::of_element(
            &field,
            "clear",
            "ElementClear",
            json!({}),
        ))
        .await;
        self.type_into(&field, text).await;
    }

    /// Chooses a file in a field for files.
    pub async fn choose_file(&self, path: &str, name: &str) {
        let field = self.find("input[type=file]", name).await;
        self.type_into(&field, path).await;
    }

    /// Changes a check box.
    pub async fn tick(&self, name: &str) {
        let field = self.find("input[type=checkbox]", name).await;
        self.click(&field).await;
    }

    async fn click(&self, element: &str) {
        self.send(Request::of_element(
            element,
            "click",
            "ElementClick",
            json!({}),
        ))
        .await;
    }

    async fn type_into(&self, element: &str, text: &str) {
        let keys = json!({ "text": text });
        self.send(Request::of_element(
            element,
            "value",
            "ElementSendKeys",
            keys,
        ))
        .await;
    }

    async fn find(&self, kind: &str, name: &str) -> String {
        let arguments = vec![json!(kind), json!(name)];
        let found = self.run_until_done(FIND, arguments).await;
        id_of(&found).unwrap_or_else(|| panic!("there is no visible {kind} {name:?}"))
    }

    /// Chooses an item of a list, and waits for its description.
    pub async fn choose(&self, name: &str) {
        self.see(name).await;
        self.press(name).await;
    }

    /// Types keys into the focused element.
    pub async fn keys(&self, keys: &str) {
        let focused = self
            .send(Request::get("element/active", "GetActiveElement"))
            .await;
        self.type_into(&id_of(&focused).expect("a focus"), keys)
            .await;
    }

    /// Runs a script in the page.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        let body = json!({ "script": script, "args": arguments });
        self.send(Request::post("execute/sync", "ExecuteScript", body))
            .await
    }

    /// Runs a script that passes its result to its last argument.
    pub async fn run_until_done(&self, script: &str, arguments: Vec<Value>) -> Value {
        let body = json!({ "script": script, "args": arguments });
        self.send(Request::post("execute/async", "ExecuteAsyncScript", body))
            .await
    }

    /// Returns the number of elements of a selector.
    pub async fn count(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        let count = self.run(script, vec![json!(selector)]).await;
        count.as_u64().expect("a number")
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.send(Request::post("refresh", "Refresh", json!({})))
            .await;
    }

    /// Returns the title of the page.
    pub async fn title(&self) -> String {
        let title = self.run("return document.title", vec![]).await;
        title.as_str().expect("a title").to_owned()
    }

    /// Returns the number of tabs that the test and its page have opened.
    pub async fn tabs(&self) -> usize {
        self.driver.lock().await.tabs().await
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The name of the member that refers to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

fn reference(id: &str) -> Value {
    json!({ ELEMENT: id })
}

fn id_of(value: &Value) -> Option<String> {
    Some(value[ELEMENT].as_str()?.to_owned())
}

/// A script that returns the faults of the visible page: controls without a name, contrast, headings, order of the focus.
pub fn accessibility() -> &'static str {
    include_str!("accessibility.js")
}
