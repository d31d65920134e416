//! An origin in memory that answers as it is told, byte for byte.

pub(crate) use pintle_testkit::fake_http::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, courtesy, empty, end, error, event, json,
    piece, result, stream, streamed, welcome, welcome_to, welcoming, with,
};
