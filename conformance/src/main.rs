//! The server for the official conformance suite: every item that the suite tests, at
//! `http://127.0.0.1:PORT/mcp`. With other arguments than `--port` it accepts those of `run()`, such as
//! `--http ADDRESS --state URL`, and is one of several replicas.
//!
//! It is built on the public interface alone, as any other server. If the suite asks for something
//! that this server cannot express, the library lacks it.

mod prompts;
mod resources;
mod sample;
mod skills;
mod tools;

use std::ffi::OsString;
use std::net::Ipv4Addr;

use pintle::prelude::*;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first != "--port") {
        return Ok(server()?.run().await?);
    }
    let port = port(&arguments)?;
    server()?.serve_http((Ipv4Addr::LOCALHOST, port)).await?;
    Ok(())
}

fn server() -> Result<Server> {
    let server = Server::new("pintle-conformance", env!("CARGO_PKG_VERSION"))
        .instructions("Offers what the official conformance suite looks for.")
        .logging()
        .resource_updates();
    let server = prompts::offer(resources::offer(tools::offer(server)));
    Ok(skills::offer(server)?)
}

/// The port in `--port N`.
fn port(arguments: &[OsString]) -> Result<u16> {
    match arguments {
        [option, port] if option == "--port" => {
            let port = port.to_str().and_then(|port| port.parse().ok());
            port.ok_or_else(|| "the port is not a number".into())
        }
        _ => Err("usage: conformance-server --port N, or the options of --help".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_one_that_starts() {
        assert!(server().expect("described").build().is_ok());
    }

    #[test]
    fn the_port_is_all_that_is_chosen() {
        let port = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            port(&words)
        };
        assert_eq!(port("--port 8931").expect("a port"), 8931);
        for line in ["", "--port", "--port x", "--port 1 2"] {
            assert!(port(line).is_err(), "{line}");
        }
    }
}
