//! The drivers of the browsers: programs that speak WebDriver.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// A browser that the tests drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browser {
    /// Chromium, by `chromedriver`.
    Chromium,
    /// Firefox, by `geckodriver`.
    Firefox,
}

/// The window and the colours of a browser.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// Whether the window is as narrow as that of a phone.
    pub is_narrow: bool,
    /// Whether the user prefers dark colours.
    pub is_dark: bool,
}

/// A running driver. Its process and its browser end with it.
pub(crate) struct Driver {
    process: Child,
    address: SocketAddr,
    /// The session, until its end.
    session: Option<String>,
    profile: PathBuf,
}

/// A browser that takes longer does not end.
const LATE: Duration = Duration::from_secs(10);

static PROFILES: AtomicU32 = AtomicU32::new(0);

impl Browser {
    /// Starts a driver on a free port, and opens a session with a new profile.
    ///
    /// # Panics
    ///
    /// If the browser or its driver is missing.
    pub(crate) async fn start(self, look: Look) -> (Driver, Client) {
        let number = PROFILES.fetch_add(1, Ordering::Relaxed);
        let profile =
            std::env::temp_dir().join(format!("pintle-browser-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&profile).expect("a folder for the profile");
        let (program, port) = match self {
            Self::Chromium => ("chromedriver", "--port=0"),
            Self::Firefox => ("geckodriver", "--port=0"),
        };
        let mut command =
            Command::new(std::env::var(program.to_uppercase()).unwrap_or(program.to_owned()));
        command
            .arg(port)
            .kill_on_drop(true)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // Firefox writes to the folder of its user.
        command.env("HOME", &profile).env("TMPDIR", &profile);
        let mut process = command
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let port = port_of(&mut process).await;
        let mut driver = Driver {
            process,
            address: ([127, 0, 0, 1], port).into(),
            session: None,
            profile,
        };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(self.capabilities(look, &driver.profile));
        let client = builder.connect(&format!("http://{}", driver.address)).await;
        let client = client.unwrap_or_else(|error| panic!("{self:?} does not start: {error}"));
        driver.session = client.session_id().await.expect("a session");
        (driver, client)
    }

    fn capabilities(self, look: Look, profile: &std::path::Path) -> Map<String, Value> {
        let value = match self {
            Self::Chromium => {
                json!({ "browserName": "chrome", "goog:chromeOptions": chromium(look, profile) })
            }
            Self::Firefox => {
                json!({ "browserName": "firefox", "moz:firefoxOptions": firefox(look) })
            }
        };
        let mut capabilities = value.as_object().cloned().unwrap_or_default();
        capabilities.insert("unhandledPromptBehavior".to_owned(), "ignore".into());
        capabilities
    }
}

fn chromium(look: Look, profile: &std::path::Path) -> Value {
    let scheme = format!(
        "--blink-settings=preferredColorScheme={}",
        u8::from(!look.is_dark)
    );
    let folder = format!("--user-data-dir={}", profile.join("chromium").display());
    let mut options = json!({ "args": [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--window-size=1440,900", scheme, folder,
    ] });
    if look.is_narrow {
        let metrics = json!({ "width": 360, "height": 740, "pixelRatio": 1.0, "touch": true });
        options["mobileEmulation"] = json!({ "deviceMetrics": metrics });
    }
    options
}

fn firefox(look: Look) -> Value {
    let (width, height) = if look.is_narrow {
        (450, 740)
    } else {
        (1440, 900)
    };
    json!({
        "args": ["-headless", format!("--width={width}"), format!("--height={height}")],
        "prefs": {
            "ui.systemUsesDarkTheme": u8::from(look.is_dark),
            "layout.css.prefers-color-scheme.content-override": u8::from(!look.is_dark),
            "network.captive-portal-service.enabled": false,
            "network.connectivity-service.enabled": false,
            "app.update.enabled": false,
            "datareporting.healthreport.uploadEnabled": false,
            "toolkit.telemetry.unified": false,
        },
    })
}

/// Reads the port that a driver prints.
async fn port_of(process: &mut Child) -> u16 {
    let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
    let mut port = None;
    while port.is_none() {
        let line = lines
            .next_line()
            .await
            .expect("text")
            .expect("the driver prints its port");
        let words = line.split(|c: char| !c.is_ascii_digit());
        let is_ready = line.contains("on port") || line.contains("Listening on");
        port = is_ready
            .then(|| words.rev().find_map(|word| word.parse().ok()))
            .flatten()
            // The first line has the requested port.
            .filter(|port| *port != 0);
    }
    // A full pipe would stop the driver.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    port.expect("a port")
}

impl Driver {
    /// Ends the session. The driver answers after the end of the browser.
    fn end(&mut self) -> io::Result<()> {
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        let mut stream = TcpStream::connect_timeout(&self.address, LATE)?;
        stream.set_read_timeout(Some(LATE))?;
        let head = format!(
            "DELETE /session/{session} HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes())?;
        stream.read_exact(&mut [0])
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A failed test, too, ends here. A browser would outlive its driver.
        let _ = self.end();
        let _ = self.process.start_kill();
        // The browser may still write.
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
