//! The program as people and scripts use it with servers: its output and exit codes.

mod access;
mod answers;
mod broken;
mod calls;
mod check;
mod doctor;
pub(crate) mod guarded;
mod home;
mod hosts;
mod http;
mod install;
mod lint;
mod listen;
mod lock;
mod offers;
mod pack;
pub(crate) mod program;
mod ring;
mod server;
mod shell;
mod sign_in;
mod tap;
mod tasks;
mod terminal;
mod typist;
mod web;
