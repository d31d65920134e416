//! The JSON-RPC envelope: one pass, classified by which members are present.

mod breadth;
mod broken;
mod decode;
mod depth;
mod encode;
mod error;
mod id;
mod message;
mod meta_outline;
mod outline;
mod params;
mod scan;

pub use encode::{
    write_error, write_notification, write_request, write_response, write_response_head,
};
pub use error::{Error, ErrorCode};
pub use id::{ProgressToken, RequestId};
pub use message::{InvalidMessage, Message, Notification, Request, Response, ResponseBody};
pub(crate) use meta_outline::{MalformedMeta, MetaMember, MetaSpans};
pub use outline::{Member, Outline};
pub use params::ParamsRef;
pub(crate) use scan::members;
