//! A handler that prints. Standard output belongs to the protocol, so printed text goes to standard
//! error instead, and clients receive only messages. (On Unix; elsewhere: do not print.)

use pintle::prelude::*;

/// Returns its text, and prints a forgotten debug line.
#[tool]
#[allow(clippy::print_stdout, reason = "this is what the example is about")]
async fn echo(text: String) -> String {
    println!("DEBUG: the text is {text:?}");
    print!("and no line end");
    text
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    Server::new("echo", env!("CARGO_PKG_VERSION"))
        .tool::<echo>()
        .run()
        .await?;
    Ok(())
}
