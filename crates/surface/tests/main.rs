//! Lock files against servers in this process.

use pintle_client::{ApprovalError, CallError, Client, ClientBuilder};
use pintle_server::{Server, Tool};
use pintle_surface::Surface;

fn server(description: &str) -> Server {
    let stable = Tool::new("stable").handler(async || "stable");
    let other = Tool::new("other").description(description);
    Server::new("s", "1.0.0")
        .instructions("Be kind.")
        .add_tool(other.handler(async || "other"))
        .add_tool(stable)
}

async fn client(server: Server, builder: ClientBuilder) -> Client {
    builder.connect(server).await.expect("a client")
}

async fn surface(server: Server) -> Surface {
    let client = client(server, Client::builder()).await;
    Surface::of(&client).await.expect("a surface")
}

#[tokio::test]
async fn the_surface_of_a_server_is_that_of_its_lock_file() {
    let locked = surface(server("Helps.")).await;
    assert_eq!((locked.name(), locked.version()), ("s", "1.0.0"));
    assert_eq!(locked.instructions(), Some("Be kind."));
    let names: Vec<_> = locked.tools().map(|tool| tool.name).collect();
    assert_eq!(names, ["other", "stable"]);

    let read = Surface::from_json(&locked.to_json()).expect("a lock file");
    assert_eq!(read, surface(server("Helps.")).await);
    let comparison = read.compare(&surface(server("Helps you.")).await);
    let expected = "tool other: changed\n  /description: Helps{+ you+}.\n";
    assert_eq!(comparison.to_text(), expected);
}

#[tokio::test]
async fn a_client_enforces_a_lock_file() {
    let locked = surface(server("Helps.")).await.to_json();
    let locked = Surface::from_json(&locked).expect("a lock file");
    let pinned = Client::builder().pin_tools(locked.approvals());
    let client = client(server("Helps itself."), pinned).await;
    client.list_tools().await.expect("tools");
    client.call_tool("stable", ()).await.expect("it is locked");
    match client.call_tool("other", ()).await {
        Err(CallError::NotApproved { tool, why }) => {
            assert_eq!((tool.as_str(), why), ("other", ApprovalError::Changed));
        }
        other => panic!("{other:?}"),
    }
}
