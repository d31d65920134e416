//! Whole exchanges, reviewed like code. `PINTLE_UPDATE=1` writes them anew.

use std::path::Path;

use pintle_testkit::script;

#[test]
fn every_transcript_plays_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of transcripts")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        script::check(file);
    }
}
