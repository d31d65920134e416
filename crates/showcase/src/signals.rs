//! Audio: the whistle signals of manoeuvring vessels, as a WAV file made on the spot.

use pintle::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// Samples in a second: a whistle needs few.
const RATE: u32 = 4_000;
/// Length of a blast, and of the silence after it, in samples. At sea a blast is a second.
const BLAST: usize = RATE as usize / 4;
const PITCH_HZ: u32 = 250;

/// A manoeuvre of a vessel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Manoeuvre {
    /// Alters her course to starboard: one short blast.
    Starboard,
    /// Alters her course to port: two.
    Port,
    /// Goes astern: three.
    Astern,
    /// Does not understand the other vessel: five.
    InDoubt,
}

/// Sounds the whistle signal of a manoeuvre.
#[tool(title = "Whistle", read_only, idempotent, open_world = false)]
pub(super) async fn sound_signal(
    /// The manoeuvre of the vessel.
    manoeuvre: Manoeuvre,
) -> ContentBlock {
    ContentBlock::audio(wav(&blasts(manoeuvre)), "audio/wav")
}

fn blasts(manoeuvre: Manoeuvre) -> Vec<u8> {
    let count = match manoeuvre {
        Manoeuvre::Starboard => 1,
        Manoeuvre::Port => 2,
        Manoeuvre::Astern => 3,
        Manoeuvre::InDoubt => 5,
    };
    let half_wave = (RATE / PITCH_HZ / 2) as usize;
    let tone = (0..BLAST).map(|sample| {
        if (sample / half_wave).is_multiple_of(2) {
            0xA0
        } else {
            0x60
        }
    });
    let blast: Vec<u8> = tone.chain(std::iter::repeat_n(0x80, BLAST)).collect();
    blast.repeat(count)
}

/// A file of one channel with a byte for a sample.
fn wav(samples: &[u8]) -> Vec<u8> {
    let length = samples.len() as u32;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + length).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(RATE.to_le_bytes());
    file.extend(RATE.to_le_bytes());
    file.extend(b"\x01\0\x08\0data");
    file.extend(length.to_le_bytes());
    file.extend(samples);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_length_of_the_file() {
        let file = wav(&blasts(Manoeuvre::InDoubt));
        assert_eq!(file.len(), 44 + 5 * 2 * BLAST);
        assert_eq!(file[4..8], (file.len() as u32 - 8).to_le_bytes());
    }
}
