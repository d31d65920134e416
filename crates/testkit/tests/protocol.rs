//! A server of this workspace, judged by the checks of `pintle check`.

use std::sync::Arc;

use pintle_http::client::BoxIo;
use pintle_runtime::{IntoService as _, PipeOptions, serve_pipe};
use pintle_server::{Server, Tool};
use pintle_testkit::check::{CheckOptions, Level, Target, assert_server};
use tokio::io::{duplex, split};

#[tokio::test]
async fn a_server_in_memory_passes_each_check_that_the_protocol_requires() {
    let add = Tool::new("add").description("Adds numbers.");
    let server = Server::new("calculator", "1.0.0").add_tool(add.handler(async || "3"));
    let service = Arc::new(server.into_service().expect("a valid server"));
    let target = Target::pipe(move || {
        let (near, far) = duplex(1 << 16);
        let (reader, writer) = split(far);
        tokio::spawn(serve_pipe(
            Arc::clone(&service),
            reader,
            writer,
            PipeOptions::default(),
        ));
        Box::pin(async { Ok(BoxIo::new(near)) })
    });
    let mut options = CheckOptions::default();
    options.level = Level::Must;
    let report = assert_server(&target, options).await;
    assert_eq!(report.revisions.len(), 5, "{:?}", report.not_served);
}
