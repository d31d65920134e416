//! The smallest picture and the shortest sound.

/// One pixel, as PNG.
pub(crate) const PIXEL: &[u8] = include_bytes!("sample/pixel.png");

/// A millisecond of silence, as WAV.
pub(crate) const SILENCE: &[u8] = include_bytes!("sample/silence.wav");
