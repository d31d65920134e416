//! Pictures for terminals that draw sixels: PNG to sixels of a fixed palette.

use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

/// Maximum size of a drawn picture, in pixels. A larger picture is reduced.
const MAX_WIDTH: usize = 800;
const MAX_HEIGHT: usize = 600;
/// Maximum number of pixels of a picture that is decoded. A larger one is saved instead.
const MAX_PIXELS: usize = 1 << 24;
/// Maximum memory of the decoder, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Levels of each colour, as in the palettes of web pages: 216 colours in all.
const LEVELS: u32 = 6;
/// Thresholds of ordered dithering.
const THRESHOLDS: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// A decoded picture.
struct Picture {
    width: usize,
    height: usize,
    /// Red, green, blue and alpha of each pixel.
    pixels: Vec<[u8; 4]>,
}

/// Returns the escape sequence that draws a PNG, or nothing if it is not a PNG within the limits.
pub(super) fn sixels(bytes: &[u8]) -> Option<String> {
    let picture = reduced(decoded(bytes)?);
    let colors: Vec<Option<u8>> = indexes(&picture);
    let (width, height) = (picture.width, picture.height);
    // The 1 leaves transparent pixels as they are.
    let mut text = format!("\u{1b}P0;1;0q\"1;1;{width};{height}");
    for color in 0..LEVELS.pow(3) {
        let percent = |level: u32| level % LEVELS * 100 / (LEVELS - 1);
        let (red, green) = (percent(color / LEVELS / LEVELS), percent(color / LEVELS));
        text.push_str(&format!("#{color};2;{red};{green};{}", percent(color)));
    }
    for band in colors.chunks(width * 6) {
        write_band(&mut text, band, width);
    }
    text.push_str("\u{1b}\\\n");
    Some(text)
}

fn decoded(bytes: &[u8]) -> Option<Picture> {
    let limits = Limits { bytes: MAX_BYTES };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let width = usize::try_from(reader.info().width).ok()?;
    let height = usize::try_from(reader.info().height).ok()?;
    // At most four bytes a pixel, so the buffer has a limit as well.
    width
        .checked_mul(height)
        .filter(|all| (1..=MAX_PIXELS).contains(all))?;
    let mut buffer = vec![0; reader.output_buffer_size()?];
    let frame = reader.next_frame(&mut buffer).ok()?;
    let samples = buffer.get(..frame.buffer_size())?;
    let pixels: Vec<[u8; 4]> = match frame.color_type {
        ColorType::Rgba => samples.as_chunks().0.to_vec(),
        ColorType::GrayscaleAlpha => {
            let pairs = samples.as_chunks().0.iter();
            pairs
                .map(|&[gray, alpha]| [gray, gray, gray, alpha])
                .collect()
        }
        _ => return None,
    };
    (pixels.len() == width * height).then_some(Picture {
        width,
        height,
        pixels,
    })
}

/// Reduces a picture to the maximum size; its proportions stay.
fn reduced(picture: Picture) -> Picture {
    let (width, height) = (picture.width, picture.height);
    if width <= MAX_WIDTH && height <= MAX_HEIGHT {
        return picture;
    }
    // Whichever side is the longer one in proportion gets its maximum.
    let (new_width, new_height) = match width * MAX_HEIGHT > height * MAX_WIDTH {
        true => (MAX_WIDTH, (height * MAX_WIDTH / width).max(1)),
        false => ((width * MAX_HEIGHT / height).max(1), MAX_HEIGHT),
    };
    let mut pixels = Vec::with_capacity(new_width * new_height);
    for y in 0..new_height {
        let line = y * height / new_height * width;
        pixels.extend((0..new_width).map(|x| picture.pixels[line + x * width / new_width]));
    }
    Picture {
        width: new_width,
        height: new_height,
        pixels,
    }
}

/// Returns the palette index of each pixel; `None` for transparent pixels.
fn indexes(picture: &Picture) -> Vec<Option<u8>> {
    let places = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    let index = |((x, y), &[red, green, blue, alpha]): ((usize, usize), &[u8; 4])| {
        let threshold = THRESHOLDS[y % 4][x % 4];
        let level =
            |value: u8| (u32::from(value) * (LEVELS - 1) * 16 + threshold * 255) / (255 * 16);
        let index = (level(red) * LEVELS + level(green)) * LEVELS + level(blue);
        u8::try_from(index).ok().filter(|_| alpha >= 128)
    };
    places.zip(&picture.pixels).map(index).collect()
}

/// Writes six lines of pixels, one colour after the other.
fn write_band(text: &mut String, band: &[Option<u8>], width: usize) {
    let mut columns = vec![vec![]; LEVELS.pow(3) as usize];
    for (place, color) in band.iter().enumerate() {
        if let Some(color) = color {
            let bits: &mut Vec<u8> = &mut columns[usize::from(*color)];
            bits.resize(width, 0);
            bits[place % width] |= 1 << (place / width);
        }
    }
    for (color, bits) in columns
        .iter()
        .enumerate()
        .filter(|(_, bits)| !bits.is_empty())
    {
        text.push_str(&format!("#{color}"));
        for run in bits.chunk_by(|one, next| one == next) {
            let sixel = char::from(63 + run[0]);
            match run.len() {
                1..=3 => text.extend(std::iter::repeat_n(sixel, run.len())),
                count => text.push_str(&format!("!{count}{sixel}")),
            }
        }
        // Back to the beginning of the band.
        text.push('$');
    }
    text.push('-');
}

#[cfg(test)]
mod tests {
    use png::{BitDepth, Encoder};

    use super::*;

    /// Returns a PNG of these samples.
    fn png(width: u32, height: u32, color: ColorType, samples: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, width, height);
        encoder.set_color(color);
        encoder.set_depth(BitDepth::Eight);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(samples).expect("the samples");
        drop(writer);
        bytes
    }

    /// The sequence after the palette.
    fn body(text: &str) -> &str {
        let start = "\u{1b}P0;1;0q\"1;1;";
        assert!(text.starts_with(start), "{text:?}");
        text.split_once("#215;2;100;100;100").expect("a palette").1
    }

    #[test]
    fn a_picture_is_drawn_in_bands_of_six_lines() {
        // White and black in two columns of seven lines.
        let samples = [255, 255, 255, 0, 0, 0].repeat(7);
        let text = sixels(&png(2, 7, ColorType::Rgb, &samples)).expect("sixels");
        assert!(text.starts_with("\u{1b}P0;1;0q\"1;1;2;7#0;2;0;0;0#1;2;0;0;20"));
        assert_eq!(body(&text), "#0?~$#215~?$-#0?@$#215@?$-\u{1b}\\\n");
    }

    #[test]
    fn runs_are_shortened_and_transparent_pixels_are_left_out() {
        let mut samples = [255, 0].repeat(3);
        samples.extend([255, 255].repeat(9));
        let text = sixels(&png(12, 1, ColorType::GrayscaleAlpha, &samples)).expect("sixels");
        assert_eq!(body(&text), "#215???!9@$-\u{1b}\\\n");
    }

    #[test]
    fn a_colour_between_two_levels_is_dithered() {
        let gray = sixels(&png(4, 4, ColorType::Grayscale, &[25; 16])).expect("sixels");
        let body = body(&gray);
        assert!(body.contains("#0") && body.contains("#43"), "{body}");
    }

    #[test]
    fn a_large_picture_is_reduced_in_proportion() {
        for (width, height, expected) in [
            (1_600, 300, "800;150"),
            (300, 1_200, "150;600"),
            (800, 600, "800;600"),
            (3_000, 1, "800;1"),
        ] {
            let samples = vec![200; width as usize * height as usize];
            let text = sixels(&png(width, height, ColorType::Grayscale, &samples));
            let text = text.expect("sixels");
            let start = format!("\u{1b}P0;1;0q\"1;1;{expected}#");
            assert!(text.starts_with(&start), "{expected}");
        }
    }

    #[test]
    fn the_text_of_a_picture_has_a_limit() {
        // Noise is the worst case, because no two neighbours are the same.
        let mut state = 1_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let samples: Vec<u8> = (0..800 * 600 * 3).map(|_| noise()).collect();
        let text = sixels(&png(800, 600, ColorType::Rgb, &samples)).expect("sixels");
        assert!(text.len() < 4 << 20, "{}", text.len());
    }

    #[test]
    fn a_picture_outside_of_the_limits_is_not_drawn() {
        let valid = png(2, 2, ColorType::Grayscale, &[0; 4]);
        assert!(sixels(&valid).is_some());
        for length in 0..valid.len() - 13 {
            assert!(sixels(&valid[..length]).is_none(), "{length}");
        }
        assert!(sixels(b"\xff\xd8\xff\xe0").is_none());
        // A header of 50,000 by 50,000 pixels with a valid checksum.
        let mut bytes = Vec::new();
        let encoder = Encoder::new(&mut bytes, 50_000, 50_000);
        drop(encoder.write_header().expect("a header"));
        assert!(sixels(&bytes).is_none());
    }
}
