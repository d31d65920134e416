//! Turns the bytes of all streams into lines of the display and of the recording. It runs on the observing thread.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, SystemTime};

use foldhash::fast::RandomState;
use serde_json::value::RawValue;

use crate::background_writer::BackgroundWriter;
use crate::framing::{Framer, Framing};
use crate::lines::Line;
use crate::observer::{Direction, Observation, Observer};
use crate::options::TapOptions;
use crate::queue::{Batch, Event, Lost, What};
use crate::recording::{Recorder, Row};
use crate::redact::redact;
use crate::show::{self, Place, TapCounts};

/// The state of the observing thread.
#[derive(Debug)]
pub(crate) struct Report {
    options: TapOptions,
    /// Whether messages have a session and an exchange.
    is_http: bool,
    display: Option<BackgroundWriter>,
    recorder: Option<Recorder>,
    streams: HashMap<u64, Stream, RandomState>,
    sessions: HashMap<u64, Session, RandomState>,
    /// The numbers of sessions with an id.
    numbers: HashMap<Box<str>, u64, RandomState>,
    /// The numbers of sessions with an id, oldest first.
    order: VecDeque<u64>,
    next_session: u64,
    counts: TapCounts,
    now: Duration,
}

/// A stream: standard input and output together, or one HTTP exchange.
#[derive(Debug)]
struct Stream {
    framers: [Framer; 2],
    session: u64,
}

#[derive(Debug)]
struct Session {
    observer: Observer,
    id: Option<Box<str>>,
}

impl Report {
    pub(crate) fn new(
        options: TapOptions,
        is_http: bool,
        display: Option<BackgroundWriter>,
    ) -> Self {
        Self {
            options,
            is_http,
            display,
            recorder: None,
            streams: HashMap::default(),
            sessions: HashMap::default(),
            numbers: HashMap::default(),
            order: VecDeque::new(),
            next_session: 1,
            counts: TapCounts::default(),
            now: Duration::ZERO,
        }
    }

    /// Writes messages to a recording, too.
    pub(crate) fn record(
        &mut self,
        mut recorder: Recorder,
        started: SystemTime,
    ) -> std::io::Result<()> {
        let transport = if self.is_http { "http" } else { "stdio" };
        recorder.begin(started, transport, self.options.keeps_secrets)?;
        self.recorder = Some(recorder);
        Ok(())
    }

    pub(crate) fn batch(&mut self, batch: Batch) {
        let mut events = batch.events;
        if let Some(lost) = batch.lost {
            let later = events.split_off(lost.after.min(events.len()));
            events.into_iter().for_each(|event| self.event(event));
            self.gap(lost);
            events = later;
        }
        events.into_iter().for_each(|event| self.event(event));
    }

    /// Ends all sessions, and writes the last lines. Returns the counts, and the display to close.
    pub(crate) fn finish(mut self) -> (TapCounts, Option<BackgroundWriter>) {
        let open: Vec<u64> = self.streams.keys().copied().collect();
        for stream in open {
            self.close(stream);
        }
        let mut sessions: Vec<u64> = self.sessions.keys().copied().collect();
        sessions.sort_unstable();
        for session in sessions {
            self.end_session(session);
        }
        if let Some(mut recorder) = self.recorder.take()
            && let Err(error) = recorder.end()
        {
            self.note(&format!("the recording has no end: {error}"));
        }
        self.show(show::summary(self.options.display, self.now, self.counts));
        (self.counts, self.display)
    }

    /// Some bytes were not observed, of any stream.
    fn gap(&mut self, lost: Lost) {
        self.counts.lost_bytes += lost.bytes;
        for stream in self.streams.values_mut() {
            stream.framers.iter_mut().for_each(Framer::skip);
        }
        for session in self.sessions.values_mut() {
            session.observer.skip();
        }
        let bytes = lost.bytes;
        self.note(&format!(
            "{bytes} bytes were passed on unseen, because too many waited"
        ));
    }

    fn event(&mut self, event: Event) {
        self.now = event.at;
        let (id, direction) = (event.stream, event.direction);
        match event.what {
            What::Note(note) => self.note(&note),
            What::Begin(framing) => self.begin(id, direction, framing),
            #[cfg(feature = "http")]
            What::Session(session) => self.name_session(id, session),
            #[cfg(feature = "http")]
            What::Revision(revision) => {
                self.with_observer(id, |observer| observer.assume(revision))
            }
            #[cfg(feature = "http")]
            What::Unrelated => self.with_observer(id, Observer::skip),
            What::Close => self.close(id),
            What::Bytes(bytes) => {
                let mut lines = Vec::new();
                if let Some(stream) = self.streams.get_mut(&id) {
                    stream.framers[direction.index()].push(&bytes, &mut |line| lines.push(line));
                }
                for line in lines {
                    self.line(id, direction, &line);
                }
            }
            What::End => self.end(id, direction),
        }
    }

    fn begin(&mut self, id: u64, direction: Direction, framing: Framing) {
        let framer = Framer::new(framing, self.options.max_message_bytes);
        if !self.streams.contains_key(&id) {
            let session = self.open_session();
            let framers = [Framer::Ignored, Framer::Ignored];
            self.streams.insert(id, Stream { framers, session });
        }
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.framers[direction.index()] = framer;
        }
    }

    fn end(&mut self, id: u64, direction: Direction) {
        let stream = self.streams.get_mut(&id);
        if let Some(line) = stream.and_then(|stream| stream.framers[direction.index()].finish()) {
            self.line(id, direction, &line);
        }
    }

    fn close(&mut self, id: u64) {
        for direction in [Direction::ToServer, Direction::ToClient] {
            self.end(id, direction);
        }
        if let Some(stream) = self.streams.remove(&id) {
            let session = self.sessions.get(&stream.session);
            if session.is_some_and(|session| session.id.is_none()) {
                self.end_session(stream.session);
            }
        }
    }

    fn open_session(&mut self) -> u64 {
        let number = self.next_session;
        self.next_session += 1;
        let observer = Observer::new(self.options.max_pending_requests);
        self.sessions.insert(number, Session { observer, id: None });
        number
    }

    #[cfg(feature = "http")]
    fn with_observer(&mut self, id: u64, change: impl FnOnce(&mut Observer)) {
        let session = self.streams.get(&id).map(|stream| stream.session);
        let session = session.and_then(|session| self.sessions.get_mut(&session));
        if let Some(session) = session {
            change(&mut session.observer);
        }
    }

    /// Moves a stream to the session of this id. A new id names the session that the stream has.
    #[cfg(feature = "http")]
    fn name_session(&mut self, id: u64, name: Box<str>) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        if let Some(&known) = self.numbers.get(&name) {
            let old = std::mem::replace(&mut stream.session, known);
            if old != known && self.sessions.get(&old).is_some_and(|old| old.id.is_none()) {
                self.sessions.remove(&old);
            }
            return;
        }
        let number = stream.session;
        let Some(session) = self
            .sessions
            .get_mut(&number)
            .filter(|session| session.id.is_none())
        else {
            return;
        };
        session.id = Some(name.clone());
        self.numbers.insert(name, number);
        self.order.push_back(number);
        if self.order.len() > self.options.max_sessions
            && let Some(oldest) = self.order.pop_front()
        {
            self.end_session(oldest);
        }
    }

    fn end_session(&mut self, number: u64) {
        let Some(mut session) = self.sessions.remove(&number) else {
            return;
        };
        let is_named = session.id.is_some();
        if let Some(id) = session.id {
            self.numbers.remove(&id);
        }
        let place = Place {
            at: self.now,
            session: (self.is_http && is_named).then_some(number),
            stream: None,
        };
        for missing in session.observer.finish(self.now) {
            self.counts.unanswered += 1;
            self.show(show::missing(self.options.display, place, &missing));
        }
    }

    fn line(&mut self, id: u64, direction: Direction, line: &Line) {
        let Some(number) = self.streams.get(&id).map(|stream| stream.session) else {
            return;
        };
        let max_pending = self.options.max_pending_requests;
        let session = self.sessions.entry(number).or_insert_with(|| {
            // The session was forgotten while its stream was open.
            let mut observer = Observer::new(max_pending);
            observer.skip();
            Session { observer, id: None }
        });
        let seen = session.observer.observe(direction, line, self.now);
        let place = Place {
            at: self.now,
            session: (self.is_http && session.id.is_some()).then_some(number),
            stream: self.is_http.then_some(id),
        };
        self.count(&seen);
        self.write(place, &seen, line);
    }

    fn count(&mut self, seen: &Observation) {
        match seen.direction {
            Direction::ToServer => self.counts.to_server += 1,
            Direction::ToClient => self.counts.to_client += 1,
        }
        self.counts.odd += u64::from(!seen.oddities.is_empty());
    }

    fn write(&mut self, place: Place, seen: &Observation, line: &Line) {
        let text = String::from_utf8_lossy(&line.bytes);
        let text = match self.options.keeps_secrets {
            true => text,
            false => redact(&text).into_owned().into(),
        };
        let text = text.trim();
        // A JSON text may have line ends between its tokens, but not in a string.
        let json = text.replace(['\n', '\r'], " ");
        let message: Option<&RawValue> = match line.is_cut() {
            true => None,
            false => serde_json::from_str(&json).ok(),
        };
        let is_text = message.is_none() && !line.is_cut();
        let row = Row {
            ms: show::millis(place.at),
            to: seen.direction.receiver(),
            session: place.session,
            stream: place.stream,
            message,
            text: is_text.then_some(text),
            bytes: line.is_cut().then_some(line.size),
            odd: seen.oddities.iter().map(|oddity| oddity.code()).collect(),
        };
        self.show(show::message(
            self.options.display,
            place,
            seen,
            is_text.then_some(text),
        ));
        self.write_row(&row);
    }

    fn write_row(&mut self, row: &Row<'_>) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        match recorder.row(row) {
            Ok(true) => {}
            Ok(false) => self.note("the recording is full and ends here; the messages go on"),
            Err(error) => {
                self.recorder = None;
                self.note(&format!("the recording ends here: {error}"));
            }
        }
    }

    fn note(&mut self, note: &str) {
        self.show(show::note(self.options.display, self.now, note));
    }

    fn show(&mut self, text: String) {
        let (form, now) = (self.options.display, self.now);
        if let Some(display) = &mut self.display {
            let lost = |lost| show::note(form, now, &format!("{lost} messages were not shown"));
            display.write(text, lost);
        }
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    fn report(max_sessions: usize) -> Report {
        let options = TapOptions {
            max_sessions,
            ..TapOptions::default()
        };
        Report::new(options, true, None)
    }

    fn happen(report: &mut Report, stream: u64, what: What) {
        let event = Event {
            stream,
            direction: Direction::ToServer,
            at: Duration::ZERO,
            what,
        };
        report.batch(Batch {
            events: [event].into(),
            lost: None,
        });
    }

    /// Sends a request in a session of its own. No answer follows.
    fn request(report: &mut Report, stream: u64) {
        let body = *b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        happen(report, stream, What::Begin(Framing::Body));
        happen(report, stream, What::Session(format!("s{stream}").into()));
        happen(report, stream, What::Bytes(body.into()));
        happen(report, stream, What::Close);
    }

    #[test]
    fn the_oldest_session_is_forgotten_at_the_limit() {
        let mut report = report(2);
        for stream in 1..=5 {
            request(&mut report, stream);
        }
        assert_eq!(
            (
                report.sessions.len(),
                report.numbers.len(),
                report.order.len()
            ),
            (2, 2, 2)
        );
        assert_eq!((report.counts.unanswered, report.streams.len()), (3, 0));
        assert_eq!(report.finish().0.unanswered, 5);
    }

    #[test]
    fn after_lost_bytes_no_answer_is_missing() {
        let mut report = report(2);
        request(&mut report, 1);
        let lost = Some(Lost {
            after: 0,
            bytes: 10,
        });
        let events = VecDeque::new();
        report.batch(Batch { events, lost });
        let (counts, _) = report.finish();
        assert_eq!((counts.unanswered, counts.lost_bytes), (0, 10));
    }
}
