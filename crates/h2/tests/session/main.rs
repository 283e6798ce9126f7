//! A session of HTTP/2 from the outside: the bytes of a client in, events and bytes out.

mod client;

mod attacks;
mod frames;
mod heads;
mod shutdown;
mod states;
mod windows;
