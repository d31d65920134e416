//! Standard streams by their type: pipes and sockets without a thread, other files with one.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;

use rustix::fs::FileType;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::{StandardInput as Reader, StandardOutput as Writer, threads};

/// Takes standard input and output away from the rest of the process.
pub(super) fn take_streams() -> io::Result<(Reader, Writer)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((reader(input)?, writer(output)?))
}

fn reader(fd: OwnedFd) -> io::Result<Reader> {
    Ok(match kind(&fd)? {
        FileType::Fifo => Box::pin(pipe::Receiver::from_owned_fd(fd)?),
        FileType::Socket => Box::pin(socket(fd)?),
        _ => Box::pin(threads::Reader::new(std::fs::File::from(fd))),
    })
}

fn writer(fd: OwnedFd) -> io::Result<Writer> {
    Ok(match kind(&fd)? {
        FileType::Fifo => Box::pin(pipe::Sender::from_owned_fd(fd)?),
        FileType::Socket => Box::pin(socket(fd)?),
        _ => Box::pin(threads::Writer::new(std::fs::File::from(fd))),
    })
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn kind(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}
