//! Counts the connections of each address.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use reactor::net::Peer;

/// The counts by address. A client usually has at least a /64 of IPv6 addresses, so these count as one address.
#[derive(Default)]
pub struct Addresses(HashMap<Key, usize>);

/// An IPv4 address, or the first 64 bits of an IPv6 address.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl Addresses {
    /// Counts a connection, unless its address has `most` already. Unix sockets have no address and are not counted.
    pub fn admit(&mut self, peer: &Peer, most: usize) -> bool {
        let Some(key) = key(peer) else {
            return true;
        };
        let count = self.0.entry(key).or_default();
        let admitted = *count < most;
        *count += usize::from(admitted);
        admitted
    }

    /// Takes a connection out of the count, if it is in it.
    pub fn release(&mut self, peer: &Peer) {
        if self.0.is_empty() {
            return;
        }
        if let Some(key) = key(peer)
            && let Some(count) = self.0.get_mut(&key)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.0.remove(&key);
            }
        }
    }
}

fn key(peer: &Peer) -> Option<Key> {
    let Peer::Tcp(address) = peer else {
        return None;
    };
    let ip = match address {
        SocketAddr::V4(address) => IpAddr::V4(*address.ip()),
        SocketAddr::V6(address) => address.ip().to_canonical(),
    };
    Some(match ip {
        IpAddr::V4(ip) => Key::V4(ip.octets()),
        IpAddr::V6(ip) => Key::V6(*ip.octets().first_chunk()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(ip: &str) -> Peer {
        Peer::Tcp(SocketAddr::new(ip.parse().unwrap(), 1))
    }

    #[test]
    fn each_address_has_its_own_count() {
        let mut addresses = Addresses::default();
        assert!(addresses.admit(&peer("10.0.0.1"), 2));
        assert!(addresses.admit(&peer("::ffff:10.0.0.1"), 2), "the same");
        assert!(!addresses.admit(&peer("10.0.0.1"), 2));
        assert!(addresses.admit(&peer("10.0.0.2"), 2));
        addresses.release(&peer("10.0.0.1"));
        assert!(addresses.admit(&peer("10.0.0.1"), 2));
        assert!(!addresses.admit(&peer("10.0.0.1"), 2));
    }

    #[test]
    fn the_addresses_of_one_64_bit_prefix_are_one() {
        let mut addresses = Addresses::default();
        assert!(addresses.admit(&peer("2001:db8:0:1::1"), 1));
        assert!(!addresses.admit(&peer("2001:db8:0:1:ffff::2"), 1));
        assert!(addresses.admit(&peer("2001:db8:0:2::1"), 1));
    }

    #[test]
    fn an_address_without_connections_is_forgotten() {
        let mut addresses = Addresses::default();
        addresses.admit(&peer("10.0.0.1"), 1);
        assert!(!addresses.admit(&peer("10.0.0.1"), 1), "not counted");
        addresses.release(&peer("10.0.0.1"));
        addresses.release(&peer("10.0.0.1"));
        assert!(addresses.0.is_empty());
        assert!(addresses.admit(&Peer::Unix, 0), "it has no address");
    }
}
