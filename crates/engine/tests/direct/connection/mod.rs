//! The connection machine from the outside: bytes in, descriptors and replies out.

mod bodies;
mod limits;
mod pipelining;
mod replies;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
