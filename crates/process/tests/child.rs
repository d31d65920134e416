//! Servers as real processes: their start, their environment and their end.
mod ends;
mod host;
mod processes;
mod starts;
mod talks;
