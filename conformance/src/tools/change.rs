//! Tools that change the items of the server while it runs.

use pintle::prelude::*;

pub(super) fn offer(server: Server) -> Server {
    server.tools::<(test_trigger_tool_change, test_trigger_prompt_change)>()
}

const TOOL: &str = "test_now_and_then";
const PROMPT: &str = "test_now_and_then";

/// Adds a tool, or removes it again.
#[tool]
async fn test_trigger_tool_change(server: State<ServerHandle>) -> Result<&'static str> {
    if server.remove_tool(TOOL) {
        return Ok("Removed a tool");
    }
    let tool = Tool::new(TOOL).description("Is there, or not.");
    server.add_tool(tool.handler(async || "Here now"))?;
    Ok("Added a tool")
}

/// Adds a prompt, or removes it again.
#[tool]
async fn test_trigger_prompt_change(server: State<ServerHandle>) -> Result<&'static str> {
    if server.remove_prompt(PROMPT) {
        return Ok("Removed a prompt");
    }
    let prompt = Prompt::new(PROMPT).description("Is there, or not.");
    server.add_prompt(prompt.handler(async || "Here now"))?;
    Ok("Added a prompt")
}
