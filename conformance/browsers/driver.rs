//! The browsers: their processes, and the sessions with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::wire::{Request, Wire};

/// A browser that the tests drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browser {
    /// Chromium, by `chromedriver`.
    Chromium,
    /// Firefox, which speaks WebDriver by its own protocol.
    Firefox,
}

/// The window and the colours of a page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// Whether the window is as narrow as that of a phone.
    pub is_narrow: bool,
    /// Whether the user prefers dark colours.
    pub is_dark: bool,
}

/// A running browser. Tests use it one after the other, and each has a tab of its own.
pub struct Driver {
    pub(crate) wire: Wire,
    browser: Browser,
    /// The tab that stays open between tests.
    base: String,
    process: Child,
    profile: PathBuf,
}

/// Settings of Firefox. Port 0 is any free port.
const PREFERENCES: &str = r#"
user_pref("marionette.port", 0);
user_pref("app.update.enabled", false);
user_pref("browser.startup.homepage", "about:blank");
user_pref("browser.startup.page", 0);
user_pref("datareporting.healthreport.uploadEnabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("dom.disable_open_during_load", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("toolkit.telemetry.unified", false);
"#;

/// The preference of Firefox for the colours of pages.
const COLOURS: &str = "layout.css.prefers-color-scheme.content-override";

impl Driver {
    /// Starts a browser with a new profile.
    ///
    /// # Panics
    ///
    /// If the browser or its driver is missing, as all functions here.
    pub async fn start(browser: Browser) -> Self {
        let profile =
            std::env::temp_dir().join(format!("pintle-{browser:?}-{}", std::process::id()));
        fs::create_dir_all(&profile).expect("a folder for the profile");
        let mut process = browser
            .command(&profile)
            .spawn()
            .expect("the browser is installed");
        let port = port_of(&mut process).await;
        let mut wire = match browser {
            Browser::Chromium => Wire::http(port).await,
            Browser::Firefox => Wire::marionette(port).await,
        };
        wire.begin(browser.capabilities(&profile)).await;
        let base = wire.send(Request::get("window", "GetWindowHandle")).await;
        Self {
            base: text(&base),
            wire,
            browser,
            process,
            profile,
        }
    }

    /// Opens a tab with a look. The tabs of earlier tests are closed.
    pub(crate) async fn open_tab(&mut self, look: Look) {
        self.close_tabs().await;
        let new = Request::post(
            "window/new",
            "NewWindow",
            json!({ "type": "tab", "focus": true }),
        );
        let tab = self.wire.send(new).await;
        self.switch(&text(&tab["handle"])).await;
        match self.browser {
            Browser::Chromium => self.emulate(look).await,
            Browser::Firefox => self.set_look(look).await,
        }
    }

    /// Returns the number of tabs that the test and its page have opened.
    pub(crate) async fn tabs(&mut self) -> usize {
        self.handles().await.len() - 1
    }

    async fn handles(&mut self) -> Vec<String> {
        let handles = self
            .wire
            .send(Request::get("window/handles", "GetWindowHandles"))
            .await;
        handles
            .as_array()
            .expect("handles")
            .iter()
            .map(text)
            .collect()
    }

    async fn close_tabs(&mut self) {
        for handle in self.handles().await {
            if handle != self.base {
                self.switch(&handle).await;
                self.wire
                    .send(Request::delete("window", "CloseWindow"))
                    .await;
            }
        }
        let base = self.base.clone();
        self.switch(&base).await;
    }

    async fn switch(&mut self, handle: &str) {
        let to = json!({ "handle": handle, "focus": true });
        self.wire
            .send(Request::post("window", "SwitchToWindow", to))
            .await;
    }

    /// Sets the look of a tab of Chromium.
    async fn emulate(&mut self, look: Look) {
        let scheme = if look.is_dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        let (width, height) = if look.is_narrow {
            (360, 740)
        } else {
            (1440, 900)
        };
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": look.is_narrow });
        for (name, values) in [
            ("Emulation.setEmulatedMedia", media),
            ("Emulation.setDeviceMetricsOverride", metrics),
        ] {
            let command = json!({ "cmd": name, "params": values });
            self.wire
                .send(Request::post("goog/cdp/execute", "", command))
                .await;
        }
    }

    /// Sets the look of all tabs of Firefox.
    async fn set_look(&mut self, look: Look) {
        // Its windows are not narrower.
        let (width, height) = if look.is_narrow {
            (450, 740)
        } else {
            (1440, 900)
        };
        let size = json!({ "width": width, "height": height });
        self.wire
            .send(Request::post("window/rect", "SetWindowRect", size))
            .await;
        self.wire
            .call("Marionette:SetContext", json!({ "value": "chrome" }))
            .await;
        let script = "Services.prefs.setIntPref(arguments[0], arguments[1])";
        let colours = json!([COLOURS, i32::from(!look.is_dark)]);
        self.wire
            .call(
                "WebDriver:ExecuteScript",
                json!({ "script": script, "args": colours }),
            )
            .await;
        self.wire
            .call("Marionette:SetContext", json!({ "value": "content" }))
            .await;
    }

    /// Ends the browser, and removes its profile.
    pub async fn end(mut self) {
        match self.browser {
            // The driver answers after the end of the browser.
            Browser::Chromium => self.wire.end().await,
            Browser::Firefox => {
                let flags = json!({ "flags": ["eForceQuit"] });
                self.wire.call("Marionette:Quit", flags).await;
            }
        }
        let _ = self.process.kill().await;
        let _ = fs::remove_dir_all(&self.profile);
    }
}

impl Browser {
    fn command(self, profile: &Path) -> Command {
        let mut command = match self {
            Self::Chromium => {
                let mut command = Command::new("chromedriver");
                command.arg("--port=0");
                command
            }
            Self::Firefox => {
                fs::write(profile.join("user.js"), PREFERENCES).expect("a file of the profile");
                let mut command = Command::new(firefox());
                command.args([
                    "-headless",
                    "-no-remote",
                    "-marionette",
                    "-remote-allow-system-access",
                ]);
                command.arg("-profile").arg(profile);
                command
            }
        };
        // A browser writes to the folder of its user.
        command.env("HOME", profile).env("TMPDIR", profile);
        command.kill_on_drop(true).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    fn capabilities(self, profile: &Path) -> Value {
        match self {
            Self::Chromium => {
                let folder = format!("--user-data-dir={}", profile.join("chromium").display());
                let arguments = json!([
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-quic",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    "--disable-dev-shm-usage",
                    folder,
                ]);
                json!({ "browserName": "chrome", "goog:chromeOptions": { "args": arguments } })
            }
            Self::Firefox => json!({ "browserName": "firefox" }),
        }
    }
}

/// Returns the name of the program: that of Debian, or that of others.
fn firefox() -> &'static str {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let has_esr = std::env::split_paths(&paths).any(|path| path.join("firefox-esr").exists());
    if has_esr { "firefox-esr" } else { "firefox" }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Reads the port that a program prints.
async fn port_of(process: &mut Child) -> u16 {
    let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
    let port = loop {
        let line = lines.next_line().await.expect("text");
        let line = line.expect("the program prints its port");
        let words = line.split(|c: char| !c.is_ascii_digit());
        let is_ready = line.contains("on port");
        let port: Option<u16> = words.rev().find_map(|word| word.parse().ok());
        // The first line has the requested port.
        if let Some(port) = port.filter(|port| is_ready && *port != 0) {
            break port;
        }
    };
    // A full pipe would stop the program.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    port
}
