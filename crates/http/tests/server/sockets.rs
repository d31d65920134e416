//! Raw bytes on a port.
