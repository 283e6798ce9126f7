//! Connections, exchanges, flow control, limits and shutdown. This crate ties `reactor`, `wire`, `route` and `ring`
//! together and knows nothing of Node.js.
//!
//! The caller drives it. [`Engine::collect`] reads sockets until a slice of requests is ready in the shared
//! memory; the caller lets JavaScript answer it; [`Engine::apply`] reads the reply records and sends them.
//! No method is called from inside another, and none while JavaScript runs.
#![forbid(unsafe_code)]

mod addresses;
mod close;
mod connection;
mod deadline;
mod engine;
mod exchange;
#[cfg(feature = "faults")]
pub mod faults;
mod handshake;
mod http1;
mod http2;
mod life;
mod output;
mod polling;
mod protocol;
mod receive;
mod records;
mod routing;
mod sending;
mod server;
mod shutdown;
mod slice;
mod supervised;
mod trailers;
mod transport;
#[cfg(feature = "faults")]
mod tunnel;
mod upload;
mod websocket;

#[cfg(not(feature = "faults"))]
mod faults {
    //! Injected panics exist only in builds with the `faults` feature.
    #[derive(Clone, Copy)]
    pub enum Stage {
        Parse,
        Route,
        Encode,
        Flush,
    }

    #[inline(always)]
    pub fn check(_: Stage) {}
}

pub use engine::{Engine, Turn};
pub use output::Retained;
pub use records::{NoReferences, References};
pub use server::{BodyMode, Limits, OFF, RouteSpec, ServerConfig, ServerStats};
pub use slice::abort;
#[cfg(feature = "faults")]
pub use transport::Delays;
pub use websocket::SocketSpec;
