//! Promises that hold in any weather. `PINTLE_SEED` replays one game, `PINTLE_SEEDS` plays more.

use pintle_trials::storm::{lives, night, play};

// hardening: H-16, H-158, H-161, H-170, H-171, H-179, H-183, H-186
#[test]
fn nights() {
    play(night, 60);
}

// hardening: H-177
#[test]
fn lives_over_one_store() {
    play(lives, 8);
}
