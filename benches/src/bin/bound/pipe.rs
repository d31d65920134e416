//! The same on a pipe: all that was read is answered, then written at once.
use std::io::{self, BufRead, BufReader, Write};

use bytes::Buf as _;

use crate::{Error, Message, Server};

pub(crate) fn serve(server: &Server) -> Result<(), Error> {
    let mut input = BufReader::with_capacity(64 << 10, io::stdin());
    let (mut line, mut out) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        let message: Message<'_> = serde_json::from_slice(&line)?;
        if let Some(mut answer) = server.answer(&message, ["", "\n"]) {
            while answer.has_remaining() {
                let piece = answer.chunk();
                out.extend_from_slice(piece);
                answer.advance(piece.len());
            }
            out.push(b'\n');
        }
        line.clear();
        if !input.buffer().contains(&b'\n') {
            // In one write, because the buffer of the standard output ends at each line.
            let mut output = io::stdout().lock();
            output.write_all(&out)?;
            output.flush()?;
            out.clear();
        }
    }
    Ok(())
}
