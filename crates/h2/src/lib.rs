//! HTTP/2 for servers (RFC 9113, RFC 7541): turns frames into requests, and replies into frames. The crate does no I/O
//! and uses neither clocks nor sockets: the result of every function depends only on its arguments.
#![forbid(unsafe_code)]

mod budget;
mod closed;
mod error;
mod event;
mod flow;
pub mod frame;
mod head;
pub mod hpack;
mod limits;
mod priority;
mod session;
mod streams;

pub use error::ErrorCode;
pub use event::{Event, Key};
pub use head::RequestHead;
pub use limits::Limits;
pub use session::Session;
