//! Heads, framing and targets of HTTP.
