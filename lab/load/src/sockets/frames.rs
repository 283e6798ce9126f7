//! Frames (RFC 6455 §5.2): those of a client are written, those of a server are read.

pub const CONTINUATION: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

/// The longest payload of a control frame (§5.5).
const LONGEST_CONTROL: u64 = 125;
/// What stands in place of a length of 7 bits where one of 16 or 64 follows.
const LENGTH_16: u8 = 0x7e;
const LENGTH_64: u8 = 0x7f;
const LONGEST_HEAD: usize = 10;

/// Appends a whole frame whose payload is `first` and then `rest`, masked by `key`.
pub fn write(out: &mut Vec<u8>, opcode: u8, first: &[u8], rest: &[u8], key: u32) {
    let length = first.len() + rest.len();
    out.push(0x80 | opcode);
    match length {
        0..=125 => out.push(0x80 | length as u8),
        126..=0xffff => {
            out.push(0x80 | LENGTH_16);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            out.push(0x80 | LENGTH_64);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let key = key.to_ne_bytes();
    out.extend_from_slice(&key);
    let begin = out.len();
    out.extend_from_slice(first);
    out.extend_from_slice(rest);
    mask(&mut out[begin..], key);
}

fn mask(payload: &mut [u8], key: [u8; 4]) {
    let [a, b, c, d] = key;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut words = payload.chunks_exact_mut(8);
    for word in &mut words {
        let value = u64::from_ne_bytes(word.try_into().unwrap_or_default()) ^ wide;
        word.copy_from_slice(&value.to_ne_bytes());
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}

/// What was read.
#[derive(Debug, PartialEq)]
pub enum Part<'a> {
    /// Bytes of a message from its byte `at` on; `end` with the last of them, which may be none.
    Data {
        opcode: u8,
        at: u64,
        bytes: &'a [u8],
        end: bool,
    },
    /// A whole control frame; its payload is in [`Reader::control`].
    Control(u8),
}

#[derive(Debug, PartialEq)]
pub enum Fault {
    Masked,
    Malformed(&'static str),
}

/// Reads frames whatever parts they come in, and keeps nothing of a message.
#[derive(Default)]
pub struct Reader {
    head: [u8; LONGEST_HEAD],
    have: u8,
    /// In the payload of a frame.
    inside: bool,
    left: u64,
    /// Of the message, and how much of it was read.
    message: u8,
    offset: u64,
    pub control: Vec<u8>,
}

impl Reader {
    /// Takes from `input`. `None` when more is needed.
    pub fn read<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Part<'a>>, Fault> {
        if !self.inside {
            if !self.read_head(input)? {
                return Ok(None);
            }
            self.inside = true;
        }
        let opcode = self.head[0] & 15;
        if self.left > 0 && input.is_empty() {
            return Ok(None);
        }
        let count = (input.len() as u64).min(self.left) as usize;
        let (bytes, rest) = input.split_at(count);
        *input = rest;
        self.left -= count as u64;
        let done = self.left == 0;
        if done {
            self.inside = false;
            self.have = 0;
        }
        if opcode >= CLOSE {
            self.control.extend_from_slice(bytes);
            return Ok(done.then_some(Part::Control(opcode)));
        }
        let at = self.offset;
        let end = done && self.head[0] & 0x80 != 0;
        let message = self.message;
        self.offset += count as u64;
        if end {
            self.message = CONTINUATION;
            self.offset = 0;
        }
        Ok(Some(Part::Data {
            opcode: message,
            at,
            bytes,
            end,
        }))
    }

    /// True once the head is whole and right.
    fn read_head(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        loop {
            let need = match (self.have, self.head[1] & 127) {
                (0 | 1, _) => 2,
                (_, LENGTH_16) => 4,
                (_, LENGTH_64) => 10,
                _ => 2,
            };
            if self.have == need {
                break;
            }
            let count = input.len().min(usize::from(need - self.have));
            if count == 0 {
                return Ok(false);
            }
            let (bytes, rest) = input.split_at(count);
            self.head[usize::from(self.have)..][..count].copy_from_slice(bytes);
            *input = rest;
            self.have += count as u8;
        }
        let [first, second, ..] = self.head;
        self.left = match second & 127 {
            LENGTH_16 => u64::from(u16::from_be_bytes([self.head[2], self.head[3]])),
            LENGTH_64 => u64::from_be_bytes(self.head[2..10].try_into().unwrap_or_default()),
            length => u64::from(length),
        };
        let opcode = first & 15;
        if first & 0x70 != 0 {
            return Err(Fault::Malformed(
                "a reserved bit is set, and no extension was agreed on",
            ));
        }
        if second & 0x80 != 0 {
            return Err(Fault::Masked);
        }
        match opcode {
            CLOSE | PING | PONG => {
                if first & 0x80 == 0 || self.left > LONGEST_CONTROL {
                    return Err(Fault::Malformed("a control frame is cut or too long"));
                }
                self.control.clear();
            }
            TEXT | BINARY if self.message == CONTINUATION => self.message = opcode,
            CONTINUATION if self.message != CONTINUATION => {}
            CONTINUATION => return Err(Fault::Malformed("a continuation of nothing")),
            TEXT | BINARY => return Err(Fault::Malformed("a message inside of another")),
            _ => return Err(Fault::Malformed("an opcode that is none")),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of `bytes` that come in parts of `step` bytes: messages, and control frames with their payload.
    fn read(bytes: &[u8], step: usize) -> Result<Vec<(u8, Vec<u8>)>, Fault> {
        let mut reader = Reader::default();
        let (mut found, mut message) = (Vec::new(), Vec::new());
        for mut part in bytes.chunks(step) {
            while let Some(read) = reader.read(&mut part)? {
                match read {
                    Part::Control(opcode) => found.push((opcode, reader.control.clone())),
                    Part::Data {
                        opcode,
                        at,
                        bytes,
                        end,
                    } => {
                        assert_eq!(at as usize, message.len());
                        message.extend_from_slice(bytes);
                        if end {
                            found.push((opcode, std::mem::take(&mut message)));
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    #[test]
    fn messages_are_read_whatever_parts_they_come_in() {
        let mut bytes = vec![
            0x81, 2, b'h', b'i', 0x02, 1, 7, 0x89, 1, b'p', 0x80, 2, 8, 9, 0x82, 0,
        ];
        bytes.extend([0x81, 126, 0, 200]);
        bytes.extend([b'x'; 200]);
        let expected = vec![
            (TEXT, b"hi".to_vec()),
            (PING, b"p".to_vec()),
            (BINARY, vec![7, 8, 9]),
            (BINARY, vec![]),
            (TEXT, vec![b'x'; 200]),
        ];
        for step in 1..=bytes.len() {
            assert_eq!(read(&bytes, step).as_ref(), Ok(&expected), "{step}");
        }
    }

    #[test]
    fn a_frame_that_is_written_is_the_payload_under_its_key() {
        for length in [0, 1, 7, 8, 125, 126, 200, 65_535, 65_536, 70_000] {
            let payload: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let (first, rest) = payload.split_at(length.min(16));
            let mut frame = Vec::new();
            write(&mut frame, BINARY, first, rest, 0x1234_5678);
            let head = frame.len() - length - 4;
            let key: [u8; 4] = frame[head..head + 4].try_into().unwrap();
            assert!(frame[1] & 0x80 != 0);
            frame[1] &= 0x7f;
            frame.drain(head..head + 4);
            for (byte, key) in frame[head..].iter_mut().zip(key.iter().cycle()) {
                *byte ^= key;
            }
            assert_eq!(read(&frame, frame.len()), Ok(vec![(BINARY, payload)]));
        }
    }

    #[test]
    fn what_no_server_may_send_is_refused() {
        for bytes in [
            vec![0xc1, 0],
            vec![0x83, 0],
            vec![0x8b, 0],
            vec![0x80, 0],
            vec![0x01, 0, 0x81, 0],
            vec![0x09, 0],
            vec![0x89, 126, 0, 126],
        ] {
            let found = read(&bytes, bytes.len());
            assert!(matches!(found, Err(Fault::Malformed(_))), "{bytes:?}");
        }
        assert_eq!(read(&[0x81, 0x80, 1, 2, 3, 4], 6), Err(Fault::Masked));
    }
}
