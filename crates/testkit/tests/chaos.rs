//! Invariants hold in every order of events. `PINTLE_SEED` replays one order, `PINTLE_SEEDS` tries more.

use pintle_testkit::chaos;

// spec: 2026-07-28 N-BASE-03, N-BASE-04, N-BASE-14, N-CANC-05, N-CANC-08, N-CANC-10, N-CANC-11, N-PROG-04, N-PROG-05, N-ERR-02 (engine), N-ERR-04 (engine), N-ERR-05 (engine)
// spec: 2025-11-25 MSG-06, CANC-07, CANC-08, CANC-10, CANC-14, PROG-05, PROG-08, PROG-15
#[test]
fn a_server_owes_each_request_one_answer_whatever_the_client_does() {
    chaos::play(chaos::server);
}

// spec: 2026-07-28 N-CANC-02, N-CANC-06, N-CANC-09, N-CANC-10, N-CANC-12, N-CANC-13
// spec: 2025-11-25 CANC-02, CANC-09, CANC-10, TIME-02, TIME-05
// hardening: H-161
#[test]
fn a_call_ends_once_whatever_the_server_does() {
    chaos::play(chaos::client);
}

// spec: 2026-07-28 N-CANC-10
// spec: 2025-11-25 CANC-10
#[test]
fn calls_end_once_over_a_slow_and_breaking_pipe() {
    chaos::play(chaos::pair);
}
