//! A client that starts its server: a program of its own, on standard streams.
//!
//! `cargo run -p pintle-examples --bin child_process` connects to the calculator beside it, or to any
//! other server: `-- npx -y @modelcontextprotocol/server-everything`.

use std::ffi::OsString;

use pintle::client::Client;
use pintle::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> pintle::Result<()> {
    let client = Client::connect(server()?).await?;
    for tool in client.list_tools().await? {
        say(&tool.name);
    }
    // Closing ends the server's input; the server and all its child processes end.
    client.close().await;
    Ok(())
}

/// The command of the server, which inherits only a few environment variables.
fn server() -> std::io::Result<Command> {
    let mut line = std::env::args_os().skip(1);
    let program = match line.next() {
        Some(program) => program,
        None => OsString::from(std::env::current_exe()?.with_file_name("calculator")),
    };
    Ok(Command::new(program).args(line).inherit_env("HTTPS_PROXY"))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn say(name: &str) {
    println!("{name}");
}
