//! What stands between the engine and its sockets.

#[cfg(feature = "faults")]
mod delayed;
mod tls;

use std::io::IoSlice;
use std::os::fd::RawFd;

use ::tls::Link;
use h2::Key;
use reactor::net::{Recv, Send, Socket};

use crate::connection::ConnectionId;
use crate::server::Server;

#[cfg(feature = "faults")]
pub use delayed::{Delayed, Delays};
pub use tls::{Opened, Tls};

/// How the bytes of a connection reach the network. `Connection::output` holds bytes as the transport sends them.
pub enum Transport {
    /// The bytes of the protocol are the bytes on the socket.
    Plain(Socket),
    /// The bytes on the socket are TLS records.
    Tls(Box<Tls>),
    /// The bytes belong to a stream of another connection, which takes them from the output when it has room.
    Stream(Place),
    /// For tests of protocols: bytes come late and in pieces.
    #[cfg(feature = "faults")]
    Delayed(Box<Delayed>),
}

/// A stream of HTTP/2: its connection, and its key in that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub parent: ConnectionId,
    pub key: Key,
}

impl Transport {
    /// Makes the transport of a connection that `server` has accepted; `None` if the TLS library refuses it.
    pub fn new(socket: Socket, server: &mut Server) -> Option<Self> {
        let below = Self::below(socket, server);
        match &server.tls {
            None => Some(below),
            Some(tls) => {
                let link = Link::new(&tls.settings).ok()?;
                Some(Self::Tls(Box::new(Tls::new(below, link))))
            }
        }
    }

    fn below(socket: Socket, server: &mut Server) -> Self {
        #[cfg(feature = "faults")]
        if let Some(delays) = &mut server.delays {
            delays.seed += 1;
            return Self::Delayed(Box::new(Delayed::new(socket, *delays)));
        }
        let _ = server;
        Self::Plain(socket)
    }

    /// Receives at most the length of `room`; over TLS these bytes are ciphertext.
    #[inline(always)]
    pub fn receive(&mut self, room: &mut [u8]) -> Recv {
        if let Self::Plain(socket) = self {
            socket.recv(room)
        } else {
            self.receive_indirectly(room)
        }
    }

    // LLVM does not inline a function that calls itself.
    fn receive_indirectly(&mut self, room: &mut [u8]) -> Recv {
        match self {
            Self::Plain(socket) => socket.recv(room),
            Self::Tls(tls) => tls.below.receive(room),
            Self::Stream(_) => Recv::WouldBlock,
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
            Self::Tls(tls) => tls.pending(),
            Self::Stream(_) => false,
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.pending(),
        }
    }

    /// Gives whether there is something to receive, found out without taking it.
    pub fn peek(&self) -> Recv {
        match self {
            Self::Plain(socket) => socket.peek(),
            Self::Tls(tls) => tls.peek(),
            Self::Stream(_) => Recv::WouldBlock,
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
            // The output waits until its connection has room.
            Self::Tls(_) | Self::Stream(_) => true,
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.seals(),
        }
    }

    /// Adds bytes of the protocol to `output` as they are sent. They are sent in the order in which they were sealed.
    #[inline]
    pub fn seal(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        match self {
            Self::Plain(_) | Self::Stream(_) => output.extend_from_slice(bytes),
            Self::Tls(tls) => tls.seal(bytes, output),
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.seal(bytes, output),
        }
    }

    /// Sends bytes that are sealed.
    #[inline(always)]
    pub fn send(&mut self, bytes: &[u8]) -> Send {
        if let Self::Plain(socket) = self {
            socket.send(bytes)
        } else {
            self.send_indirectly(bytes)
        }
    }

    fn send_indirectly(&mut self, bytes: &[u8]) -> Send {
        match self {
            Self::Plain(socket) => socket.send(bytes),
            Self::Tls(tls) => tls.below.send(bytes),
            Self::Stream(_) => Send::WouldBlock,
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.send(bytes),
        }
    }

    /// Sends `slices`, which are sealed, in order.
    #[inline]
    pub fn send_vectored(&mut self, slices: &[IoSlice]) -> Send {
        match self {
            Self::Plain(socket) => socket.send_vectored(slices),
            Self::Tls(tls) => tls.below.send_vectored(slices),
            Self::Stream(_) => Send::WouldBlock,
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.send_vectored(slices),
        }
    }

    /// Tells the peer that nothing more comes. Receiving goes on.
    pub fn shutdown_write(&mut self) {
        match self {
            Self::Plain(socket) => socket.shutdown_write(),
            Self::Tls(tls) => {
                tls.close();
                tls.below.shutdown_write();
            }
            Self::Stream(_) => {}
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.socket().shutdown_write(),
        }
    }

    /// Tells the peer before the socket is closed that the received data is complete.
    pub fn say_goodbye(&mut self) {
        if let Self::Tls(tls) = self {
            tls.close();
        }
    }

    #[inline]
    pub fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Returns true when nothing more can be encrypted: the link has ended by a fault, or its keys are used up.
    pub fn has_failed(&self) -> bool {
        matches!(self, Self::Tls(tls) if tls.link().failed())
    }

    /// Gives the TLS side of a TLS transport.
    pub fn link(&self) -> Option<&Link> {
        if let Self::Tls(tls) = self {
            Some(tls.link())
        } else {
            None
        }
    }

    /// Gives the stream, if the transport is one.
    #[inline]
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Stream(place) => Some(*place),
            _ => None,
        }
    }

    /// Closes in a way that the peer cannot take for a regular end.
    pub fn reset(self) {
        match self {
            Self::Plain(socket) => socket.reset(),
            Self::Tls(tls) => tls.below.reset(),
            Self::Stream(_) => {}
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => transport.into_socket().reset(),
        }
    }

    /// Has the kernel find out whether a silent peer is still there, by a probe every so many seconds.
    pub fn probe_peer(&self, seconds: i32) {
        match self {
            // This fails on Unix sockets, which report the peer's close by themselves.
            Self::Plain(socket) => drop(socket.probe_peer(seconds)),
            Self::Tls(tls) => tls.below.probe_peer(seconds),
            Self::Stream(_) => {}
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => drop(transport.socket().probe_peer(seconds)),
        }
    }

    /// Gives the descriptor that the poller watches; a stream has none.
    #[inline]
    pub fn fd(&self) -> Option<RawFd> {
        match self {
            Self::Plain(socket) => Some(socket.fd()),
            Self::Tls(tls) => tls.below.fd(),
            Self::Stream(_) => None,
            #[cfg(feature = "faults")]
            Self::Delayed(transport) => Some(transport.socket().fd()),
        }
    }
}
