use super::*;

fn read(text: &str) -> Result<Recording, RecordingError> {
    Recording::read(text.as_bytes())
}

#[test]
fn a_recording_has_messages_in_their_order() {
    let recording = read(concat!(
        "{\"pintle_recording\":1,\"new\":true}\n",
        "{\"ms\":1.5,\"to\":\"server\",\"message\":{\"id\":1}}\n",
        "{\"ms\":2,\"to\":\"client\",\"text\":\"noise\"}\n",
        "{\"ms\":3,\"to\":\"client\",\"session\":2,\"stream\":7,\"message\":[]}\n",
        "{\"end\":\"closed\"}\n",
    ));
    let recording = recording.expect("a recording");
    assert_eq!(
        (
            recording.messages.len(),
            recording.skipped,
            recording.is_cut
        ),
        (2, 1, false)
    );
    let last = &recording.messages[1];
    assert_eq!(
        (last.session, last.stream, last.direction),
        (2, Some(7), Direction::ToClient)
    );
}

#[test]
fn other_files_are_not_recordings() {
    for text in ["", "hello\n", "{}\n", "[1]\n"] {
        assert!(
            matches!(read(text), Err(RecordingError::NotARecording)),
            "{text}"
        );
    }
    let newer = read("{\"pintle_recording\":2}\n");
    assert!(matches!(newer, Err(RecordingError::Version(2))));
    let broken = read("{\"pintle_recording\":1}\n{\"ms\":\n{}\n");
    assert!(matches!(broken, Err(RecordingError::Json { line: 2, .. })));
    let cut = read("{\"pintle_recording\":1}\n{\"ms\":").expect("a recording without its end");
    assert!(cut.is_cut);
}

#[test]
fn a_recording_ends_at_its_limit() {
    let file = Shared::default();
    let mut recorder = Recorder::new(file.clone(), 300);
    recorder
        .begin(SystemTime::UNIX_EPOCH, "stdio", false)
        .expect("room");
    let row = |text| Row {
        ms: 0.0,
        to: "server",
        session: None,
        stream: None,
        message: None,
        text: Some(text),
        bytes: None,
        odd: Vec::new(),
    };
    let text = "x".repeat(100);
    assert!(recorder.row(&row(&text)).expect("room"));
    assert!(
        !recorder.row(&row(&text)).expect("written"),
        "it is full now"
    );
    assert!(
        recorder.row(&row("y")).expect("ignored"),
        "it is reported once"
    );
    recorder.end().expect("written");
    let written = file.0.lock().expect("no panic").clone();
    assert!(written.ends_with(b"{\"end\":\"full\"}\n"));
    let recording = Recording::read(&written[..]).expect("a recording");
    assert_eq!((recording.skipped, recording.is_cut), (1, true));
}

/// A writer whose bytes the test reads.
#[derive(Debug, Clone, Default)]
struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_trace_without_a_header_is_a_recording() {
    let trace = read("{\"ms\":0.1,\"to\":\"server\",\"message\":{}}\n").expect("a trace");
    assert_eq!((trace.messages.len(), trace.is_cut), (1, true));
}
