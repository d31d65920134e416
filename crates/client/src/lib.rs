//! The client of Pintle.

mod child;

pub use child::{
    ChildExit, ChildOptions, ChildServer, ChildTransport, Command, StartError, Supervisor,
};
