//! One socket and what it must remember.

use reactor::Interest;
use reactor::net::Socket;

use crate::frames::Reader;
use crate::spec::OWN;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Connecting,
    /// The handshake is sent.
    Asking,
    Open,
    Closed,
}

pub struct Peer {
    pub socket: Option<Socket>,
    pub state: State,
    pub interest: Interest,
    pub reader: Reader,
    /// What the kernel did not take yet, from `taken` on.
    pub unsent: Vec<u8>,
    pub taken: usize,
    /// The beginning of the handshake's reply.
    pub reply: Vec<u8>,
    /// The own part of the message that is coming.
    pub own: [u8; OWN],
    /// The own part of the message that was sent.
    pub sent: [u8; OWN],
    /// When it was sent, or when the connect began, in ns.
    pub since: u64,
    /// An echo is due.
    pub waits: bool,
    /// By publisher: whose message it has, of the round so numbered.
    pub got: u64,
    pub round: u64,
}

impl Peer {
    pub fn new(socket: Socket, interest: Interest, since: u64) -> Self {
        Self {
            socket: Some(socket),
            state: State::Connecting,
            interest,
            reader: Reader::default(),
            unsent: Vec::new(),
            taken: 0,
            reply: Vec::new(),
            own: [0; OWN],
            sent: [0; OWN],
            since,
            waits: false,
            got: 0,
            round: 0,
        }
    }
}
