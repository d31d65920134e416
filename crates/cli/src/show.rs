//! Converts results to text for the terminal, without printing it.
//!
//! Text of servers and files is made safe to print here, and printed in [`output`](crate::output).

mod access;
mod auth_diagnosis;
mod content;
mod diff;
mod doctor;
mod hosts;
mod media;
mod offers;
mod review;
mod sixel;
mod tasks;

pub(crate) use access::{SignedIn, not_signed_in, signed_in, signed_in_json, signed_out};
pub(crate) use auth_diagnosis::{auth_diagnosis, auth_diagnosis_json};
pub(crate) use content::{Part, blocks, contents, messages};
pub(crate) use diff::diff;
pub(crate) use doctor::DoctorReport;
pub(crate) use hosts::{hosts, hosts_json};
pub(crate) use media::{Media, drawn, file_name};
pub(crate) use offers::{Offers, Server, offers, server};
pub(crate) use review::{review, review_line};
pub(crate) use tasks::{task, tasks};

#[cfg(test)]
mod tests;
