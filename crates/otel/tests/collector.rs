//! A collector on this machine: it stores the exports of one program.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// One request to the collector.
#[derive(Debug)]
pub(crate) struct Export {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Export {
    fn is_for(&self, signal: &str) -> bool {
        self.head.starts_with(&format!("POST /v1/{signal} "))
    }

    /// Returns the spans as text; `None` for another signal.
    pub(crate) fn spans(&self) -> Option<ExportTraceServiceRequest> {
        self.is_for("traces")
            .then(|| ExportTraceServiceRequest::decode(&self.body[..]).expect("protobuf"))
    }

    pub(crate) fn metrics(&self) -> Option<ExportMetricsServiceRequest> {
        self.is_for("metrics")
            .then(|| ExportMetricsServiceRequest::decode(&self.body[..]).expect("protobuf"))
    }
}

pub(crate) struct Collector {
    pub(crate) url: String,
    exports: UnboundedReceiver<Export>,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, exports) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, sender.clone()));
            }
        });
        let url = format!("http://{address}");
        Self { url, exports }
    }

    /// Returns the exports until now.
    pub(crate) fn exports(&mut self) -> Vec<Export> {
        std::iter::from_fn(|| self.exports.try_recv().ok()).collect()
    }
}

/// Reads one request, and answers it with an empty message of protobuf.
async fn answer(mut stream: TcpStream, exports: UnboundedSender<Export>) {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    let (head, length) = loop {
        let count = stream.read(&mut part).await.unwrap_or_default();
        if count == 0 {
            return;
        }
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.split_once("content-length: ").expect("a length").1;
            let length = length.lines().next().and_then(|text| text.parse().ok());
            break (head.to_owned(), length.unwrap_or(0));
        }
    };
    let mut body = bytes.split_off(head.len() + 4);
    while body.len() < length {
        let count = stream.read(&mut part).await.expect("a body");
        body.extend_from_slice(&part[..count]);
    }
    exports.send(Export { head, body }).expect("the test runs");
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\n\
                  content-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer.as_bytes()).await.expect("a client");
}
