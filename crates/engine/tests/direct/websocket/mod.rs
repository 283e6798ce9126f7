//! WebSockets on real sockets.

mod client;
mod closing;
mod compression;
mod idle;
mod messages;
#[cfg(feature = "faults")]
mod panics;
mod sum;
mod topics;
mod upgrade;
mod waiting;
