//! Authenticated encryption of small texts. A sealed text is `v1.ID.IV.CIPHERTEXT`: the id of the key, the
//! initialisation vector, and the ciphertext with its tag (AES-256-GCM), each in base64url without padding. Version, id
//! and a name are authenticated with it, so that it opens under its own name alone. It has one spelling, since base64url
//! is read strictly.
//!
//! `packages/volant/src/cookies/node-sealing.ts` does the same by node:crypto; the cases in `crates/seal/cases` test
//! both.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The most bytes of a text: four times what a cookie carries.
pub const LONGEST_TEXT: usize = 16_384;
/// The most bytes of a name.
pub const LONGEST_NAME: usize = 256;
/// The most bytes of a sealed text.
pub const LONGEST_SEALED: usize = HEAD + encoded(LONGEST_TEXT + TAG);
/// The bytes of an initialisation vector.
pub const IV: usize = 12;

const SECRET: usize = 32;
const ID: usize = 6;
const TAG: usize = 16;
const VERSION: &[u8] = b"v1.";
/// A key with its schedule and its tables for GCM, as measured.
const MEMORY: usize = 800;
/// Version and id, each with its dot.
const PREFIX: usize = VERSION.len() + encoded(ID) + 1;
/// What stands before the ciphertext.
const HEAD: usize = PREFIX + encoded(IV) + 1;

const fn encoded(bytes: usize) -> usize {
    (bytes * 4).div_ceil(3)
}

/// Keys for one purpose: the first seals, and each of them opens.
pub struct KeyRing {
    keys: Vec<Key>,
}

struct Key {
    prefix: [u8; PREFIX],
    cipher: LessSafeKey,
}

impl KeyRing {
    /// Takes for each key its 32 bytes and the 6 bytes of its id. Gives `None` for no key, or a part of one.
    pub fn new(derived: &[u8]) -> Option<Self> {
        let (keys, rest) = derived.as_chunks::<{ SECRET + ID }>();
        if keys.is_empty() || !rest.is_empty() {
            return None;
        }
        let keys = keys.iter().map(Key::new).collect::<Option<_>>()?;
        Some(Self { keys })
    }

    /// About as many bytes of memory as it takes.
    pub fn memory(&self) -> usize {
        self.keys.len() * MEMORY
    }

    /// Seals `text` under `name`, and gives it in `out`. Each text needs an `iv` of its own, which has to be random.
    /// Gives `None` if text or name is too long.
    pub fn seal<'a>(
        &self,
        iv: [u8; IV],
        name: &[u8],
        text: &[u8],
        out: &'a mut Sealed,
    ) -> Option<&'a str> {
        if text.len() > LONGEST_TEXT {
            return None;
        }
        let key = self.keys.first()?;
        let Sealed {
            bytes,
            text: sealed,
        } = out;
        bytes.clear();
        bytes.extend_from_slice(text);
        let (nonce, aad) = (Nonce::assume_unique_for_key(iv), key.associated(name)?);
        key.cipher
            .seal_in_place_append_tag(nonce, aad, bytes)
            .ok()?;
        sealed.clear();
        sealed.extend(key.prefix.iter().map(|byte| char::from(*byte)));
        URL_SAFE_NO_PAD.encode_string(iv, sealed);
        sealed.push('.');
        URL_SAFE_NO_PAD.encode_string(bytes, sealed);
        Some(sealed)
    }

    /// Gives the text that was sealed under `name`, in `out`. Gives `None` for anything else.
    pub fn open<'a>(&self, name: &[u8], sealed: &[u8], out: &'a mut Vec<u8>) -> Option<&'a str> {
        if sealed.len() > LONGEST_SEALED {
            return None;
        }
        let (prefix, rest) = sealed.split_first_chunk::<PREFIX>()?;
        let (vector, rest) = rest.split_first_chunk::<{ encoded(IV) }>()?;
        let ciphertext = rest.strip_prefix(b".")?;
        let key = self.keys.iter().find(|key| key.prefix == *prefix)?;
        let mut iv = [0; IV];
        URL_SAFE_NO_PAD.decode_slice(vector, &mut iv).ok()?;
        out.clear();
        URL_SAFE_NO_PAD.decode_vec(ciphertext, out).ok()?;
        let (nonce, aad) = (Nonce::assume_unique_for_key(iv), key.associated(name)?);
        let text = key.cipher.open_in_place(nonce, aad, out).ok()?;
        str::from_utf8(text).ok()
    }
}

/// The memory that texts are sealed in. Used again, it allocates nothing.
#[derive(Default)]
pub struct Sealed {
    bytes: Vec<u8>,
    text: String,
}

/// What is authenticated beside the text: version, id and name.
struct Associated {
    bytes: [u8; PREFIX + LONGEST_NAME],
    length: usize,
}

impl AsRef<[u8]> for Associated {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Key {
    fn new(derived: &[u8; SECRET + ID]) -> Option<Self> {
        let (secret, id) = derived.split_at(SECRET);
        let mut prefix = [b'.'; PREFIX];
        prefix[..VERSION.len()].copy_from_slice(VERSION);
        URL_SAFE_NO_PAD
            .encode_slice(id, &mut prefix[VERSION.len()..PREFIX - 1])
            .ok()?;
        let cipher = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, secret).ok()?);
        Some(Self { prefix, cipher })
    }

    fn associated(&self, name: &[u8]) -> Option<Aad<Associated>> {
        let length = PREFIX + name.len();
        let mut bytes = [0; PREFIX + LONGEST_NAME];
        bytes.get_mut(PREFIX..length)?.copy_from_slice(name);
        bytes[..PREFIX].copy_from_slice(&self.prefix);
        Some(Aad::from(Associated { bytes, length }))
    }
}
