//! Connections that one process accepts and others serve: the supervisor has the listening sockets ([`Acceptor`]) and
//! passes each connection to the worker that has the fewest, whose [`Intake`] takes it.
//!
//! The supervisor keeps its copy of a connection until the worker has said that it has it. So none is lost where a
//! worker dies, and no listener is ever closed while there is a worker.

#![forbid(unsafe_code)]

mod acceptor;
mod clock;
mod intake;
mod listeners;
pub mod notify;
mod origin;
mod worker;

pub use acceptor::{Acceptor, Figures};
pub use clock::Clock;
pub use intake::Intake;
pub use origin::{ACKNOWLEDGEMENT_BYTES, Acknowledgement, ORIGIN_BYTES, Origin};
