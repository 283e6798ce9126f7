use std::ops::Range;

use crate::close;
use crate::deflate::{self, Inflater};
use crate::fault::Fault;
use crate::frame::{
    COMPRESSED, FIN, LENGTH_16, LENGTH_64, LONGEST_CONTROL, MASKED, OPCODE, RESERVED,
};
use crate::unmask::unmask;

/// How much a client may send.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of a message, after decompression. Past it: [`Fault::MessageTooBig`]. Before decompression a message
    /// may have what zlib at its poorest makes of so many bytes, about a seventh more.
    pub message: usize,
    /// The most frames of a message. Past it: [`Fault::TooManyFragments`].
    pub fragments: u32,
}

/// What was received. `used` bytes of the input are consumed.
#[derive(PartialEq, Eq, Debug)]
pub enum Step {
    /// More bytes are needed. What is not consumed, at most an incomplete frame head or control frame (131 bytes), must be
    /// given again in front of what follows.
    Partial {
        used: usize,
    },
    /// Frames of a message that is not complete, and a close frame behind them: what ends the socket stands at the beginning
    /// of its input, so that [`Receiver::may_end`] sees it.
    Fragments {
        used: usize,
    },
    /// A message that lies in the input as a whole, unmasked there. `ascii` tells of text whether it is ASCII alone.
    Message {
        used: usize,
        text: bool,
        ascii: bool,
        at: Range<usize>,
    },
    /// A message that came in several receives or frames, or that was compressed.
    Gathered {
        used: usize,
        text: bool,
        data: Vec<u8>,
    },
    /// A ping; its payload goes back in a pong (RFC 6455 §5.5.2).
    Ping {
        used: usize,
        at: Range<usize>,
    },
    Pong {
        used: usize,
    },
    /// A close frame. `code` is 1005 if it has none; the reason is UTF-8. Nothing that follows it may be read.
    Close {
        used: usize,
        code: u16,
        reason: Range<usize>,
    },
}

/// Reads the frames of one client. Between messages it holds no memory but its own.
#[derive(Default)]
pub struct Receiver {
    /// What has come of a message that is not complete.
    data: Vec<u8>,
    /// How much of `data` is known to be UTF-8; up to three bytes of a character may follow.
    checked: usize,
    /// How many bytes of the present frame have not come.
    left: usize,
    /// How many frames of the present message have begun.
    frames: u32,
    /// The mask, turned so that it begins with the next byte of the frame.
    mask: [u8; 4],
    /// The head of a data frame was consumed, and the frame has not ended.
    in_frame: bool,
    /// The present frame is the last of its message.
    last: bool,
    text: bool,
    compressed: bool,
    deflate: bool,
    failed: Option<Fault>,
}

/// A complete head, which keeps all rules of its own.
struct FrameHead {
    fin: bool,
    compressed: bool,
    opcode: u8,
    /// The bytes of the head.
    size: usize,
    length: usize,
    mask: [u8; 4],
}

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;

impl Receiver {
    /// `deflate` tells whether permessage-deflate was negotiated. Without it, or without an inflater, a compressed message is
    /// a fault.
    pub fn new(deflate: bool) -> Self {
        Self {
            deflate,
            ..Self::default()
        }
    }

    /// The bytes of memory that hold what has come of a message. It is 0 between messages, and never more than
    /// [`Limits::message`] allows a message to have.
    pub fn held(&self) -> usize {
        self.data.capacity()
    }

    /// Whether the next step may end the socket: `input` begins with a close frame, or there was a fault.
    pub fn may_end(&self, input: &[u8]) -> bool {
        let closes = |first: &u8| first & OPCODE == CLOSE;
        self.failed.is_some() || !self.in_frame && input.first().is_some_and(closes)
    }

    /// Takes one step, and unmasks in place what it consumes. The payload of an incomplete data frame is consumed too. To
    /// be called again with what is not consumed, until it gives [`Step::Partial`]. After a fault it gives that fault
    /// whatever the input; after a close frame it is not to be called any more.
    pub fn next(
        &mut self,
        input: &mut [u8],
        limits: &Limits,
        inflater: Option<&mut Inflater>,
    ) -> Result<Step, Fault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        let step = self.step(input, limits, inflater);
        self.failed = step.as_ref().err().copied();
        step
    }

    fn step(
        &mut self,
        input: &mut [u8],
        limits: &Limits,
        inflater: Option<&mut Inflater>,
    ) -> Result<Step, Fault> {
        let deflate = self.deflate && inflater.is_some();
        let mut at = 0;
        loop {
            if !self.in_frame {
                let Some(head) = self.head(&input[at..], limits, deflate)? else {
                    return Ok(Step::Partial { used: at });
                };
                let start = at + head.size;
                let whole = input.len() - start >= head.length;
                if head.opcode >= CLOSE {
                    if !whole {
                        return Ok(Step::Partial { used: at });
                    }
                    if head.opcode == CLOSE && at > 0 {
                        return Ok(Step::Fragments { used: at });
                    }
                    let payload = start..start + head.length;
                    unmask(&mut input[payload.clone()], head.mask);
                    return control(head.opcode, input, payload);
                }
                at = start;
                if whole && head.fin && head.opcode != CONTINUATION {
                    return message(&head, input, start, limits, inflater);
                }
                self.begin(&head);
            }
            let end = input.len().min(at.saturating_add(self.left));
            self.gather(&mut input[at..end], limits)?;
            at = end;
            if self.left > 0 {
                return Ok(Step::Partial { used: at });
            }
            self.in_frame = false;
            if self.last {
                return self.finish(at, limits, inflater);
            }
        }
    }

    /// Reads a head and checks it in the order of its bytes, so that the same fault is found however they come. Gives
    /// `None` where bytes are missing.
    fn head(
        &self,
        input: &[u8],
        limits: &Limits,
        deflate: bool,
    ) -> Result<Option<FrameHead>, Fault> {
        let Some(&first) = input.first() else {
            return Ok(None);
        };
        let opcode = first & OPCODE;
        let (fin, compressed) = (first & FIN != 0, first & COMPRESSED != 0);
        if first & RESERVED != 0 || compressed && (!deflate || !matches!(opcode, TEXT | BINARY)) {
            return Err(Fault::ReservedBits);
        }
        match opcode {
            CONTINUATION if self.frames == 0 => return Err(Fault::NothingToContinue),
            TEXT | BINARY if self.frames > 0 => return Err(Fault::MessageNotEnded),
            CONTINUATION | TEXT | BINARY if self.frames >= limits.fragments => {
                return Err(Fault::TooManyFragments);
            }
            CLOSE | PING | PONG if !fin => return Err(Fault::ControlFragmented),
            CONTINUATION | TEXT | BINARY | CLOSE | PING | PONG => {}
            _ => return Err(Fault::ReservedOpcode),
        }

        let Some(&second) = input.get(1) else {
            return Ok(None);
        };
        if second & MASKED == 0 {
            return Err(Fault::Unmasked);
        }
        let short = second & !MASKED;
        if opcode >= CLOSE && short > LONGEST_CONTROL {
            return Err(Fault::ControlTooLong);
        }
        let rest = &input[2..];
        let (length, rest) = match short {
            LENGTH_16 => {
                let Some((bytes, rest)) = rest.split_first_chunk() else {
                    return Ok(None);
                };
                let length = u16::from_be_bytes(*bytes);
                if length <= u16::from(LONGEST_CONTROL) {
                    return Err(Fault::LengthNotShortest);
                }
                (u64::from(length), rest)
            }
            LENGTH_64 => {
                let Some((bytes, rest)) = rest.split_first_chunk() else {
                    return Ok(None);
                };
                let length = u64::from_be_bytes(*bytes);
                if length > i64::MAX as u64 {
                    return Err(Fault::LengthTopBit);
                }
                if u16::try_from(length).is_ok() {
                    return Err(Fault::LengthNotShortest);
                }
                (length, rest)
            }
            _ => (u64::from(short), rest),
        };
        // A control frame within a message does not count as a part of it.
        if opcode < CLOSE {
            let most = most(limits, compressed || self.compressed);
            if length > most.saturating_sub(self.data.len()) as u64 {
                return Err(Fault::MessageTooBig);
            }
        }
        let Some((mask, rest)) = rest.split_first_chunk() else {
            return Ok(None);
        };
        Ok(Some(FrameHead {
            fin,
            compressed,
            opcode,
            size: input.len() - rest.len(),
            length: length as usize,
            mask: *mask,
        }))
    }

    fn begin(&mut self, head: &FrameHead) {
        if head.opcode != CONTINUATION {
            self.text = head.opcode == TEXT;
            self.compressed = head.compressed;
        }
        self.frames += 1;
        self.in_frame = true;
        self.last = head.fin;
        self.left = head.length;
        self.mask = head.mask;
    }

    /// Takes the next bytes of the present frame.
    fn gather(&mut self, bytes: &mut [u8], limits: &Limits) -> Result<(), Fault> {
        unmask(bytes, self.mask);
        self.mask.rotate_left(bytes.len() % 4);
        self.grow(bytes.len(), limits);
        self.left -= bytes.len();
        self.data.extend_from_slice(bytes);
        if self.text && !self.compressed {
            self.check_text()?;
        }
        Ok(())
    }

    /// Makes room for `more` bytes: doubled, so that the time is linear, but never past what the message may take.
    fn grow(&mut self, more: usize, limits: &Limits) {
        let needed = self.data.len() + more;
        if needed <= self.data.capacity() {
            return;
        }
        let most = if self.last {
            self.data.len() + self.left
        } else {
            most(limits, self.compressed)
        };
        let wanted = (self.data.capacity() * 2).max(64).min(most).max(needed);
        self.data.reserve_exact(wanted - self.data.len());
    }

    /// Looks at each byte once, and at most three of them again: a text that cannot become UTF-8 fails at once.
    fn check_text(&mut self) -> Result<(), Fault> {
        match str::from_utf8(&self.data[self.checked..]) {
            Ok(_) => self.checked = self.data.len(),
            Err(error) => {
                let may_continue = error.error_len().is_none() && (self.left > 0 || !self.last);
                if !may_continue {
                    return Err(Fault::InvalidText);
                }
                self.checked += error.valid_up_to();
            }
        }
        Ok(())
    }

    fn finish(
        &mut self,
        used: usize,
        limits: &Limits,
        inflater: Option<&mut Inflater>,
    ) -> Result<Step, Fault> {
        let done = std::mem::replace(self, Self::new(self.deflate));
        if done.compressed {
            return inflated(used, done.text, &done.data, limits, inflater);
        }
        Ok(Step::Gathered {
            used,
            text: done.text,
            data: done.data,
        })
    }
}

/// The most bytes that the frames of a message may have.
fn most(limits: &Limits, compressed: bool) -> usize {
    if compressed {
        deflate::bound(limits.message)
    } else {
        limits.message
    }
}

/// A message in one frame that lies in the input from `start`.
fn message(
    head: &FrameHead,
    input: &mut [u8],
    start: usize,
    limits: &Limits,
    inflater: Option<&mut Inflater>,
) -> Result<Step, Fault> {
    let end = start + head.length;
    let payload = &mut input[start..end];
    let text = head.opcode == TEXT;
    let ascii = unmask(payload, head.mask);
    if head.compressed {
        return inflated(end, text, payload, limits, inflater);
    }
    if text && !ascii && str::from_utf8(payload).is_err() {
        return Err(Fault::InvalidText);
    }
    Ok(Step::Message {
        used: end,
        text,
        ascii: text && ascii,
        at: start..end,
    })
}

fn inflated(
    used: usize,
    text: bool,
    compressed: &[u8],
    limits: &Limits,
    inflater: Option<&mut Inflater>,
) -> Result<Step, Fault> {
    let inflater = inflater.ok_or(Fault::ReservedBits)?;
    let data = inflater.inflate(compressed, limits.message)?;
    if text && str::from_utf8(&data).is_err() {
        return Err(Fault::InvalidText);
    }
    Ok(Step::Gathered { used, text, data })
}

/// A control frame that lies in the input, unmasked.
fn control(opcode: u8, input: &[u8], at: Range<usize>) -> Result<Step, Fault> {
    let used = at.end;
    match opcode {
        PING => Ok(Step::Ping { used, at }),
        PONG => Ok(Step::Pong { used }),
        _ => {
            let (code, reason) = close::read(input, at)?;
            Ok(Step::Close { used, code, reason })
        }
    }
}
