//! CRC-32, as in IEEE 802.3: finds what a disk or a crash did, not what an attacker does.

/// The checksum of `bytes`.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        let at = (sum ^ u32::from(*byte)) & 0xff;
        TABLE[at as usize] ^ (sum >> 8)
    })
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = row(at as u32);
        at += 1;
    }
    table
}

const fn row(byte: u32) -> u32 {
    let mut sum = byte;
    let mut bit = 0;
    while bit < 8 {
        sum = if sum & 1 == 1 {
            0xedb8_8320 ^ (sum >> 1)
        } else {
            sum >> 1
        };
        bit += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_checksum_is_the_published_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
