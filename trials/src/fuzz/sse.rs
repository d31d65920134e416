//! Bytes of an event stream, cut anywhere.

use pintle::proto::frame::sse::{Decoder, Event, write_event};

use super::pieces;

/// Events do not depend on the cuts between bytes or on the line ends. No event is larger than the
/// limit. An event that we write is read unchanged.
///
/// # Panics
///
/// If not.
pub fn sse(data: &[u8]) {
    let Some((max, data)) = data.split_first() else {
        return;
    };
    let max = 4 * usize::from(*max);
    let whole = read(&[data], max);
    assert_eq!(read(&pieces(data), max), whole, "in pieces");
    for event in &whole.events {
        assert!(event.data.len() <= max, "{} bytes", event.data.len());
        assert!(!event.data.contains(&b'\r'), "{event:?}");
    }
    written_is_read(data);
}

#[derive(Debug, PartialEq)]
struct Read {
    events: Vec<Event>,
    last_id: Option<String>,
    failed: bool,
}

fn read(pieces: &[&[u8]], max: usize) -> Read {
    let mut decoder = Decoder::new(max);
    let mut read = Read {
        events: Vec::new(),
        last_id: None,
        failed: false,
    };
    'stream: for piece in pieces {
        let mut piece = *piece;
        loop {
            match decoder.decode(&mut piece) {
                Ok(Some(event)) => read.events.push(event),
                Ok(None) => break,
                Err(_) => {
                    read.failed = true;
                    break 'stream;
                }
            }
        }
    }
    // A failed stream has no further events.
    if !read.failed {
        read.last_id = decoder.last_id().map(str::to_owned);
    }
    read
}

fn written_is_read(data: &[u8]) {
    let mut written = Vec::new();
    let id = String::from_utf8_lossy(data);
    write_event(&mut written, Some(&id), Some(&id), &[data]);
    let mut unread = &written[..];
    let mut decoder = Decoder::default();
    let event = decoder.decode(&mut unread).expect("it is small");
    let plain = with_line_feeds(data);
    match event {
        Some(event) => assert_eq!(event.data, plain),
        None => assert!(plain.is_empty(), "an event is lost"),
    }
    assert_eq!(decoder.decode(&mut unread), Ok(None), "something follows");
}

/// Line breaks as readers see them: each CR and each LF is one line break of its own in what we write.
fn with_line_feeds(data: &[u8]) -> Vec<u8> {
    let feed = |byte: &u8| if *byte == b'\r' { b'\n' } else { *byte };
    data.iter().map(feed).collect()
}
