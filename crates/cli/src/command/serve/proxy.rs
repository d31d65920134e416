//! `pintle serve SERVER`: serves any server to clients of every revision.

use pintle::model::ClientCapabilities;
use pintle::runtime::BoxService;
use pintle_proxy::{Proxy, ProxyError};
use pintle_serving::{Serving, Stdio, Transport, serve, serve_stdio};

use crate::args::{Format, ServerSpec, Settings};
use crate::command::attempt::{SIGN_INS, or_interrupted};
use crate::conversation::{ConversationOptions, Opening};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::screen::Screen;

/// Connects to the server, and serves it until the peer disconnects, Ctrl-C, or SIGTERM. On standard streams the
/// first message of the client comes first, so that the connection has the capabilities of the client.
pub(super) async fn run(
    serving: Serving,
    server: &ServerSpec,
    settings: &Settings,
) -> Result<(), CliError> {
    let mut opening = Opening::new(conversation(server, settings), Screen::look())?;
    if serving.transport != Transport::Stdio {
        let proxy = connect(&mut opening, None).await?;
        output::served(proxy.server());
        serve(BoxService::new(proxy), serving, output::serving_proxy).await?;
        return Ok(());
    }
    let mut stdio = Stdio::take()?;
    let capabilities = stdio.first_client().await?;
    let proxy = BoxService::new(connect(&mut opening, Some(capabilities)).await?);
    serve_stdio(proxy, stdio, serving.observation, output::serving_proxy).await?;
    Ok(())
}

fn conversation<'o>(server: &'o ServerSpec, settings: &'o Settings) -> ConversationOptions<'o> {
    ConversationOptions {
        server,
        settings,
        format: Format::Text,
        checks_output: false,
        watches_cache: false,
    }
}

/// Connects to the server, after a sign-in where it requires one and a user can sign in.
async fn connect(
    opening: &mut Opening<'_>,
    first: Option<ClientCapabilities>,
) -> Result<Proxy, CliError> {
    for _ in 0..SIGN_INS {
        match or_interrupted(opening.proxy(first.clone())).await {
            Err(failure) if opening.may_sign_in(&failure) => {
                or_interrupted(opening.sign_in()).await?;
            }
            done => return done,
        }
    }
    or_interrupted(opening.proxy(first)).await
}

impl From<ProxyError> for CliError {
    fn from(error: ProxyError) -> Self {
        match error {
            ProxyError::Client(error) => error.into(),
            ProxyError::Connect(error) => error.into(),
            error => Self::new(Exit::Unreachable, error),
        }
    }
}
