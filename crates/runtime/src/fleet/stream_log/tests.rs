//! All interleavings of a take-over: a call with notices at one replica, and a client that resumes at others.
//!
//! The store carries out an append at once, after its replica has given up, or never. The writer may be killed at each
//! step. A reader may count the writer as gone at each step, rightly or not, because a writer may be paused. A reader
//! ends with the connection of its client, but its append may still happen.

use std::collections::{HashMap, VecDeque};

use pintle_store::Position;

use super::event::StreamEvent;
use super::reading::Reading;
use super::writing::{WriteStep, Writing};
use crate::fleet::ReplicaId;

/// The number of the result. The beginning has 0, and the notices have the numbers between.
const RESULT: u64 = 3;
/// Appends that may still happen after their writer has given up.
const MAX_LATE: usize = 1;
/// A model with more worlds has a mistake.
const MAX_WORLDS: usize = 100_000;

/// The rules of the model, or one of them broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    Kept,
    /// The store does not compare the tail.
    WithoutCompare,
    /// A reader numbers the end after the events of the log. The client may have received more.
    EndNumberedByLog,
}

impl Rules {
    fn max_late(self) -> usize {
        match self {
            // Shows its mistake without them, and with fewer worlds.
            Self::EndNumberedByLog => 0,
            Self::Kept | Self::WithoutCompare => MAX_LATE,
        }
    }
}

/// The connection of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Connection {
    None,
    Writer,
    Reader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    Result,
    Gone,
    /// The client cannot resume, and knows it.
    Refused,
}

type Batch = Vec<StreamEvent>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    log: Batch,
    /// Appends that may still happen, each at its tail.
    late: Vec<(Position, Batch)>,
    writing: Writing,
    /// The number of events that the handler has made.
    made: u64,
    /// Events with lower numbers may be sent.
    released: u64,
    is_killed: bool,
    reader: Option<(Reading, VecDeque<StreamEvent>)>,
    connection: Connection,
    /// The number of the next event for the client.
    next: u64,
    end: Option<End>,
}

fn replica(name: &str) -> ReplicaId {
    name.parse().expect("a replica id")
}

fn event(number: u64) -> StreamEvent {
    StreamEvent {
        writer: replica("writeraa"),
        number,
        request: None,
        is_last: number == RESULT,
        message: Vec::new().into(),
    }
}

fn position(index: usize) -> Position {
    Position::new(index as u64)
}

impl World {
    fn new() -> Self {
        Self {
            log: Vec::new(),
            late: Vec::new(),
            writing: Writing::new(replica("writeraa")),
            made: 1,
            released: 0,
            is_killed: false,
            reader: None,
            connection: Connection::Writer,
            next: 0,
            end: None,
        }
    }

    fn tail(&self) -> Position {
        position(self.log.len())
    }

    /// Returns the world after a change.
    fn then(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut world = self.clone();
        change(&mut world);
        world
    }

    /// Carries out an append. Returns its new tail.
    fn append(&mut self, rules: Rules, tail: Position, events: &[StreamEvent]) -> Option<Position> {
        if tail != self.tail() && rules != Rules::WithoutCompare {
            return None;
        }
        self.log.extend_from_slice(events);
        Some(self.tail())
    }

    /// Returns all worlds after one more step.
    fn steps(&self, rules: Rules) -> Vec<Self> {
        let mut worlds = Vec::new();
        if self.end.is_some() {
            return worlds;
        }
        if !self.is_killed {
            self.writer_steps(rules, &mut worlds);
            worlds.push(self.then(|world| {
                world.is_killed = true;
                if world.connection == Connection::Writer {
                    world.connection = Connection::None;
                }
            }));
        }
        for index in 0..self.late.len() {
            worlds.push(self.then(|world| {
                let (tail, events) = world.late.remove(index);
                world.append(rules, tail, &events);
            }));
        }
        self.client_steps(&mut worlds);
        self.reader_steps(rules, &mut worlds);
        worlds
    }

    fn writer_steps(&self, rules: Rules, worlds: &mut Vec<Self>) {
        if self.made <= RESULT {
            worlds.push(self.then(|world| world.made += 1));
        }
        match self.writing.step() {
            Some(WriteStep::Append(tail, next)) if next < self.made => {
                let events: Batch = (next..self.made).map(event).collect();
                worlds.push(self.then(|world| match world.append(rules, tail, &events) {
                    Some(tail) => {
                        world.writing.appended(events.len() as u64, tail);
                        world.released = world.made;
                    }
                    None => world.writing.doubt(),
                }));
                // The store does not answer: the append has happened, or may happen later.
                worlds.push(self.then(|world| {
                    world.append(rules, tail, &events);
                    world.writing.doubt();
                }));
                if self.late.len() < rules.max_late() {
                    worlds.push(self.then(|world| {
                        world.late.push((tail, events.clone()));
                        world.writing.doubt();
                    }));
                }
            }
            Some(WriteStep::Append(..)) => {}
            Some(WriteStep::Read(tail)) => {
                worlds.push(self.then(|world| world.read_back(tail)));
                // The store is away, so the events are sent before they are appended.
                worlds.push(self.then(|world| world.released = world.made));
            }
            None if self.connection == Connection::Writer => {
                worlds.push(self.then(|world| world.connection = Connection::None));
            }
            None => {}
        }
        let can_send = self.connection == Connection::Writer && self.next < self.released;
        if can_send && self.writing.step().is_some() {
            worlds.push(self.then(|world| world.receive(&event(world.next))));
        }
    }

    fn read_back(&mut self, tail: Position) {
        let after = usize::try_from(tail.get()).expect("small");
        let events: Vec<_> = self.log.iter().enumerate().skip(after).collect();
        let events = events
            .iter()
            .map(|(index, event)| (position(index + 1), *event));
        self.writing.read(events);
        self.released = self.released.max(self.writing.next());
    }

    fn client_steps(&self, worlds: &mut Vec<Self>) {
        if self.connection != Connection::None {
            // The connection breaks.
            worlds.push(self.then(|world| {
                (world.connection, world.reader) = (Connection::None, None);
            }));
        } else if self.next == 0 {
            // Without an event id the client cannot resume.
            worlds.push(self.then(|world| world.end = Some(End::Refused)));
        } else {
            worlds.push(self.then(Self::resume));
        }
    }

    fn resume(&mut self) {
        if self.log.is_empty() {
            self.end = Some(End::Refused);
            return;
        }
        self.connection = Connection::Reader;
        self.reader = Some((Reading::after(self.next - 1), VecDeque::new()));
    }

    fn reader_steps(&self, rules: Rules, worlds: &mut Vec<Self>) {
        let Some((reading, missed)) = &self.reader else {
            return;
        };
        worlds.push(self.then(Self::read_on));
        if !missed.is_empty() {
            worlds.push(self.then(|world| {
                let (_, missed) = world.reader.as_mut().expect("a reader");
                let event = missed.pop_front().expect("an event");
                world.receive(&event);
            }));
        }
        if reading.is_ended() {
            return;
        }
        // The writer counts as gone.
        let tail = reading.tail();
        let end = StreamEvent {
            writer: replica("readeraa"),
            number: match rules {
                Rules::EndNumberedByLog => tail.get(),
                _ => StreamEvent::TAKEN_OVER,
            },
            is_last: true,
            ..event(0)
        };
        worlds.push(self.then(|world| {
            world.append(rules, tail, std::slice::from_ref(&end));
        }));
        if self.late.len() < rules.max_late() {
            worlds.push(self.then(|world| world.late.push((tail, vec![end.clone()]))));
        }
    }

    fn read_on(&mut self) {
        let (reading, missed) = self.reader.as_mut().expect("a reader");
        let after = usize::try_from(reading.tail().get()).expect("small");
        for (index, event) in self.log.iter().enumerate().skip(after) {
            if reading.read(position(index + 1), event).expect("no gap") {
                missed.push_back(event.clone());
            }
        }
    }

    fn receive(&mut self, event: &StreamEvent) {
        let is_own = event.writer == replica("writeraa");
        assert!(!is_own || event.number == self.next, "a gap or a duplicate");
        self.next += 1;
        if event.is_last {
            self.end = Some(if is_own { End::Result } else { End::Gone });
        }
    }

    /// Returns true if an event follows an end in the log.
    fn has_event_after_end(&self) -> bool {
        let end = self.log.iter().position(|event| event.is_last);
        end.is_some_and(|end| end + 1 < self.log.len())
    }
}

/// The properties of all interleavings.
struct Explored {
    worlds: usize,
    /// Worlds in whose log an event follows an end.
    broken: usize,
    /// Worlds from which the client never receives an end.
    stuck: usize,
    ends: Vec<End>,
}

fn explore(rules: Rules) -> Explored {
    let mut places = HashMap::from([(World::new(), 0)]);
    let mut worlds = vec![World::new()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 0;
    while at < worlds.len() {
        assert!(worlds.len() < MAX_WORLDS, "{rules:?} has no end");
        if rules == Rules::WithoutCompare && worlds[at].has_event_after_end() {
            break;
        }
        for world in worlds[at].steps(rules) {
            let new = worlds.len();
            let place = *places.entry(world.clone()).or_insert(new);
            if place == new {
                worlds.push(world);
                before.push(Vec::new());
            }
            before[place].push(at);
        }
        at += 1;
    }
    let ended = |place: &usize| worlds[*place].end.is_some();
    let mut reached: Vec<bool> = (0..worlds.len()).map(|place| ended(&place)).collect();
    let mut open: Vec<usize> = (0..worlds.len()).filter(ended).collect();
    while let Some(place) = open.pop() {
        for earlier in &before[place] {
            if !std::mem::replace(&mut reached[*earlier], true) {
                open.push(*earlier);
            }
        }
    }
    Explored {
        worlds: worlds.len(),
        broken: worlds
            .iter()
            .filter(|world| world.has_event_after_end())
            .count(),
        stuck: reached.iter().filter(|is_reached| !**is_reached).count(),
        ends: worlds.iter().filter_map(|world| world.end).collect(),
    }
}

#[test]
fn a_taken_over_stream_has_one_end_in_all_interleavings() {
    let explored = explore(Rules::Kept);
    assert_eq!((explored.broken, explored.stuck), (0, 0));
    assert!(explored.worlds > 1_000, "{}", explored.worlds);
    for end in [End::Result, End::Gone, End::Refused] {
        assert!(explored.ends.contains(&end), "{end:?}");
    }
}

#[test]
fn without_a_compare_an_event_follows_an_end() {
    assert!(explore(Rules::WithoutCompare).broken > 0);
}

#[test]
fn an_end_with_the_next_number_of_the_log_leaves_a_client_without_one() {
    assert!(explore(Rules::EndNumberedByLog).stuck > 0);
}
