//! The limits that are counted by, and the fingerprints of their keys.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::quota::Quota;

/// The most policies of a limit.
pub const MOST_POLICIES: usize = 16;

/// The policies of a limit, in the order in which they are checked.
pub struct Limit {
    secret: Secret,
    id: [u8; 16],
    quotas: Vec<Quota>,
}

/// The fingerprint of a key of one policy. The lower half of its second word names the limit (28 bits), so that the keys
/// of a limit can be counted, and the policy (4 bits), so that the keys of one policy do not push out those of another;
/// the other 96 bits tell keys apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key(pub(crate) u64, pub(crate) u64);

/// The random key of a table's hashes.
#[derive(Clone, Copy)]
pub(crate) struct Secret(pub u64, pub u64);

impl Limit {
    pub(crate) fn new(secret: Secret, identity: &[u8], quotas: Vec<Quota>) -> Option<Self> {
        if quotas.is_empty() || quotas.len() > MOST_POLICIES {
            return None;
        }
        let mut hasher = secret.hasher();
        hasher.write(identity);
        let id = hasher.finish128().as_bytes();
        Some(Self { secret, id, quotas })
    }

    /// Gives the key by which policy number `policy` counts `text`.
    pub fn key(&self, policy: usize, text: &[u8]) -> Key {
        let mut hasher = self.secret.hasher();
        hasher.write(&self.id);
        hasher.write_u64(policy as u64);
        hasher.write(text);
        let hash = hasher.finish128();
        let tag = self.tag() | (policy as u64 & POLICY);
        Key(hash.h1, (hash.h2 & !TAG) | tag)
    }

    pub fn quotas(&self) -> &[Quota] {
        &self.quotas
    }

    fn tag(&self) -> u64 {
        let [a, b, c, d, ..] = self.id;
        u64::from(u32::from_le_bytes([a, b, c, d])) & !POLICY
    }

    /// True for the second word of a key of this limit.
    pub(crate) fn has(&self, word: u64) -> bool {
        word & TAG & !POLICY == self.tag()
    }
}

/// Gives what names limit and policy in the second word of a key.
pub(crate) fn policy_of(word: u64) -> u32 {
    (word & TAG) as u32
}

const TAG: u64 = 0xffff_ffff;
const POLICY: u64 = MOST_POLICIES as u64 - 1;

impl Secret {
    fn hasher(self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.0, self.1)
    }
}
