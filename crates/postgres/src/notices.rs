//! Wake-ups between processes: LISTEN and NOTIFY, outside of the transactions of operations.

mod late;
mod listen;
mod outbox;
mod payload;
mod send;

pub(crate) use late::Late;
pub(crate) use listen::Listener;
pub(crate) use outbox::Outbox;
pub(crate) use payload::Sender;
pub(crate) use send::send;
