//! A tool with an argument that HTTP clients repeat in a header.

use pintle::prelude::*;

pub(super) fn offer(server: Server) -> Server {
    server.tool::<test_header_parameter>()
}

/// Returns the region of the request.
#[tool(read_only)]
async fn test_header_parameter(
    /// Any name of a region.
    #[arg(header = "Region")]
    region: String,
) -> String {
    format!("The region is {region}")
}
