//! Listening and connected stream sockets, TCP and Unix, all non-blocking and close-on-exec, and their way to another
//! process.

mod address;
mod connect;
mod listener;
mod pass;
mod socket;

pub use address::{ListenAddr, Peer};
pub use connect::connect_tcp;
pub use listener::{Listener, listen_tcp, listen_unix};
pub use pass::{MOST_PASSED, adopt_socket, pair, receive_with, send_with};
pub use socket::{Recv, Send, Socket};
