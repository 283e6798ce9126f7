//! WebSockets from the outside: handshakes, and bytes to messages and back.

mod client;

mod deflate;
mod handshake;
mod receive;
mod send;
