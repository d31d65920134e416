//! The configuration of a proxy, as a page has it. `pintle-chaos` includes this file too.

use std::net::SocketAddr;

/// The page with the configurations.
pub(crate) const PAGE: &str = "docs/book/src/replicas.md";
/// The addresses in the page: that of the proxy, and those of the servers.
const PROXY: &str = "127.0.0.1:8080";
pub(crate) const SERVERS: [&str; 3] = ["127.0.0.1:8001", "127.0.0.1:8002", "127.0.0.1:8003"];

/// Returns the first block `name` of the page with other addresses, or `None` if the page has no such block. An address may also
/// be a port alone, as Envoy has it.
pub(crate) fn configuration(
    page: &str,
    name: &str,
    address: SocketAddr,
    servers: &[SocketAddr],
) -> Option<String> {
    let (_, block) = page.split_once(&format!("```{name}\n"))?;
    let (block, _) = block.split_once("```")?;
    let text = replace(block, PROXY, address);
    let servers = SERVERS.iter().zip(servers);
    Some(servers.fold(text, |text, (published, server)| {
        replace(&text, published, *server)
    }))
}

fn replace(text: &str, published: &str, address: SocketAddr) -> String {
    let port = |address: &str| {
        let (_, port) = address.rsplit_once(':').unwrap_or(("", address));
        format!("port_value: {port} ")
    };
    let new = address.to_string();
    text.replace(published, &new)
        .replace(&port(published), &port(&new))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn the_addresses_of_a_block_are_replaced() {
        let page = "text\n```nginx\nlisten 127.0.0.1:8080; server 127.0.0.1:8002;\n```\n";
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let servers = [1, 2, 3].map(address);
        let text = configuration(page, "nginx", address(9), &servers).expect("a block");
        assert_eq!(text, "listen 127.0.0.1:9; server 127.0.0.1:2;\n");
        assert!(configuration(page, "haproxy", address(9), &servers).is_none());
        let page = "```yaml\n{ address: 127.0.0.1, port_value: 8003 }\n```\n";
        let text = configuration(page, "yaml", address(9), &servers).expect("a block");
        assert_eq!(text, "{ address: 127.0.0.1, port_value: 3 }\n");
    }
}
