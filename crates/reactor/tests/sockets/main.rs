//! Sockets and pollers against the standard library's clients.

mod net;
mod poller;
