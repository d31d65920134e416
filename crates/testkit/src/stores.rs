//! Tests of stores behind a socket: a proxy that breaks connections, and figures of any store.

mod figures;
mod tcp_proxy;

pub use figures::{Figures, Latency, measure};
pub use tcp_proxy::{Target, TcpProxy};
