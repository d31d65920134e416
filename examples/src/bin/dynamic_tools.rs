//! Tools that come and go while the server runs; listening clients are notified.

use pintle::prelude::*;

/// Teaches a word: it adds a tool with that name.
#[tool]
async fn teach(
    /// The new word.
    #[arg(pattern = "^[a-z]{1,20}$")]
    word: String,
    /// The meaning of the word.
    meaning: String,
    server: State<ServerHandle>,
) -> Result<String> {
    let tool = Tool::new(&word).description("Says what the word means.");
    server.add_tool(tool.handler(move || std::future::ready(meaning.clone())))?;
    Ok(format!("learned {word}"))
}

/// Forgets a word.
#[tool(idempotent)]
async fn forget(word: String, server: State<ServerHandle>) -> &'static str {
    match server.remove_tool(&word) {
        true => "forgotten",
        false => "never heard of it",
    }
}

fn server() -> Server {
    Server::new("dictionary", env!("CARGO_PKG_VERSION")).tools::<(teach, forget)>()
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    server().run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use pintle_examples::client_of;
    use serde_json::json;

    #[tokio::test]
    async fn a_word_is_a_tool_until_it_is_forgotten() -> pintle::Result<()> {
        let mut client = client_of(super::server())?;

        let lesson = json!({ "word": "pintle", "meaning": "the pin a rudder turns on" });
        assert_eq!(
            client.call("teach", lesson.clone()).await?,
            "learned pintle"
        );
        assert_eq!(
            client.call("pintle", json!({})).await?,
            "the pin a rudder turns on"
        );
        assert!(
            client
                .call("teach", lesson)
                .await?
                .contains("offered already")
        );
        assert_eq!(
            client.call("forget", json!({ "word": "pintle" })).await?,
            "forgotten"
        );
        assert!(
            client
                .call("pintle", json!({}))
                .await?
                .contains("unknown tool")
        );
        Ok(())
    }
}
