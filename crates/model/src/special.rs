//! The bytes that cannot stand in a JSON string: quotes, backslashes and control characters.

/// Bytes of a text that are examined together: as many as a mask has bits.
pub(crate) const PART: usize = 64;

/// Returns a mask with a bit for each special byte.
#[inline]
pub(crate) fn mask(part: &[u8; PART]) -> u64 {
    let mut flags = [0; PART];
    for (flag, byte) in flags.iter_mut().zip(part) {
        *flag = u8::from(is_special(*byte));
    }
    // The flags of each word are one bit of each byte.
    let (words, _) = flags.as_chunks::<8>();
    let bits = words
        .iter()
        .zip(0..)
        .fold(0, |bits, (word, at)| bits | u64::from_le_bytes(*word) << at);
    transposed(bits)
}

/// Exchanges the rows and columns of eight by eight bits: single ones, pairs, and fours.
#[inline]
fn transposed(bits: u64) -> u64 {
    let exchanges = [
        (7, 0x00AA_00AA_00AA_00AA),
        (14, 0x0000_CCCC_0000_CCCC),
        (28, 0x0000_0000_F0F0_F0F0),
    ];
    exchanges
        .into_iter()
        .fold(bits, |bits, (distance, places)| {
            let changed = (bits ^ bits >> distance) & places;
            bits ^ changed ^ changed << distance
        })
}

/// Returns true if a part has a special byte.
#[inline]
pub(crate) fn has_special(part: &[u8; PART]) -> bool {
    let mut flags = [0; PART];
    for (flag, byte) in flags.iter_mut().zip(part) {
        *flag = u8::from(is_special(*byte));
    }
    flags != [0; PART]
}

/// Whether a byte cannot stand in a string: a quote, a backslash, or a control character.
#[inline]
pub(crate) fn is_special(byte: u8) -> bool {
    // Without a branch: this is done to many at once.
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// The special bytes of one text, a part at a time.
pub(crate) struct SpecialBytes {
    /// The part whose mask is known.
    part: usize,
    mask: u64,
}

impl Default for SpecialBytes {
    fn default() -> Self {
        let part = usize::MAX;
        Self { part, mask: 0 }
    }
}

impl SpecialBytes {
    /// Returns the position of the first special byte of `text` from `at` on; its length or more if it has
    /// none.
    #[inline]
    pub(crate) fn next(&mut self, text: &[u8], at: usize) -> usize {
        match self.mask_of(text, at / PART) >> (at % PART) {
            0 => self.next_in_parts(text, at / PART + 1),
            ahead => at + ahead.trailing_zeros() as usize,
        }
    }

    /// Returns the position of the first special byte from the beginning of a part on.
    #[inline(never)]
    fn next_in_parts(&mut self, text: &[u8], mut part: usize) -> usize {
        loop {
            match self.mask_of(text, part) {
                0 => part += 1,
                ahead => return part * PART + ahead.trailing_zeros() as usize,
            }
        }
    }

    #[inline]
    fn mask_of(&mut self, text: &[u8], part: usize) -> u64 {
        if self.part != part {
            self.part = part;
            self.mask = mask_at(text, part * PART);
        }
        self.mask
    }
}

/// Returns the mask of the part of a text that begins at `start`. Behind the end all bytes count as special, so
/// that a search ends there.
fn mask_at(text: &[u8], start: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    if let Some(part) = rest.first_chunk() {
        return mask(part);
    }
    let mut last = [b'"'; PART];
    last[..rest.len()].copy_from_slice(rest);
    mask(&last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        for special in [b'"', b'\\', 0, 0x1f] {
            for length in 0..3 * PART {
                let mut text = vec![b'a'; length];
                let mut all = SpecialBytes::default();
                assert_eq!(all.next(&text, 0), length);
                for at in 0..length {
                    text[at] = special;
                    let mut all = SpecialBytes::default();
                    assert_eq!(all.next(&text, 0), at);
                    assert_eq!(all.next(&text, at), at);
                    assert!(all.next(&text, at + 1) >= length);
                    text[at] = 0x80;
                }
            }
        }
    }
}
