//! The signals that end a program.

use std::future::Future;
use std::io;

/// Returns a future that is ready on Ctrl-C, SIGTERM or SIGHUP. The handlers are installed at once.
///
/// # Errors
///
/// Those of the system.
#[cfg(unix)]
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
            _ = hung_up.recv() => {}
        }
    })
}

/// Returns a future that is ready on Ctrl-C.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
