//! The surface of a server that a client is connected to, and a lock file that a client enforces.

use pintle_client::{Approvals, CallError, Client, Item, List};
use pintle_model::ErrorCode;

use crate::surface::Surface;

impl Surface {
    /// Reads the surface of a server. Lists that the server does not offer are empty.
    ///
    /// # Errors
    ///
    /// The first failed request. A list that the server announces and does not have counts as empty.
    pub async fn of(client: &Client) -> Result<Self, CallError> {
        let server = client.server();
        let identity = server
            .as_ref()
            .and_then(|server| server.identity.as_deref());
        let instructions = server
            .as_ref()
            .and_then(|server| server.instructions.clone());
        let mut surface = Self::of_identity(identity).with_instructions(instructions);
        let Some(can) = server.map(|server| server.capabilities) else {
            return Ok(surface);
        };
        if can.tools.is_some() {
            surface = surface.with_tools(&all(client.list_tools()).await?);
        }
        if can.prompts.is_some() {
            surface = surface.with_prompts(&all(client.list_prompts()).await?);
        }
        if can.resources.is_some() {
            surface = surface.with_resources(&all(client.list_resources()).await?);
            let templates = all(client.list_resource_templates()).await?;
            surface = surface.with_resource_templates(&templates);
        }
        Ok(surface)
    }

    /// Approves the tools of a lock file: a client with
    /// [`ClientBuilder::pin_tools`](pintle_client::ClientBuilder::pin_tools) then calls a tool only if its whole
    /// definition is the locked one.
    pub fn approvals(&self) -> Approvals {
        let approvals = Approvals::default();
        self.tools().for_each(|tool| approvals.approve(&tool));
        approvals
    }
}

async fn all<T: Item>(list: List<T>) -> Result<Vec<T>, CallError> {
    match list.await {
        Ok(listed) => Ok(listed.items),
        Err(CallError::Answered { error, .. }) if error.code == ErrorCode::METHOD_NOT_FOUND => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}
