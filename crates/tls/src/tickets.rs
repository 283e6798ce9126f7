//! Tickets with which clients resume sessions (RFC 8446 §4.6.1, RFC 5077). The server stores no sessions: the ticket
//! contains the session, encrypted.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{digest, hmac, rand};
use rustls::pki_types::UnixTime;
use rustls::server::ProducesTickets;

/// The length of `ticketKeys`, in bytes.
pub const SHARED_KEY_BYTES: usize = 48;
/// The time in seconds for which a key of [`Shared`] encrypts. The nonces are random, which is safe for 2^32 tickets of
/// a key (NIST SP 800-38D §8.3): 200,000 a second in this time.
const PERIOD: u64 = 6 * 60 * 60;

/// Adds the time to each ticket, and refuses tickets that are older than the session timeout.
pub struct Dated {
    inner: Arc<dyn ProducesTickets>,
    /// The session timeout in seconds.
    timeout: u32,
    now: fn() -> u64,
}

impl Dated {
    pub fn new(inner: Arc<dyn ProducesTickets>, timeout: u32) -> Self {
        Self {
            timeout: timeout.min(inner.lifetime()),
            inner,
            now: unix_seconds,
        }
    }
}

impl Debug for Dated {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Dated").finish_non_exhaustive()
    }
}

impl ProducesTickets for Dated {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        self.timeout
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let mut dated = Vec::with_capacity(plain.len() + 8);
        dated.extend_from_slice(&(self.now)().to_be_bytes());
        dated.extend_from_slice(plain);
        self.inner.encrypt(&dated)
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        let mut dated = self.inner.decrypt(cipher)?;
        let issued = u64::from_be_bytes(*dated.first_chunk()?);
        // The clock of another process may be ahead.
        if (self.now)().saturating_sub(issued) > u64::from(self.timeout) {
            return None;
        }
        dated.drain(..8);
        Some(dated)
    }
}

/// Issues tickets under a key that several processes have, so that each resumes the sessions of the others. A ticket is
/// the number of its period, a nonce, and the session under AES-256-GCM with the key of that period.
pub struct Shared {
    /// The keys of the periods are derived from it, and from the policy for client certificates, by HMAC.
    root: hmac::Key,
    policy: [u8; 32],
    /// The lifetime of a ticket in seconds.
    lifetime: u32,
    now: fn() -> u64,
}

impl Shared {
    /// Makes tickets from a shared key. `policy` separates the tickets of servers that verify clients in different
    /// ways.
    pub fn new(key: &[u8; SHARED_KEY_BYTES], policy: [u8; 32], lifetime: u32) -> Self {
        Self {
            root: hmac::Key::new(hmac::HMAC_SHA256, key),
            policy,
            lifetime,
            now: unix_seconds,
        }
    }

    fn key(&self, period: u32) -> Option<LessSafeKey> {
        let mut context = hmac::Context::with_key(&self.root);
        context.update(b"volant tls ticket 1");
        context.update(&self.policy);
        context.update(&period.to_be_bytes());
        let key = UnboundKey::new(&AES_256_GCM, context.sign().as_ref()).ok()?;
        Some(LessSafeKey::new(key))
    }

    fn period(&self) -> u32 {
        ((self.now)() / PERIOD) as u32
    }
}

impl Debug for Shared {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl ProducesTickets for Shared {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        self.lifetime
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let period = self.period();
        let mut nonce = [0; NONCE_LEN];
        rand::fill(&mut nonce).ok()?;
        let mut sealed = plain.to_vec();
        self.key(period)?
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(period.to_be_bytes()),
                &mut sealed,
            )
            .ok()?;
        Some([&period.to_be_bytes()[..], &nonce, &sealed].concat())
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        let (period, rest) = cipher.split_first_chunk::<4>()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
        let key = self.key(u32::from_be_bytes(*period))?;
        let mut plain = sealed.to_vec();
        let length = key
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(*period),
                &mut plain,
            )
            .ok()?
            .len();
        plain.truncate(length);
        Some(plain)
    }
}

/// Gives a digest of the policy for client certificates.
pub fn policy_digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut bytes = [0; 32];
    bytes.copy_from_slice(context.finish().as_ref());
    bytes
}

fn unix_seconds() -> u64 {
    UnixTime::now().as_secs()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn shared(key: u8, policy: u8) -> Shared {
        Shared::new(&[key; SHARED_KEY_BYTES], [policy; 32], 86_400)
    }

    #[test]
    fn a_ticket_opens_with_the_same_key_and_policy_and_with_no_other() {
        let ticket = shared(1, 1).encrypt(b"session").unwrap();
        assert_eq!(shared(1, 1).decrypt(&ticket).unwrap(), b"session");
        assert_eq!(shared(2, 1).decrypt(&ticket), None);
        assert_eq!(shared(1, 2).decrypt(&ticket), None);
        for at in 0..ticket.len() {
            let mut changed = ticket.clone();
            changed[at] ^= 1;
            assert_eq!(shared(1, 1).decrypt(&changed), None, "byte {at}");
            assert_eq!(shared(1, 1).decrypt(&ticket[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn the_keys_of_periods_differ_and_an_earlier_one_still_opens() {
        static NOW: AtomicU64 = AtomicU64::new(PERIOD * 100);
        let mut tickets = shared(1, 1);
        tickets.now = || NOW.load(Ordering::Relaxed);
        let ticket = tickets.encrypt(b"session").unwrap();
        NOW.fetch_add(PERIOD, Ordering::Relaxed);
        let later = tickets.encrypt(b"session").unwrap();
        assert_ne!(ticket[..4], later[..4]);
        assert_eq!(tickets.decrypt(&ticket).unwrap(), b"session");
        let relabelled = [&later[..4], &ticket[4..]].concat();
        assert_eq!(tickets.decrypt(&relabelled), None);
    }

    #[test]
    fn a_ticket_ends_with_the_session_timeout() {
        static NOW: AtomicU64 = AtomicU64::new(1_000_000);
        let mut tickets = Dated::new(Arc::new(shared(1, 1)), 300);
        tickets.now = || NOW.load(Ordering::Relaxed);
        assert_eq!(tickets.lifetime(), 300);
        let ticket = tickets.encrypt(b"session").unwrap();
        NOW.fetch_add(300, Ordering::Relaxed);
        assert_eq!(tickets.decrypt(&ticket).unwrap(), b"session");
        NOW.fetch_add(1, Ordering::Relaxed);
        assert_eq!(tickets.decrypt(&ticket), None);
    }

    #[test]
    fn the_timeout_is_at_most_the_life_of_the_keys() {
        let tickets = Dated::new(Arc::new(shared(1, 1)), u32::MAX);
        assert_eq!(tickets.lifetime(), 86_400);
    }

    #[test]
    fn parts_of_a_policy_are_told_apart() {
        let digest = |parts: &[&[u8]]| policy_digest(parts.iter().copied());
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_eq!(digest(&[b"ab", b"c"]), digest(&[b"ab", b"c"]));
    }
}
