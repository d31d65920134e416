//! A large base64 leaves in the memory of its value, and the message is the same as with a copy.

use pintle_model::jsonrpc::Message;
use pintle_model::{
    Base64, BlobResourceContents, CallToolResult, ContentBlock, GetPromptResult, ImageContent,
    Implementation, Meta, PromptMessage, ReadResourceResult, Revision, Role, ServerCapabilities,
};
use pintle_proto::{
    Frame, Limits, PeerIdentity, Rendered, Reply, ResultBody, ServerProfile, SingleRequest, Terms,
};
use serde_json::{Value, json};

const CALL: &str = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t"}}"#;

fn base64() -> Base64 {
    Base64::encode(vec![7; 64 << 10])
}

fn image(data: &Base64) -> ContentBlock {
    ImageContent::new(data.clone(), "image/png").into()
}

/// The message with a reply to [`CALL`].
fn frame(reply: Reply, revision: Revision) -> Frame {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    let profile = ServerProfile::new(Implementation::new("s", "1"), capabilities);
    let Ok(Message::Request(request)) = Message::parse(CALL.as_bytes()) else {
        panic!("not a request");
    };
    let (mut request, handled) = SingleRequest::receive(
        profile.into(),
        Limits::default().into(),
        Terms::new(revision).into(),
        PeerIdentity::Anonymous,
        request,
    );
    let (ticket, _) = handled.expect("a handler");
    request.answer(ticket, Ok(reply));
    request.poll_transmit().expect("an answer").frame
}

/// Checks that a result leaves in the memory of its base64, in one message that does not depend on it.
fn assert_shared<R: ResultBody + Clone>(result: &R, data: &Base64) {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let rendered = || Rendered::new(result.clone(), revision).expect("it fits");
        let shared = frame(Reply::Complete(rendered()), revision);
        let copied = frame(Reply::Complete(rendered().into_shared()), revision);
        assert_eq!(shared.to_vec(), copied.to_vec());
        assert_eq!(shared.len(), copied.len());
        assert_eq!(shared.parts().concat(), copied.to_vec());
        serde_json::from_slice::<Value>(&shared.to_vec()).expect("JSON");

        let body = data.as_str().as_bytes();
        let place = |frame: Frame| frame.into_pieces()[1].as_ptr();
        assert_eq!(shared.parts()[1].len(), body.len() + 2);
        assert_eq!(place(shared.clone()).wrapping_add(1), body.as_ptr());
        assert_eq!(place(shared.into_shared()).wrapping_add(1), body.as_ptr());
    }
}

#[test]
fn the_picture_of_a_tool_is_not_copied() {
    let data = base64();
    let mut result = CallToolResult::new(vec!["a".into(), image(&data), image(&base64())]);
    assert_shared(&result, &data);
    result.structured_content = Some(json!({ "isError": [1, "\n"] }));
    assert_shared(&result, &data);
    // The envelope fits no longer in front of the result.
    let mut meta = Meta::new();
    meta.insert("com.example/long", "x".repeat(400));
    result.meta = Some(meta);
    assert_shared(&result, &data);
}

#[test]
fn the_bytes_of_a_resource_are_not_copied() {
    let data = base64();
    let blob = BlobResourceContents::new("a:b", data.clone());
    assert_shared(&ReadResourceResult::new(vec![blob.clone().into()]), &data);
    let embedded = ContentBlock::resource(blob);
    assert_shared(&CallToolResult::new(vec![embedded]), &data);
}

#[test]
fn the_picture_of_a_prompt_is_not_copied() {
    let data = base64();
    let message = PromptMessage::new(Role::User, image(&data));
    assert_shared(&GetPromptResult::new(vec![message]), &data);
}

#[test]
fn the_outline_of_a_result_has_no_large_base64() {
    let mut result = CallToolResult::new(vec![image(&base64()), "b".into()]);
    result.is_error = Some(true);
    let rendered = Rendered::new(result.clone(), Revision::V2026_07_28).expect("it fits");
    let outline: Value = serde_json::from_slice(&rendered.outline()).expect("JSON");
    let mut expected = serde_json::to_value(result).expect("JSON");
    expected["content"][0]["data"] = json!("");
    assert_eq!(outline, expected);

    let whole = rendered.into_shared();
    assert_eq!(whole.outline(), whole.json());
}
