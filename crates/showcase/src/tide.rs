//! A plain number, a picture, and a function that blocks.

use pintle::prelude::*;
use pintle::server::Image;

use super::paint::{Canvas, png};

/// Mean level above chart datum, in metres.
const MEAN: f64 = 3.1;
/// The harbour's tide: amplitude in metres, period in hours. Moon, sun, and the moon's distance.
const CONSTITUENTS: [(f64, f64); 3] = [(2.1, 12.42), (0.7, 12.0), (0.4, 12.66)];
const SIZE: (usize, usize) = (240, 80);

/// Height above chart datum, hours after a high water of springs.
pub(super) fn height_at(hours: f64) -> f64 {
    let wave = |(amplitude, period): (f64, f64)| {
        amplitude * (std::f64::consts::TAU * hours / period).cos()
    };
    MEAN + CONSTITUENTS.into_iter().map(wave).sum::<f64>()
}

/// The tide over the coming hours as a PNG.
pub(super) fn curve(hours: u32) -> Vec<u8> {
    let (width, height) = SIZE;
    let mut canvas = Canvas::new(width, height);
    for x in 0..width {
        let metres = height_at(x as f64 * f64::from(hours) / width as f64);
        let level = (metres / 7.0 * height as f64).clamp(0.0, height as f64) as usize;
        (height - level..height).for_each(|y| canvas.ink(x, y));
    }
    png(&canvas)
}

/// Returns the height of tide above chart datum, in metres.
#[tool(title = "Height of tide", read_only, idempotent, open_world = false)]
pub(super) async fn height_of_tide(
    /// Hours after high water.
    #[arg(min = -100, max = 100)]
    hours: f64,
) -> f64 {
    (height_at(hours) * 100.0).round() / 100.0
}

/// Draws the tide over the coming hours.
#[tool(title = "Tide curve", read_only, idempotent, open_world = false)]
pub(super) async fn tide_curve(
    /// How many hours to draw.
    #[arg(default = 24, min = 1, max = 72)]
    hours: u32,
) -> Image {
    Image::png(curve(hours))
}

/// Finds the highest tide of the coming days, in metres, minute by minute.
#[tool(read_only, idempotent, open_world = false, blocking)]
pub(super) fn highest_tide(
    /// How many days to search.
    #[arg(min = 1, max = 366)]
    days: u32,
) -> f64 {
    let minutes = 0..days * 24 * 60;
    let highest = minutes
        .map(|minute| height_at(f64::from(minute) / 60.0))
        .fold(f64::MIN, f64::max);
    (highest * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tide_is_highest_at_high_water() {
        assert!((height_at(0.0) - 6.3).abs() < 1e-9);
        assert!((highest_tide(30) - 6.3).abs() < 1e-9);
        assert!(height_at(6.2) < 1.0);
    }
}
