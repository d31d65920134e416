//! Large payloads: built once, and borrowed by each sender.

use std::sync::LazyLock;

use pintle::model::Base64;

/// Text of `length` bytes in numbered lines.
fn text(length: usize) -> String {
    let mut text = String::with_capacity(length + 80);
    let mut line = 0;
    while text.len() < length {
        text.push_str(&format!(
            "{line:06} The quick brown fox said \"hello\" and jumped over the lazy dog.\n"
        ));
        line += 1;
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

/// Text of so many bytes, up to 16 MiB; `None` beyond.
pub fn text_of(bytes: usize) -> Option<&'static str> {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(16 << 20));
    TEXT.get(..bytes)
}

/// 1 MiB of bytes, encoded once.
pub fn image_1m() -> &'static Base64 {
    static IMAGE: LazyLock<Base64> = LazyLock::new(|| {
        let bytes: Vec<u8> = (0..1usize << 20)
            .map(|at| (at.wrapping_mul(31).wrapping_add(7) & 255) as u8)
            .collect();
        Base64::encode(&bytes)
    });
    &IMAGE
}
