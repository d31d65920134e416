//! Pictures of two colours, as PNG.
//!
//! It supports only the parts of the format that a tide curve needs. Pixels are stored without compression.

/// A picture with paper and ink as its colours.
#[derive(Debug)]
pub(super) struct Canvas {
    width: usize,
    height: usize,
    /// Rows of whole bytes, one bit for a pixel; a set bit is paper.
    rows: Vec<Vec<u8>>,
}

impl Canvas {
    /// Creates an empty sheet. Its size is in pixels.
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            rows: vec![vec![0xFF; width.div_ceil(8)]; height],
        }
    }

    /// Blackens a pixel. A pixel outside of the sheet is ignored.
    pub(super) fn ink(&mut self, x: usize, y: usize) {
        if let Some(byte) = self.rows.get_mut(y).and_then(|row| row.get_mut(x / 8)) {
            *byte &= !(0x80 >> (x % 8));
        }
    }
}

/// Encodes the picture as a PNG file.
pub(super) fn png(canvas: &Canvas) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend((canvas.width as u32).to_be_bytes());
    header.extend((canvas.height as u32).to_be_bytes());
    // One bit, grey, and the only compression, filter and order there are.
    header.extend([1, 0, 0, 0, 0]);
    // Each row begins with its filter: none.
    let pixels: Vec<u8> = canvas
        .rows
        .iter()
        .flat_map(|row| [&[0], &row[..]].concat())
        .collect();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &stored(&pixels));
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], body: &[u8]) {
    let named = [&kind[..], body].concat();
    file.extend((body.len() as u32).to_be_bytes());
    file.extend(&named);
    file.extend(crc32(&named).to_be_bytes());
}

/// Encodes bytes as a zlib stream of stored blocks.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(0xFFFF).peekable();
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

fn crc32(bytes: &[u8]) -> u32 {
    let shift = |crc: u32, _| {
        if crc & 1 == 1 {
            crc >> 1 ^ 0xEDB8_8320
        } else {
            crc >> 1
        }
    };
    !bytes
        .iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_the_published_ones() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn ink_outside_of_the_sheet_is_ignored() {
        let mut canvas = Canvas::new(9, 2);
        canvas.ink(8, 1);
        canvas.ink(90, 1);
        canvas.ink(0, 2);
        assert_eq!(canvas.rows, [[0xFF, 0xFF], [0xFF, 0x7F]]);
    }
}
