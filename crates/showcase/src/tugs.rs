//! Tools that are added and removed while the server runs. Clients are notified of the change.

use pintle::prelude::*;

/// Hires a tug. This adds the tool `tug_<name>` until the tug is released.
#[tool(title = "Hire a tug", destructive = false)]
pub(super) async fn hire_tug(
    /// Her name: lower-case letters.
    #[arg(pattern = "^[a-z]{1,20}$")]
    name: String,
    server: State<ServerHandle>,
) -> Result<String> {
    server.add_tool(tug(&name))?;
    Ok(format!("{name} is alongside: call {}", tool_of(&name)))
}

/// Releases a tug, and the tool with her.
#[tool(title = "Release a tug", idempotent)]
pub(super) async fn release_tug(
    /// The name of a hired tug.
    name: String,
    server: State<ServerHandle>,
) -> String {
    match server.remove_tool(&tool_of(&name)) {
        true => format!("{name} is free"),
        false => format!("{name} was not hired"),
    }
}

fn tug(name: &str) -> Tool {
    let pulls = format!("{name} pulls");
    Tool::new(tool_of(name))
        .title(format!("Tug {name}"))
        .description("Lets the tug pull.")
        .handler(move || std::future::ready(pulls.clone()))
}

fn tool_of(name: &str) -> String {
    format!("tug_{name}")
}
