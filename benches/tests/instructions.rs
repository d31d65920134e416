//! Instructions per call. They do not depend on how busy the machine is, so they are asserted.
//!
//! In release builds alone, which CI makes; the budgets are those of Linux on x86-64. Where they cannot
//! be counted, this fails: valgrind has to be there.
#![cfg(all(not(debug_assertions), target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

#[test]
fn every_path_keeps_its_budget_of_instructions() {
    let counted = Command::new(env!("CARGO_BIN_EXE_instructions")).output();
    let counted = counted.expect("the program that counts");
    let (said, why) = (counted.stdout.as_slice(), counted.stderr.as_slice());
    assert!(
        counted.status.success(),
        "{}{}",
        String::from_utf8_lossy(said),
        String::from_utf8_lossy(why)
    );
}
