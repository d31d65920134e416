//! Several at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::bed::{Bed, at, must, text};
use super::{Part, Subject};
use crate::sync::Mutex;
use crate::{Expiry, Page, Position, Precondition, StoreError, Tail};

/// How many take part.
const PARTS: usize = 8;
/// Number of operations per task.
const ROUNDS: usize = 16;

pub(super) async fn run(subject: &dyn Subject) {
    one_of_many_creates(subject).await;
    no_update_is_lost(subject).await;
    a_final_state_stays(subject).await;
    one_of_many_uses_a_single_use_mark(subject).await;
    a_reader_sees_every_event_once(subject).await;
    one_of_many_appends_at_a_tail(subject).await;
    no_addition_is_lost(subject).await;
    pages_hold_what_stays(subject).await;
}

/// Runs one part for each number at the same time.
async fn race(subject: &dyn Subject, part: impl Fn(usize) -> Part) {
    subject.together((0..PARTS).map(part).collect()).await;
}

async fn one_of_many_creates(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    for round in 0..ROUNDS {
        let winners = Arc::new(AtomicUsize::new(0));
        race(subject, |part| {
            let (bed, winners) = (bed.clone(), Arc::clone(&winners));
            Box::pin(async move {
                let (name, value) = (round.to_string(), part.to_string());
                let put = bed.try_put(0, &name, &value, Precondition::Absent, Expiry::Never);
                match put.await {
                    Ok(_) => drop(winners.fetch_add(1, Ordering::SeqCst)),
                    Err(error) => assert!(error.is_conflict(), "{error:?}"),
                }
            })
        })
        .await;
        assert_eq!(winners.load(Ordering::SeqCst), 1, "winners");
    }
}

async fn no_update_is_lost(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    bed.put(0, "count", "0", Expiry::Never).await;
    race(subject, |_| {
        let bed = bed.clone();
        Box::pin(async move {
            for _ in 0..ROUNDS {
                while !increment(&bed).await {}
            }
        })
    })
    .await;
    let record = bed.get(0, "count").await.expect("it was never removed");
    assert_eq!(text(&record.value), (PARTS * ROUNDS).to_string());
}

/// Adds one, unless another writer was faster.
async fn increment(bed: &Bed) -> bool {
    let record = bed.get(0, "count").await.expect("it was never removed");
    let count: usize = text(&record.value).parse().expect("only numbers were put");
    let (value, condition) = (
        (count + 1).to_string(),
        Precondition::Version(record.version),
    );
    match bed
        .try_put(0, "count", &value, condition, Expiry::Never)
        .await
    {
        Ok(_) => true,
        Err(error) if error.is_conflict() => false,
        Err(error) => panic!("put: {error:?}"),
    }
}

/// A task is completed, cancelled and expired at the same time. The first write decides.
async fn a_final_state_stays(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    for round in 0..ROUNDS {
        let name = round.to_string();
        let version = bed.put(0, &name, "working", Expiry::At(at(10))).await;
        let winners = Arc::new(AtomicUsize::new(0));
        race(subject, |part| {
            let (bed, winners, name) = (bed.clone(), Arc::clone(&winners), name.clone());
            Box::pin(async move {
                let (state, condition) = (part.to_string(), Precondition::Version(version));
                // The last one is late: for it the task is over.
                let now = if part == PARTS - 1 { 10 } else { 9 };
                let put = bed.try_put(now, &name, &state, condition, Expiry::Never);
                match put.await {
                    Ok(_) => drop(winners.fetch_add(1, Ordering::SeqCst)),
                    Err(error) => assert!(error.is_conflict(), "{error:?}"),
                }
            })
        })
        .await;
        let state = bed.get(10, &name).await.map(|record| text(&record.value));
        let late = (PARTS - 1).to_string();
        assert_ne!(
            state.as_ref(),
            Some(&late),
            "what is over does not end otherwise"
        );
        assert_eq!(winners.load(Ordering::SeqCst), usize::from(state.is_some()));
    }
}

async fn one_of_many_uses_a_single_use_mark(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    for _ in 0..ROUNDS {
        bed.put(0, "mark", "", Expiry::Never).await;
        let winners = Arc::new(AtomicUsize::new(0));
        race(subject, |_| {
            let (bed, winners) = (bed.clone(), Arc::clone(&winners));
            Box::pin(async move {
                let removed = must("remove", bed.remove(0, "mark", Precondition::Any).await);
                winners.fetch_add(usize::from(removed), Ordering::SeqCst);
            })
        })
        .await;
        assert_eq!(winners.load(Ordering::SeqCst), 1, "winners");
    }
}

async fn a_reader_sees_every_event_once(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let writers = PARTS - 1;
    race(subject, |part| {
        let bed = bed.clone();
        if part == writers {
            return Box::pin(async move { follow(&bed, writers).await });
        }
        Box::pin(async move {
            for round in 0..ROUNDS {
                bed.append(0, "log", &format!("{part}:{round}")).await;
            }
        })
    })
    .await;
}

/// Of the writers at one tail one appends. The others keep the tail they had, and never append again.
async fn one_of_many_appends_at_a_tail(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    let mut tail = Position::START;
    let mut expected = Vec::new();
    for round in 0..ROUNDS {
        let winners: Arc<Mutex<Vec<(usize, Position)>>> = Arc::default();
        race(subject, |part| {
            let (bed, winners) = (bed.clone(), Arc::clone(&winners));
            Box::pin(async move {
                let event = format!("{round}:{part}");
                for _ in 0..2 {
                    match bed.append_at("log", &[&event], tail).await {
                        Ok(position) => winners.lock().push((part, position)),
                        Err(StoreError::Moved { tail: moved }) => assert!(moved > tail),
                        Err(error) => panic!("append: {error:?}"),
                    }
                }
            })
        })
        .await;
        let winners = std::mem::take(&mut *winners.lock());
        let [(part, position)] = winners[..] else {
            panic!("one writer appends, and not {winners:?}");
        };
        tail = position;
        expected.push(format!("{round}:{part}"));
    }
    let (events, _) = bed.events("log", Position::START, ROUNDS).await;
    assert_eq!(events, expected);
}

async fn no_addition_is_lost(subject: &dyn Subject) {
    let bed = Bed::make(subject).await;
    race(subject, |_| {
        let bed = bed.clone();
        Box::pin(async move {
            for _ in 0..ROUNDS {
                bed.add(0, "count", 3, Expiry::Never).await;
            }
        })
    })
    .await;
    let sum = bed.add(0, "count", 0, Expiry::Never).await;
    assert_eq!(sum, (3 * PARTS * ROUNDS) as i64);
}

/// Reads along until all writers are done: each writer's events in order, each once.
async fn follow(bed: &Bed, writers: usize) {
    let mut changes = bed.changed("log").await;
    let mut next_by_writer = vec![0; writers];
    let mut after = Position::START;
    while next_by_writer.iter().any(|next| *next < ROUNDS) {
        let Tail::Events { events, .. } = bed.read(0, "log", after, 3).await else {
            panic!("a position that was read is known");
        };
        for event in &events {
            assert!(event.position > after, "positions grow");
            after = event.position;
            let value = text(&event.value);
            let (writer, round) = value.split_once(':').expect("as it was written");
            let writer: usize = writer.parse().expect("as it was written");
            assert_eq!(
                round,
                next_by_writer[writer].to_string(),
                "of writer {writer}"
            );
            next_by_writer[writer] += 1;
        }
        if events.is_empty() {
            super::bed::next(&mut changes).await;
        }
    }
}

async fn pages_hold_what_stays(subject: &dyn Subject) {
    let bed = Bed::make(subject).await.in_group();
    for number in 0..20 {
        bed.put(0, &format!("{number:02}"), "stays", Expiry::Never)
            .await;
    }
    race(subject, |part| {
        let bed = bed.clone();
        Box::pin(async move {
            for round in 0..ROUNDS {
                if part % 2 == 0 {
                    come_and_go(&bed, part, round).await;
                } else {
                    assert_eq!(count_staying(&bed).await, 20, "records that stay");
                }
            }
        })
    })
    .await;
}

async fn come_and_go(bed: &Bed, part: usize, round: usize) {
    let name = format!("{:02}-{part}", round % 20);
    bed.put(0, &name, "goes", Expiry::Never).await;
    must("remove", bed.remove(0, &name, Precondition::Any).await);
}

async fn count_staying(bed: &Bed) -> usize {
    let (mut count, mut page) = (0, Page::first(3));
    loop {
        let listing = bed.list(0, "", page).await;
        let staying = listing.records.iter().filter(|(_, it)| it.value == "stays");
        count += staying.count();
        match listing.next {
            Some(next) => page = Page::after(next, 3),
            None => return count,
        }
    }
}
