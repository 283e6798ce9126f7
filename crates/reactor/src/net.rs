//! Listening and connected stream sockets, TCP and Unix, all non-blocking and close-on-exec.

mod address;
mod connect;
mod listener;
mod socket;

pub use address::{ListenAddr, Peer};
pub use connect::connect_tcp;
pub use listener::{Listener, listen_tcp, listen_unix};
pub use socket::{Recv, Send, Socket};
