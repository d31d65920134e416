//! Servers as real processes: how they start, what they get, and that all of them end.
mod ends;
mod host;
mod processes;
mod starts;
mod talks;
