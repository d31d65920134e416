//! The JSON-RPC envelope: one pass, classified by which members are present.

mod breadth;
mod broken;
mod depth;
mod encode;
mod error;
mod id;
mod message;
mod outline;
mod params;
mod raw_json;
mod scan;

pub use encode::{
    write_error, write_notification, write_request, write_response, write_response_head,
};
pub use error::{Error, ErrorCode};
pub use id::{ProgressToken, RequestId};
pub use message::{InvalidMessage, Message, Notification, Request, Response, ResponseBody};
pub use outline::{Member, Outline};
pub(crate) use outline::{MetaSpans, find_meta};
pub use params::ParamsRef;
pub use raw_json::RawJson;
