use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Checks mutants of `seeds` for `FUZZ_SECONDS` (default 1), and at least 1,000 of them. A failing input is printed as
/// an escaped byte string, to become a row of the corpus.
pub fn run(name: &str, seeds: &[Vec<u8>], check: impl Fn(&[u8], &mut Random)) {
    let seconds = number("FUZZ_SECONDS").unwrap_or(1);
    let clock = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |time| time.as_nanos() as u64);
    let seed = number("FUZZ_SEED").unwrap_or(clock);
    println!("{name}: FUZZ_SEED={seed} FUZZ_SECONDS={seconds}");
    let mut random = Random(seed);
    let start = Instant::now();
    let mut count = 0_u64;
    while start.elapsed() < Duration::from_secs(seconds) || count < 1_000 {
        let bytes = random.mutant(seeds);
        let shown = Shown {
            name,
            seed,
            bytes: &bytes,
        };
        let begun = Instant::now();
        check(&bytes, &mut random);
        assert!(begun.elapsed() < Duration::from_secs(2), "a hang");
        drop(shown);
        count += 1;
    }
    println!("{name}: {count} inputs");
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

/// Prints the input if its check panics.
struct Shown<'a> {
    name: &'a str,
    seed: u64,
    bytes: &'a [u8],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!(
                "{}: FUZZ_SEED={} failed on b\"{}\"",
                self.name,
                self.seed,
                self.bytes.escape_ascii()
            );
        }
    }
}

/// What parsers trip over.
const TOKENS: &[&[u8]] = &[
    b"\r\n",
    b"\r",
    b"\n",
    b"\r\n\r\n",
    b"\n\n",
    b"\0",
    b" ",
    b"\t",
    b"\x0b",
    b"\x7f",
    b"\x80",
    b"\xff",
    b":",
    b";",
    b",",
    b"=",
    b"\"",
    b"\\",
    b"%",
    b"%2e",
    b"%00",
    b"%2f",
    b"%C3%A9",
    b"%c0%ae",
    b"/",
    b"/./",
    b"/../",
    b"//",
    b"?",
    b"#",
    b"*",
    b"@",
    b"0",
    b"1",
    b"f",
    b"0\r\n\r\n",
    b"ffffffffffffffff",
    b"5\r\nhello\r\n",
    b";a=b",
    b";a=\"b\"",
    b"HTTP/1.1",
    b"HTTP/1.0",
    b"HTTP/2.0",
    b"GET / HTTP/1.1\r\n",
    b"POST /a HTTP/1.1\r\nHost: a\r\n",
    b"OPTIONS * ",
    b"http://a",
    b"Host: a\r\n",
    b"Host:\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: x\r\n",
    b"Connection: close\r\n",
    b"Expect: 100-continue\r\n",
    b"X: y\r\n",
    b" folded\r\n",
    b"chunked",
    b"Transfer-Encoding",
    b"Content-Length",
    b"99999999999999999999",
];

/// `splitmix64`: small, seedable, good enough to pick mutations.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Up to eight offsets in ascending order.
    pub fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = (0..self.below(9)).map(|_| self.below(length + 1)).collect();
        cuts.sort_unstable();
        cuts
    }

    fn mutant(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let to = (at + self.below(12)).min(bytes.len());
            match self.below(8) {
                0 => bytes
                    .splice(at..at, TOKENS[self.below(TOKENS.len())].iter().copied())
                    .for_each(drop),
                1 => bytes
                    .splice(at..to, TOKENS[self.below(TOKENS.len())].iter().copied())
                    .for_each(drop),
                2 => bytes.drain(at..to).for_each(drop),
                3 => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = self.next() as u8;
                    }
                }
                4 => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
                5 => {
                    let piece = bytes[at..to].repeat(1 + self.below(40));
                    bytes.splice(at..at, piece).for_each(drop);
                }
                6 => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len() + 1);
                    bytes
                        .splice(at.., other[from..].iter().copied())
                        .for_each(drop);
                }
                _ => bytes.truncate(at),
            }
        }
        bytes.truncate(40_000);
        bytes
    }
}
