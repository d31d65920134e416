//! Opening an address in a browser, without a shell.

use std::io;
use std::process::Stdio;

use tokio::process::Command;

use pintle_runtime::WebUrl;

/// Opens a URL in the browser of the local user. The URL is one argument of the program that opens
/// it: no shell reads it.
///
/// A caller should ask the user first, and should not call this function without a terminal.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if the text is not an `http` or `https` URL; the error of the
/// system if it has no program that opens URLs.
pub async fn open_browser(url: &str) -> io::Result<()> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let url = WebUrl::parse(url).map_err(invalid)?;
    let (program, arguments) = opener(&url);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It may stay for as long as the browser does.
    tokio::spawn(async move { child.wait().await });
    Ok(())
}

#[cfg(target_os = "macos")]
fn opener(url: &WebUrl) -> (&'static str, Vec<String>) {
    ("/usr/bin/open", vec![url.as_str().to_owned()])
}

#[cfg(windows)]
fn opener(url: &WebUrl) -> (&'static str, Vec<String>) {
    (
        "rundll32.exe",
        vec![
            "url.dll,FileProtocolHandler".to_owned(),
            url.as_str().to_owned(),
        ],
    )
}

#[cfg(not(any(target_os = "macos", windows)))]
fn opener(url: &WebUrl) -> (&'static str, Vec<String>) {
    ("xdg-open", vec![url.as_str().to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 SEC-27, SEC-28, SEC-29
    // spec: 2026-07-28 N-SEC-06
    // hardening: H-39
    #[tokio::test]
    async fn an_invalid_url_is_not_opened() {
        for url in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "--help",
            "https://a.example/`id`",
            "https://a.example/ x",
            "https://a.example/\n",
            "https://a.example/%PATH%",
        ] {
            let refused = open_browser(url).await.expect_err(url);
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{url}");
        }
        let url = WebUrl::parse("https://a.example/$(id)?a=b&calc").expect("a URL");
        let (_, arguments) = opener(&url);
        assert_eq!(
            arguments.last().map(String::as_str),
            Some(url.as_str()),
            "one argument"
        );
    }
}
