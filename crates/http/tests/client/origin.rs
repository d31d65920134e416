//! A server in memory whose responses are given byte for byte.

pub(crate) use pintle_testkit::fake_http::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, courtesy, empty, end, error, event, json,
    piece, result, stream, streamed, welcome, welcome_to, welcoming, with,
};
