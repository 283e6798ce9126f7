//! permessage-deflate (RFC 7692) without context takeover: nothing of it lives from message to message, so one compressor
//! and one decompressor serve all sockets. They take about 350 KB, and are made when the first message needs them.

use ws::{Deflater, Inflater, Opcode, frame_head};

#[derive(Default)]
pub struct Compression {
    deflater: Option<Deflater>,
    inflater: Option<Inflater>,
    packed: Vec<u8>,
}

/// More memory than this is given back after a message.
const KEPT_BYTES: usize = 65_536;

impl Compression {
    pub fn inflater(&mut self) -> &mut Inflater {
        self.inflater.get_or_insert_default()
    }

    /// Appends a frame with the compressed payload, or with the payload as it is where that is not longer.
    pub fn frame(&mut self, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
        let Self {
            deflater, packed, ..
        } = self;
        packed.clear();
        let deflater = deflater.get_or_insert_default();
        deflater.deflate(payload, packed);
        let compressed = packed.len() < payload.len();
        let chosen = if compressed { packed } else { payload };
        out.extend_from_slice(&frame_head(opcode, chosen.len(), compressed));
        out.extend_from_slice(chosen);
        if self.packed.capacity() > KEPT_BYTES {
            self.packed = Vec::new();
        }
    }
}
