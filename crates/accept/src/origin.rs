//! The bytes beside a connection that is passed, and those by which a worker acknowledges it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use reactor::net::Peer;

/// The length of an [`Origin`].
pub const ORIGIN_BYTES: usize = 32;
/// The length of an [`Acknowledgement`].
pub const ACKNOWLEDGEMENT_BYTES: usize = 12;

const UNIX: u8 = 0;
const V4: u8 = 4;
const V6: u8 = 6;

/// What is said of a connection: the listener that accepted it, and who connected. Both sides are one build of one
/// machine, so numbers have its byte order.
///
/// ```text
/// 0        2        4        6      8           12          16               32
/// listener family   port     (0)    scope id    flow info   address
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub listener: u16,
    pub peer: Peer,
}

impl Origin {
    pub fn to_bytes(self) -> [u8; ORIGIN_BYTES] {
        let mut bytes = [0; ORIGIN_BYTES];
        bytes[0..2].copy_from_slice(&self.listener.to_ne_bytes());
        let Peer::Tcp(address) = self.peer else {
            bytes[2] = UNIX;
            return bytes;
        };
        bytes[4..6].copy_from_slice(&address.port().to_ne_bytes());
        match address {
            SocketAddr::V4(v4) => {
                bytes[2] = V4;
                bytes[16..20].copy_from_slice(&v4.ip().octets());
            }
            SocketAddr::V6(v6) => {
                bytes[2] = V6;
                bytes[8..12].copy_from_slice(&v6.scope_id().to_ne_bytes());
                bytes[12..16].copy_from_slice(&v6.flowinfo().to_ne_bytes());
                bytes[16..32].copy_from_slice(&v6.ip().octets());
            }
        }
        bytes
    }

    /// Gives `None` for a family that no supervisor writes.
    pub fn from_bytes(bytes: &[u8; ORIGIN_BYTES]) -> Option<Self> {
        let two = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let four = |at: usize| {
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let mut octets = [0; 16];
        octets.copy_from_slice(&bytes[16..32]);
        let port = two(4);
        let peer = match bytes[2] {
            UNIX => Peer::Unix,
            V4 => {
                let ip = Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]);
                Peer::Tcp(SocketAddr::new(IpAddr::V4(ip), port))
            }
            V6 => {
                let ip = Ipv6Addr::from(octets);
                Peer::Tcp(SocketAddrV6::new(ip, port, four(12), four(8)).into())
            }
            _ => return None,
        };
        Some(Self {
            listener: two(0),
            peer,
        })
    }
}

/// What a worker says after it has taken connections, or let go of some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// How many connections it has got since it started, modulo 2³².
    pub received: u32,
    /// How many of these it had no descriptor for, modulo 2³². They are the last ones of those that it tells of now.
    pub lost: u32,
    /// How many are open in it.
    pub open: u32,
}

impl Acknowledgement {
    pub fn to_bytes(self) -> [u8; ACKNOWLEDGEMENT_BYTES] {
        let mut bytes = [0; ACKNOWLEDGEMENT_BYTES];
        bytes[..4].copy_from_slice(&self.received.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.lost.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.open.to_ne_bytes());
        bytes
    }

    pub fn from_bytes(bytes: [u8; ACKNOWLEDGEMENT_BYTES]) -> Self {
        let four = |at: usize| {
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            received: four(0),
            lost: four(4),
            open: four(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_survives_the_way_to_bytes_and_back() {
        let peers = [
            Peer::Unix,
            Peer::Tcp("127.0.0.1:65535".parse().unwrap()),
            Peer::Tcp("[::ffff:1.2.3.4]:9".parse().unwrap()),
            Peer::Tcp("[fe80::1%7]:1".parse().unwrap()),
        ];
        for peer in peers {
            for listener in [0, 7, u16::MAX] {
                let origin = Origin { listener, peer };
                assert_eq!(Origin::from_bytes(&origin.to_bytes()), Some(origin));
            }
        }
        assert_eq!(Origin::from_bytes(&[9; ORIGIN_BYTES]), None);
    }
}
