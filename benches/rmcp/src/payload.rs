//! Large payloads: built once, as `bench-server` builds them.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Text of `length` bytes in numbered lines.
fn text(length: usize) -> String {
    let lines = (0..).map(|line| {
        format!("{line:06} The quick brown fox said \"hello\" and jumped over the lazy dog.\n")
    });
    let mut text = String::with_capacity(length + 80);
    for line in lines {
        if text.len() >= length {
            break;
        }
        text.push_str(&line);
    }
    text.truncate(length);
    text
}

/// 64 KiB of text.
pub fn text_64k() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(64 << 10));
    &TEXT
}

/// 1 MiB of text.
pub fn text_1m() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(1 << 20));
    &TEXT
}

/// Text of so many bytes, up to 16 MiB; none beyond.
pub fn text_of(bytes: usize) -> Option<&'static str> {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(16 << 20));
    TEXT.get(..bytes)
}

/// 1 MiB of bytes, encoded once.
pub fn image_1m() -> &'static str {
    static IMAGE: LazyLock<String> = LazyLock::new(|| {
        let bytes: Vec<u8> = (0..1usize << 20)
            .map(|at| (at.wrapping_mul(31).wrapping_add(7) & 255) as u8)
            .collect();
        STANDARD.encode(bytes)
    });
    &IMAGE
}
