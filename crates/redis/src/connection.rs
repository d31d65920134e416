//! A connection to one server, or the connections to the servers of a cluster.

use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{
    MultipleNodeRoutingInfo, Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr,
};
use redis::{ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::time::sleep;

use crate::scripts::Call;

/// Pause before an operation looks for its server in the cluster again.
const PAUSE: Duration = Duration::from_millis(20);

/// All operations share it: the server receives them one after the other, without waiting for answers.
#[derive(Clone)]
pub(crate) enum Connection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// A command that makes writes wait for replicas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Confirmation {
    pub(crate) replicas: usize,
    pub(crate) limit: Duration,
}

impl Connection {
    /// Sends a call, and returns its answer and the number of replicas that have acknowledged it.
    pub(crate) async fn send(
        &mut self,
        call: &Call,
        confirmation: Option<Confirmation>,
    ) -> RedisResult<(Value, usize)> {
        let answers = match self {
            Self::One(connection) => {
                let pipeline = pipeline(call, confirmation, false);
                let count = pipeline.len();
                let sent = connection.req_packed_commands(&pipeline, 0, count);
                without_errors(sent.await)?
            }
            Self::Cluster(connection) => send_in_cluster(connection, call, confirmation).await?,
        };
        let mut answers = answers.into_iter();
        let answer = answers.next().unwrap_or(Value::Nil);
        let replicas = answers.next().map(redis::from_redis_value).transpose()?;
        Ok((answer, replicas.unwrap_or_default()))
    }

    /// Returns the descriptions of the servers that accept writes.
    pub(crate) async fn descriptions(&mut self) -> RedisResult<Vec<String>> {
        let info = redis::cmd("INFO");
        let Self::Cluster(cluster) = self else {
            let (answer, _) = self.send(&Call::new(info, ""), None).await?;
            return Ok(vec![redis::from_redis_value(answer)?]);
        };
        let primaries = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
        let answer = cluster.route_command(info, primaries).await?;
        let answers: Vec<(String, String)> = redis::from_redis_value(answer)?;
        Ok(answers.into_iter().map(|(_, text)| text).collect())
    }
}

/// Sends a call to the server of its key. Sends it again only after an answer that it did not happen.
async fn send_in_cluster(
    connection: &mut ClusterConnection,
    call: &Call,
    confirmation: Option<Confirmation>,
) -> RedisResult<Vec<Value>> {
    let home = Route::with_key(&call.key, SlotAddr::Master);
    let mut other = None;
    loop {
        let pipeline = pipeline(call, confirmation, other.is_some());
        let (count, is_asking) = (pipeline.len(), other.is_some());
        let home = SingleNodeRoutingInfo::SpecificNode(home);
        let place = other.take().unwrap_or(home);
        let sent = connection.route_pipeline(pipeline, 0, count, place).await;
        match without_errors(sent) {
            Ok(mut answers) => {
                answers.drain(..usize::from(is_asking));
                return Ok(answers);
            }
            Err(error) if did_not_happen(&error) => {
                other = importing_server(&error);
                if other.is_none() {
                    sleep(PAUSE).await;
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns the commands of a call. `is_asking` announces it to a server that imports its key.
fn pipeline(call: &Call, confirmation: Option<Confirmation>, is_asking: bool) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(3);
    if is_asking {
        pipeline.cmd("ASKING");
    }
    pipeline.add_command(call.command.clone());
    if let Some(confirmation) = confirmation {
        let limit = confirmation.limit.as_millis() as u64;
        pipeline.cmd("WAIT").arg(confirmation.replicas).arg(limit);
    }
    pipeline
}

fn without_errors(sent: RedisResult<Vec<Value>>) -> RedisResult<Vec<Value>> {
    sent?.into_iter().map(Value::extract_error).collect()
}

/// Returns true if the cluster refused an operation, because another server has its key or because no
/// server has it at the moment.
fn did_not_happen(error: &RedisError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ClusterConnectionNotFound
            | ErrorKind::Server(
                ServerErrorKind::Moved
                    | ServerErrorKind::Ask
                    | ServerErrorKind::TryAgain
                    | ServerErrorKind::ClusterDown
            )
    )
}

/// Returns the server that imports the key, if the answer names one.
fn importing_server(error: &RedisError) -> Option<SingleNodeRoutingInfo> {
    if error.kind() != ErrorKind::Server(ServerErrorKind::Ask) {
        return None;
    }
    let (address, _) = error.redirect_node()?;
    let (host, port) = address.rsplit_once(':')?;
    Some(SingleNodeRoutingInfo::ByAddress {
        host: host.to_owned(),
        port: port.parse().ok()?,
    })
}
