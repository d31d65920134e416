//! A link that passes bytes on as the weather lets it.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::watch;
use tokio::time::sleep;

use super::weather::{Now, Weather};

/// Capacity of a link in each direction, in bytes.
const HELD: usize = 4 << 10;

const TO_SERVER: usize = 0;
const TO_CLIENT: usize = 1;

/// Makes a link: the client's end, the server's end, and what carries bytes between them. The link is
/// broken when that is dropped.
pub(super) fn link(
    weather: &Arc<Weather>,
) -> (DuplexStream, DuplexStream, impl Future<Output = ()> + use<>) {
    let (client, near) = duplex(HELD);
    let (far, server) = duplex(HELD);
    let now = weather.watch();
    let weather = Arc::clone(weather);
    let carried = async move {
        let began = now.borrow().cuts;
        let (near_reader, near_writer) = split(near);
        let (far_reader, far_writer) = split(far);
        let up = carry(TO_SERVER, near_reader, far_writer, &weather);
        let down = carry(TO_CLIENT, far_reader, near_writer, &weather);
        let mut cut = now.clone();
        let both = async { tokio::join!(up, down) };
        tokio::select! {
            biased;
            _ = cut.wait_for(|now| now.cuts != began) => {}
            _ = both => {}
        }
    };
    (client, server, carried)
}

/// Carries one direction until its end, or until it is closed on the way.
async fn carry(
    direction: usize,
    mut from: ReadHalf<DuplexStream>,
    mut to: WriteHalf<DuplexStream>,
    weather: &Weather,
) {
    let mut now = weather.watch();
    let began = now.borrow().closed[direction];
    let mut closed = weather.watch();
    let all = carry_all(direction, &mut from, &mut to, weather, &mut now);
    tokio::select! {
        biased;
        _ = closed.wait_for(|now| now.closed[direction] != began) => {}
        () = all => {}
    }
    // The other side may be gone already.
    let _ = to.shutdown().await;
    swallow(&mut from).await;
}

async fn carry_all(
    direction: usize,
    from: &mut ReadHalf<DuplexStream>,
    to: &mut WriteHalf<DuplexStream>,
    weather: &Weather,
    now: &mut watch::Receiver<Now>,
) {
    let mut held = [0; HELD];
    while let Ok(length @ 1..) = from.read(&mut held).await {
        sleep(weather.delay()).await;
        let mut rest = &held[..length];
        while !rest.is_empty() {
            if now.wait_for(|now| !now.stalled[direction]).await.is_err() {
                return;
            }
            let piece = now.borrow().piece.min(rest.len());
            if to.write_all(&rest[..piece]).await.is_err() {
                return;
            }
            rest = &rest[piece..];
            tokio::task::yield_now().await;
        }
    }
}

/// A writer to a closed direction gets no error: its bytes are lost.
async fn swallow(from: &mut ReadHalf<DuplexStream>) {
    let mut lost = [0; HELD];
    while let Ok(1..) = from.read(&mut lost).await {}
}
