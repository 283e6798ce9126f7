//! Tests HTTP/2 on real sockets.

mod bodies;
mod client;
mod ends;
mod flow;
#[cfg(feature = "faults")]
mod panics;
mod replies;
mod requests;
mod resets;
mod room;
mod sockets;
mod splits;
