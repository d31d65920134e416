//! The standard error of a server, as events of the page.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pintle_runtime::sync::Mutex;

use crate::feed::Feed;
use crate::object::Object;
use crate::options::WebOptions;

/// Receives the lines that a server writes to its standard error. Clones are the same server.
#[derive(Clone, Default)]
pub struct ServerOutput(Arc<Mutex<Option<Shown>>>);

/// The page that shows the lines.
struct Shown {
    feed: Arc<Feed>,
    max_lines: u32,
    max_bytes: usize,
    /// The second in which the lines are counted.
    second: Instant,
    lines: u32,
    dropped: u64,
}

impl ServerOutput {
    /// Shows a line. Without a page that is connected to the server, the line is dropped.
    pub fn line(&self, line: &str) {
        if let Some(shown) = &mut *self.0.lock() {
            shown.line(line, Instant::now());
        }
    }

    /// Shows the following lines in a page.
    pub(crate) fn attach(&self, feed: &Arc<Feed>, options: &WebOptions) {
        *self.0.lock() = Some(Shown {
            feed: Arc::clone(feed),
            max_lines: options.max_stderr_lines,
            max_bytes: options.max_message_bytes,
            second: Instant::now(),
            lines: 0,
            dropped: 0,
        });
    }
}

impl Shown {
    fn line(&mut self, line: &str, now: Instant) {
        if now.duration_since(self.second) >= Duration::from_secs(1) {
            (self.second, self.lines) = (now, 0);
        }
        if self.lines >= self.max_lines {
            self.dropped += 1;
            return;
        }
        self.lines += 1;
        let mut end = line.len().min(self.max_bytes);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let (text, dropped) = (&line[..end], std::mem::take(&mut self.dropped));
        let mut event = Object::event("stderr");
        self.feed
            .add(event.text("text", text).whole("dropped", dropped));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn shown(max_stderr_lines: u32, max_message_bytes: usize) -> Shown {
        let options = WebOptions {
            max_stderr_lines,
            max_message_bytes,
            ..WebOptions::default()
        };
        let output = ServerOutput::default();
        output.attach(&Arc::new(Feed::new(&options)), &options);
        output.0.lock().take().expect("a page")
    }

    async fn events(shown: &Shown) -> Vec<(String, u64)> {
        let text = shown.feed.wait(0, Duration::ZERO).await;
        let page: Value = serde_json::from_slice(&text).expect("JSON");
        let events = page["events"].as_array().expect("events").iter();
        let event = |event: &Value| {
            let text = event["text"].as_str().expect("a text");
            (
                text.to_owned(),
                event["dropped"].as_u64().expect("a number"),
            )
        };
        events.map(event).collect()
    }

    #[tokio::test]
    async fn lines_above_the_limit_of_a_second_are_dropped_and_counted() {
        let mut shown = shown(2, 100);
        let begin = shown.second;
        for line in ["a", "b", "c", "d"] {
            shown.line(line, begin);
        }
        shown.line("e", begin + Duration::from_secs(1));
        let expected = [("a", 0), ("b", 0), ("e", 2)].map(|(text, n)| (text.to_owned(), n));
        assert_eq!(events(&shown).await, expected);
    }

    #[tokio::test]
    async fn a_long_line_is_cut_off_at_a_character() {
        let mut shown = shown(2, 3);
        let now = shown.second;
        shown.line("aéé", now);
        assert_eq!(events(&shown).await, [("aé".to_owned(), 0)]);
    }

    #[test]
    fn a_line_without_a_page_is_dropped() {
        ServerOutput::default().line("nothing reads it");
    }
}
