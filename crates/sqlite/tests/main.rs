//! A store in a SQLite database: the contract, several openings, several processes, and other files.

mod faults;
mod figures;
mod files;
mod kills;
mod processes;
mod suite;
mod support;
