use std::io::ErrorKind;
use std::path::PathBuf;

use pintle_model::Outcome;
use serde_json::{Value, json};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n....";

/// A file of its own, which goes with the test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let directory = format!("pintle-server-{}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        std::fs::create_dir_all(&directory).expect("makes a directory");
        std::fs::write(directory.join(name), bytes).expect("writes");
        Self(directory)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn json_of(reply: ToolReply) -> Value {
    match reply {
        Ok(Outcome::Complete(result)) => serde_json::to_value(&result.content[0]).expect("JSON"),
        other => panic!("not {other:?}"),
    }
}

#[tokio::test]
async fn a_picture_has_the_media_type_of_its_first_bytes() {
    for (name, bytes, mime) in [
        ("a.txt", PNG, "image/png"),
        ("b", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("c", b"GIF89a..", "image/gif"),
        ("d", b"RIFF\x04\0\0\0WEBPVP8 ", "image/webp"),
    ] {
        let file = Temporary::new(name, bytes);
        let image = Image::open(file.path(name)).await.expect("a picture");
        assert_eq!(image, Image::new(bytes, mime));
    }
}

#[tokio::test]
async fn a_file_of_another_form_is_refused_as_an_image() {
    let file = Temporary::new("e.png", b"%PDF-1.7");
    let error = Image::open(file.path("e.png")).await.expect_err("PDF");
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

#[tokio::test]
async fn text_and_bytes_are_embedded_with_the_name_of_the_file() {
    let text = Temporary::new("a b.csv", b"1,2");
    let content = FileContent::open(text.path("a b.csv"))
        .await
        .expect("opens");
    let expected = json!({ "type": "resource", "resource": {
        "uri": "file:///a%20b.csv", "mimeType": "text/csv", "text": "1,2"
    } });
    assert_eq!(
        json_of(content.mime("text/csv").into_tool_result()),
        expected
    );

    let bytes = Temporary::new("f", b"\xff\0");
    let content = FileContent::open(bytes.path("f")).await.expect("opens");
    let expected = json!({ "type": "resource", "resource": {
        "uri": "x:f", "mimeType": "application/octet-stream", "blob": "/wA="
    } });
    assert_eq!(json_of(content.uri("x:f").into_tool_result()), expected);
}

#[tokio::test]
async fn a_larger_file_than_the_limit_is_an_error() {
    let most = vec![b'a'; MAX_FILE_BYTES as usize + 1];
    let file = Temporary::new("g", &most[1..]);
    FileContent::open(file.path("g")).await.expect("the most");
    std::fs::write(file.path("g"), &most).expect("writes");
    let error = FileContent::open(file.path("g"))
        .await
        .expect_err("too large");
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
}

#[tokio::test]
async fn a_directory_is_an_error() {
    let file = Temporary::new("h", b"");
    let error = FileContent::open(&file.0).await.expect_err("a directory");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}
