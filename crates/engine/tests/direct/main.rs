//! The engine from the outside, on real sockets that take and give at once what they can. `delayed` has most of it over
//! a transport that delays.

mod driver;

mod clock;
mod closing;
mod connection;
mod deadlines;
#[cfg(feature = "faults")]
mod faults;
mod half_close;
mod http2;
mod interim;
mod passed;
mod retained;
mod tls;
#[cfg(feature = "faults")]
mod tunnel;
mod turns;
mod websocket;
