//! A client of a server in the same process. It answers questions, follows progress, and gives up
//! when it has waited long enough. The server could also be behind a pipe or a socket.

use std::time::Duration;

use pintle::client::{CallError, Client, in_process};
use pintle::prelude::*;
use serde_json::json;

/// The size of an order.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    #[schemars(default = "one")]
    dozens: u32,
}

fn one() -> u32 {
    1
}

/// Packs as many eggs as the customer orders.
#[tool]
async fn pack(ctx: Context) -> Result<String> {
    let Answer::Accepted(order) = ctx.elicit::<Order>("How many dozens?").await? else {
        return Ok("nothing packed".to_owned());
    };
    for dozen in 1..=order.dozens {
        ctx.progress(f64::from(dozen), Some(f64::from(order.dozens)), "packed")
            .await;
    }
    Ok(format!("{} eggs", 12 * order.dozens))
}

/// Waits without end.
#[tool]
async fn wait_for_the_hens() -> String {
    std::future::pending().await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> pintle::Result<()> {
    let server = Server::new("farm", "1.0.0").tools::<(pack, wait_for_the_hens)>();
    let client = Client::builder()
        .on_elicit(async |form| {
            // A program with a user interface shows the form here, with the name of the server: `form.server`.
            let mut order = form.defaults;
            order.insert("dozens".to_owned(), json!(3));
            Answer::Accepted(order)
        })
        .connect(in_process(server)?)
        .await?;

    let tools = client.list_tools().await?;
    assert_eq!(tools.len(), 2);

    let mut packing = client.call_tool("pack", ()).start();
    let mut steps = 0;
    while let Some(progress) = packing.progress().await {
        steps += 1;
        assert_eq!(
            (progress.progress, progress.total),
            (f64::from(steps), Some(3.0))
        );
    }
    let packed = packing.await?;
    assert_eq!(packed.content, [ContentBlock::text("36 eggs")]);

    let patience = Duration::from_secs(90);
    let gave_up = client
        .call_tool("wait_for_the_hens", ())
        .timeout(patience)
        .await;
    assert!(matches!(gave_up, Err(CallError::TimedOut { .. })));
    client.close().await;
    Ok(())
}
