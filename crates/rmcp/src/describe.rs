//! A server with the identity, the instructions and the capabilities of a handler.

use pintle_model::{Implementation, ServerCapabilities};
use pintle_server::Server;
use rmcp::ServerHandler;
use rmcp::model::ServerConfig;

use crate::convert::convert;
use crate::handler::Served;

/// Extensions whose methods are not served.
const UNSERVED: [&str; 2] = [
    "io.modelcontextprotocol/tasks",
    "io.modelcontextprotocol/skills",
];

/// Describes a server that serves this handler, with the identity, the instructions and the
/// capabilities of its `get_info`. See the [crate](crate) for the methods that are served.
///
/// ```
/// use rmcp::ServerHandler;
///
/// struct Quiet;
/// impl ServerHandler for Quiet {}
///
/// let app = pintle_rmcp::server(Quiet).instructions("Ask nothing.").build()?;
/// # Ok::<(), pintle_server::StartError>(())
/// ```
pub fn server<H: ServerHandler>(handler: H) -> Server {
    let info = handler.get_info();
    let capabilities = capabilities_of(&info);
    let server = advertise(identified(&info), &capabilities);
    let changes = server.handle().changes().clone();
    server.provider(Served {
        handler,
        capabilities,
        changes,
    })
}

/// Describes a server with an identity and instructions.
fn identified(info: &ServerConfig) -> Server {
    let identity = &info.server_info;
    let mut server = Server::new(&identity.name, &identity.version);
    match convert::<Implementation>(identity) {
        Ok(identity) => server = decorated(server, identity),
        Err(error) => {
            tracing::warn!(%error, "only the name and the version of a handler are shown")
        }
    }
    match &info.instructions {
        Some(instructions) => server.instructions(instructions),
        None => server,
    }
}

/// Adds the parts of the identity that people read.
fn decorated(mut server: Server, identity: Implementation) -> Server {
    if let Some(title) = identity.title {
        server = server.title(title);
    }
    if let Some(description) = identity.description {
        server = server.description(description);
    }
    if let Some(url) = identity.website_url {
        server = server.website(url);
    }
    identity
        .icons
        .into_iter()
        .flatten()
        .fold(server, Server::icon)
}

/// Returns the capabilities of a handler without those that are not served.
fn capabilities_of(info: &ServerConfig) -> ServerCapabilities {
    let mut capabilities: ServerCapabilities =
        convert(&info.capabilities).unwrap_or_else(|error| {
            tracing::error!(%error, "the capabilities of a handler are not valid");
            ServerCapabilities::default()
        });
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.retain(|id, _| !UNSERVED.contains(&&**id));
    }
    capabilities
}

/// Advertises the capabilities that a provider cannot advertise.
fn advertise(mut server: Server, capabilities: &ServerCapabilities) -> Server {
    if capabilities.logging.is_some() {
        server = server.logging();
    }
    let extensions = capabilities.extensions.iter().flatten();
    for (id, settings) in extensions {
        let settings = settings.as_object().cloned().unwrap_or_default();
        server = server.extension(id, settings);
    }
    server
}
