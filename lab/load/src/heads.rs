//! Counting request heads by the blank line that ends each.

use std::sync::LazyLock;

use memchr::memmem::Finder;

const END: &[u8; 4] = b"\r\n\r\n";

/// Built once: it chooses the vector instructions of this machine.
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(END));

/// What one connection must remember between two receives.
#[derive(Default)]
pub struct Heads {
    /// How many bytes of `END` the received bytes end with, below 4.
    matched: usize,
}

impl Heads {
    /// How many heads end in `bytes`, the next of this connection.
    pub fn count(&mut self, bytes: &[u8]) -> usize {
        let mut count = 0;
        let mut rest = bytes;
        while self.matched > 0 {
            let Some((byte, after)) = rest.split_first() else {
                return count;
            };
            rest = after;
            self.step(*byte);
            if self.matched == END.len() {
                self.matched = 0;
                count += 1;
            }
        }
        let mut end = 0;
        for position in FINDER.find_iter(rest) {
            count += 1;
            end = position + END.len();
        }
        let tail = &rest[end..];
        self.matched = (1..END.len())
            .rev()
            .find(|len| tail.ends_with(&END[..*len]))
            .unwrap_or(0);
        count
    }

    fn step(&mut self, byte: u8) {
        self.matched = match (byte, self.matched) {
            (b'\r', 2) => 3,
            (b'\r', _) => 1,
            (b'\n', 1) => 2,
            (b'\n', 3) => 4,
            _ => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [(&[u8], usize); 8] = [
        (b"", 0),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1),
        (
            b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nA: b\r\n\r\nGET",
            2,
        ),
        (b"\r\n\r\n\r\n\r\n", 2),
        (b"\r\n\r\n\r\n", 1),
        (b"\r\r\n\r\n", 1),
        (b"\r\n\r\r\n\r\n", 1),
        (b"\n\r\n\r \r\n\n\r\n", 0),
    ];

    #[test]
    fn heads_in_one_piece() {
        for (bytes, expected) in SAMPLES {
            assert_eq!(
                Heads::default().count(bytes),
                expected,
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn heads_cut_anywhere() {
        for (bytes, expected) in SAMPLES {
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let mut heads = Heads::default();
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let count: usize = pieces.iter().map(|piece| heads.count(piece)).sum();
                    assert_eq!(
                        count,
                        expected,
                        "{} at {first}, {second}",
                        bytes.escape_ascii()
                    );
                }
            }
        }
    }
}
