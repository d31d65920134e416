//! Blocks of memory that small messages share.

use bytes::BytesMut;

use crate::io::Frame;

/// Size of one block, in bytes. A frame keeps its block in memory, so it holds at most this much.
const BLOCK_BYTES: usize = 1 << 10;
/// Size of the largest message in a block, in bytes. A larger one has memory of its own.
const MAX_MESSAGE_BYTES: usize = BLOCK_BYTES / 4;

/// Makes frames of small messages, several in one block of memory.
#[derive(Debug, Default)]
pub(crate) struct FrameBlocks {
    /// The message that is written.
    message: Vec<u8>,
    /// The rest of the current block.
    block: BytesMut,
}

impl FrameBlocks {
    /// Makes the frame of the message that `write` writes.
    #[inline]
    pub(crate) fn frame(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Frame {
        self.message.clear();
        write(&mut self.message);
        if self.message.len() > MAX_MESSAGE_BYTES {
            return Frame::whole(std::mem::take(&mut self.message));
        }
        if self.block.capacity() < self.message.len() {
            self.block.reserve(BLOCK_BYTES);
        }
        self.block.extend_from_slice(&self.message);
        Frame::shared(self.block.split().freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_every_size_keep_their_bytes() {
        let mut blocks = FrameBlocks::default();
        let sizes = (0..=MAX_MESSAGE_BYTES + 2).chain([10 * BLOCK_BYTES, 1]);
        let frames: Vec<_> = sizes
            .map(|size| {
                let frame = blocks.frame(|out| out.resize(size, size as u8));
                (size, frame)
            })
            .collect();
        for (size, frame) in frames {
            assert_eq!(frame.to_vec(), vec![size as u8; size]);
        }
    }

    #[test]
    fn small_messages_share_a_block() {
        let mut blocks = FrameBlocks::default();
        let mut next = || {
            let frame = blocks.frame(|out| out.extend_from_slice(&[7; 100]));
            let [_, body, _] = frame.into_pieces();
            (body.as_ptr() as usize, body)
        };
        let (first, _kept) = next();
        for nth in 1..10 {
            assert_eq!(next().0, first + nth * 100);
        }
        assert_ne!(next().0, first + 1_000);
    }

    #[test]
    fn a_large_message_leaves_no_large_buffer() {
        let mut blocks = FrameBlocks::default();
        drop(blocks.frame(|out| out.resize(1 << 20, 0)));
        assert_eq!(blocks.message.capacity(), 0);
    }
}
