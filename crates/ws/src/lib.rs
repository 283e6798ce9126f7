//! WebSocket for servers (RFC 6455): the handshake's fields, frames to messages and back, and compression of messages (RFC
//! 7692). The crate does no I/O, reads no clock and knows nothing of sockets: the result of every function depends on its
//! input bytes and limits alone.
//!
//! A [`Receiver`] unmasks in place. A message that lies in one receive as one frame is not copied; any other is gathered
//! in one `Vec` that grows with what has arrived, never with what was announced. A verdict never depends on how the bytes
//! were cut into receives: `tests/mutate.rs` tests that.
#![forbid(unsafe_code)]

mod close;
mod deflate;
mod fault;
mod frame;
mod handshake;
mod negotiate;
mod receive;
mod unmask;

pub use close::{ClosePayload, LONGEST_REASON, close_payload, is_close_code};
pub use deflate::{Deflater, Inflater};
pub use fault::Fault;
pub use frame::{Head, Opcode, frame_head};
pub use handshake::{ACCEPT, KEY, accept_key};
pub use negotiate::{Deflate, negotiate};
pub use receive::{Limits, Receiver, Step};
