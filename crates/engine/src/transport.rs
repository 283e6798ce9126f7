//! What stands between the engine and its sockets.

#[cfg(feature = "faults")]
mod delayed;

use std::io::IoSlice;
use std::os::fd::RawFd;

use reactor::net::{Recv, Send, Socket};

use crate::server::Server;

#[cfg(feature = "faults")]
pub use delayed::{Delayed, Delays};

/// How the bytes of a connection reach the network. `Connection::output` holds bytes as the transport sends them.
pub enum Transport {
    /// The bytes of the protocol are the bytes on the socket.
    Plain(Socket),
    /// For tests of protocols: bytes come late and in pieces.
    #[cfg(feature = "faults")]
    Delayed(Box<Delayed>),
}

impl Transport {
    /// The transport of a connection that `server` has accepted.
    pub fn new(socket: Socket, server: &mut Server) -> Self {
        #[cfg(feature = "faults")]
        if let Some(delays) = &mut server.delays {
            delays.seed += 1;
            return Self::Delayed(Box::new(Delayed::new(socket, *delays)));
        }
        let _ = server;
        Self::Plain(socket)
    }

    /// Receives what is there, up to the length of `room`.
    #[inline]
    pub fn receive(&mut self, room: &mut [u8]) -> Recv {
        match self {
            Self::Plain(socket) => socket.recv(room),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.receive(room),
        }
    }

    /// Gives whether it holds bytes that [`receive`](Self::receive) would give although the socket is not readable. The
    /// poller is level-triggered and says nothing of them, so whoever wants them must ask again.
    #[inline]
    pub fn pending(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.pending(),
        }
    }

    /// Gives whether there is something to receive, found out without taking it.
    pub fn peek(&self) -> Recv {
        match self {
            Self::Plain(socket) => socket.peek(),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.peek(),
        }
    }

    /// Whether the bytes of the protocol have to be [sealed](Self::seal) before they are sent. If not, they may be sent
    /// from where they are.
    #[inline]
    pub fn seals(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.seals(),
        }
    }

    /// Adds bytes of the protocol to `output` as they are sent. They are sent in the order in which they were sealed.
    #[inline]
    pub fn seal(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        match self {
            Self::Plain(_) => output.extend_from_slice(bytes),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.seal(bytes, output),
        }
    }

    /// Sends bytes that are sealed.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Send {
        match self {
            Self::Plain(socket) => socket.send(bytes),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.send(bytes),
        }
    }

    /// Sends `slices`, which are sealed, in order.
    #[inline]
    pub fn send_vectored(&mut self, slices: &[IoSlice]) -> Send {
        match self {
            Self::Plain(socket) => socket.send_vectored(slices),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.send_vectored(slices),
        }
    }

    /// Tells the peer that nothing more comes. Receiving goes on.
    pub fn shutdown_write(&mut self) {
        match self {
            Self::Plain(socket) => socket.shutdown_write(),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.socket().shutdown_write(),
        }
    }

    /// Closes in a way that the peer cannot take for a regular end.
    pub fn reset(self) {
        match self {
            Self::Plain(socket) => socket.reset(),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.into_socket().reset(),
        }
    }

    /// Has the kernel find out whether a silent peer is still there, by a probe every so many seconds.
    pub fn probe_peer(&self, seconds: i32) {
        match self {
            // This fails on Unix sockets, which report the peer's close by themselves.
            Self::Plain(socket) => drop(socket.probe_peer(seconds)),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => drop(transport.socket().probe_peer(seconds)),
        }
    }

    /// What the poller watches.
    #[inline]
    pub fn fd(&self) -> RawFd {
        match self {
            Self::Plain(socket) => socket.fd(),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.socket().fd(),
        }
    }
}
