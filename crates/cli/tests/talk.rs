//! The program as people and scripts use it on servers: what it prints, and how it ends.

mod access;
mod answers;
mod broken;
mod calls;
mod guarded;
mod home;
mod hosts;
mod http;
mod listen;
mod offers;
mod program;
mod ring;
mod server;
mod shell;
mod sign_in;
mod tasks;
mod terminal;
mod typist;
