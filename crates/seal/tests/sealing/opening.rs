//! What opens, and what does not. `FUZZ_SECONDS` (default 1) bounds the mutation fuzz, `FUZZ_SEED` repeats a run.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use seal::{IV, KeyRing, LONGEST_NAME, LONGEST_SEALED, LONGEST_TEXT, Sealed};

/// Bytes of what is derived from a key.
const DERIVED: usize = 38;

fn ring(keys: &[u8]) -> KeyRing {
    let derived: Vec<u8> = keys.iter().flat_map(|key| [*key; DERIVED]).collect();
    KeyRing::new(&derived).unwrap()
}

fn sealed(ring: &KeyRing, name: &str, text: &str) -> String {
    let mut out = Sealed::default();
    let sealed = ring.seal([7; IV], name.as_bytes(), text.as_bytes(), &mut out);
    sealed.unwrap().to_owned()
}

fn open(ring: &KeyRing, name: &str, sealed: &[u8]) -> Option<String> {
    let mut out = vec![1; 50];
    ring.open(name.as_bytes(), sealed, &mut out)
        .map(str::to_owned)
}

#[test]
fn takes_whole_keys_alone() {
    for length in [0, 1, DERIVED - 1, DERIVED + 1, 2 * DERIVED - 1] {
        assert!(KeyRing::new(&vec![1; length]).is_none(), "{length}");
    }
    assert!(KeyRing::new(&[1; 2 * DERIVED]).is_some());
}

#[test]
fn opens_by_each_key_of_the_ring() {
    let text = sealed(&ring(&[1]), "a", "text");
    assert_eq!(open(&ring(&[1]), "a", text.as_bytes()).unwrap(), "text");
    assert_eq!(
        open(&ring(&[3, 2, 1]), "a", text.as_bytes()).unwrap(),
        "text"
    );
    assert_eq!(open(&ring(&[2, 3]), "a", text.as_bytes()), None);
}

#[test]
fn keys_with_one_id_are_not_taken_for_each_other() {
    let mut derived = [1; DERIVED];
    let text = sealed(&KeyRing::new(&derived).unwrap(), "a", "text");
    derived[0] = 2;
    assert_eq!(
        open(&KeyRing::new(&derived).unwrap(), "a", text.as_bytes()),
        None
    );
}

#[test]
fn opens_under_its_name_alone() {
    let ring = ring(&[1]);
    let text = sealed(&ring, "name", "text");
    for name in ["", "nam", "names", "Name", &"n".repeat(LONGEST_NAME + 1)] {
        assert_eq!(open(&ring, name, text.as_bytes()), None, "{name}");
    }
}

#[test]
fn limits() {
    let ring = ring(&[1]);
    let (name, text) = ("n".repeat(LONGEST_NAME), "x".repeat(LONGEST_TEXT));
    let longest = sealed(&ring, &name, &text);
    assert_eq!(longest.len(), LONGEST_SEALED);
    assert_eq!(open(&ring, &name, longest.as_bytes()).unwrap(), text);
    assert_eq!(open(&ring, &name, &vec![b'A'; LONGEST_SEALED + 1]), None);

    let mut out = Sealed::default();
    let long = vec![b'x'; LONGEST_TEXT + 1];
    assert_eq!(ring.seal([7; IV], b"", &long, &mut out), None);
    let long = vec![b'n'; LONGEST_NAME + 1];
    assert_eq!(ring.seal([7; IV], &long, b"", &mut out), None);
    assert_eq!(sealed(&ring, "", "").len(), 51);
}

#[test]
fn has_one_spelling() {
    let ring = ring(&[1]);
    for text in ["", "a", "ab", "abc"] {
        let sealed = sealed(&ring, "a", text).into_bytes();
        for at in 0..sealed.len() {
            for byte in 0..=255 {
                let mut other = sealed.clone();
                other[at] = byte;
                assert_eq!(open(&ring, "a", &other).is_some(), other == sealed);
                other.splice(at..=at, [byte, sealed[at]]);
                assert_eq!(open(&ring, "a", &other), None);
            }
            assert_eq!(open(&ring, "a", &sealed[..at]), None);
            assert_eq!(open(&ring, "a", &sealed[at + 1..]), None);
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_open_to_nothing() {
    let ring = ring(&[1]);
    let mut out = Sealed::default();
    let sealed = ring.seal([7; IV], b"a", b"\xff", &mut out).unwrap();
    assert_eq!(open(&ring, "a", sealed.as_bytes()), None);
}

/// No mutant opens, unless it is one of the sealed texts themselves.
#[test]
fn mutants() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let seconds = number("FUZZ_SECONDS").unwrap_or(1);
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("FUZZ_SEED").unwrap_or(clock.as_nanos() as u64);
    println!("FUZZ_SEED={seed} FUZZ_SECONDS={seconds}");
    let mut random = Random(seed | 1);

    let rings = [ring(&[1]), ring(&[2, 1]), ring(&[1, 2])];
    let texts = [
        "",
        "a",
        "ab",
        r#"{"user":"Ada"}"#,
        "Grüße",
        &"x".repeat(300),
    ];
    let mut known = HashMap::new();
    for ring in &rings {
        for text in texts {
            known.insert(sealed(ring, "a", text).into_bytes(), text);
        }
    }
    let seeds: Vec<Vec<u8>> = known.keys().cloned().collect();
    let start = Instant::now();
    let mut count = 0_u64;
    while start.elapsed() < Duration::from_secs(seconds) || count < 10_000 {
        let mut bytes = random.pick(&seeds).clone();
        for _ in 0..=random.below(3) {
            random.mutate(&mut bytes, &seeds);
        }
        let opened = open(&rings[1], "a", &bytes);
        assert_eq!(
            opened.as_deref(),
            known.get(&bytes).copied(),
            "{}",
            bytes.escape_ascii()
        );
        count += 1;
    }
    println!("{count} mutants");
}

/// xorshift64: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        const TOKENS: &[&[u8]] = &[
            b".", b"..", b"=", b"v1.", b"v2.", b"A", b"_", b"+", b"\0", b"\xff", b" ",
        ];
        let at = self.below(bytes.len() + 1);
        let to = at + self.below(bytes.len() + 1 - at);
        match self.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 => drop(bytes.drain(at..to)),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, self.pick(TOKENS).iter().copied())),
            4 => drop(bytes.splice(at..to, bytes[at..to].repeat(2))),
            _ => {
                // The end of one sealed text behind the beginning of another.
                let other = self.pick(seeds);
                bytes.truncate(at);
                bytes.extend(&other[at.min(other.len())..]);
            }
        }
    }
}
