//! Plants faults in the files of hosts and in servers, and expects the finding and the line.
#![cfg(unix)]

mod files;
mod healthy;
mod planted;
mod programs;
mod urls;
