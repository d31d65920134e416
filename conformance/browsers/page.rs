//! The page as a user sees and uses it.

use fantoccini::elements::Element;
use fantoccini::{Client, Locator};
use pintle_web::{Targets, Web, WebOptions};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::driver::{Browser, Driver, Look};

/// A page in a browser.
pub struct Page {
    /// The session with the browser.
    pub client: Client,
    serving: JoinHandle<()>,
    _driver: Driver,
}

/// Finds controls that are visible, by their accessible names. `labels` of a control are its `<label>` elements.
const FIND: &str = r"
const [kind, name, nth] = arguments;
const nameOf = (node) => node.getAttribute('aria-label') ?? node.labels?.[0]?.textContent ?? node.textContent;
const found = [...document.querySelectorAll(kind)].filter((node) => node.checkVisibility() && nameOf(node).trim().startsWith(name));
return found[nth] ?? null;
";

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

impl Page {
    /// Opens the page of some servers in a browser.
    ///
    /// # Panics
    ///
    /// If the browser does not start, as all functions here.
    pub async fn open(browser: Browser, look: Look, targets: impl Targets) -> Self {
        let web = Web::bind(([127, 0, 0, 1], 0).into(), targets, WebOptions::default());
        let web = web.await.expect("the page is served");
        let url = web.url();
        let serving = tokio::spawn(web.serve(std::future::pending()));
        let (driver, client) = browser.start(look).await;
        client.goto(&url).await.expect("the page opens");
        Self {
            client,
            serving,
            _driver: driver,
        }
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
        let arguments = vec![json!(condition), json!(value)];
        let seen = self.client.execute_async(WAIT, arguments).await;
        let seen = seen.unwrap_or_else(|error| panic!("{value}: {error}"));
        assert!(
            seen == true,
            "{condition} {value:?} is not true of:\n{seen}"
        );
    }

    /// Clicks a button, or the summary of details.
    pub async fn press(&self, name: &str) {
        let button = self.find("button, summary", name).await;
        button
            .click()
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Types into a field, or chooses an option.
    pub async fn fill(&self, name: &str, text: &str) {
        let field = self.find("input, textarea, select", name).await;
        let kind = field.tag_name().await.expect("a name");
        let filled = match kind.as_str() {
            "select" => field.select_by_label(text).await,
            _ => match field.clear().await {
                Ok(()) => field.send_keys(text).await,
                Err(error) => Err(error),
            },
        };
        filled.unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Changes a check box.
    pub async fn tick(&self, name: &str) {
        let field = self.find("input[type=checkbox]", name).await;
        field
            .click()
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    async fn find(&self, kind: &str, name: &str) -> Element {
        let arguments = vec![json!(kind), json!(name), json!(0)];
        let found = self.run(FIND, arguments).await;
        let reference = found.as_object().and_then(|object| object.values().next());
        let id = reference.and_then(Value::as_str);
        let id = id.unwrap_or_else(|| panic!("there is no visible {kind} {name:?}"));
        Element::from_element_id(self.client.clone(), id.to_owned().into())
    }

    /// Chooses an item of a list, and waits for its description.
    pub async fn choose(&self, name: &str) {
        self.see(name).await;
        self.press(name).await;
    }

    /// Presses a key in the focused element.
    pub async fn key(&self, key: fantoccini::key::Key) {
        let focused = self.client.active_element().await.expect("a focus");
        focused.send_keys(&key).await.expect("a key");
    }

    /// Runs a script in the page.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        let ran = self.client.execute(script, arguments).await;
        ran.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the number of elements of a selector.
    pub async fn count(&self, selector: &str) -> usize {
        let found = self.client.find_all(Locator::Css(selector)).await;
        found.expect("a selector").len()
    }

    /// Ends the session.
    pub async fn close(self) {
        let _ = self.client.clone().close().await;
        self.serving.abort();
    }
}

/// A script that returns the faults of the visible page: controls without a name, contrast, headings, order of the focus.
pub fn accessibility() -> &'static str {
    include_str!("accessibility.js")
}
