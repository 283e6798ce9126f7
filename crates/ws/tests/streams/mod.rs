//! Streams of frames, right and wrong, and their mutants.

use mutants::Random;
use ws::Deflater;

use crate::client::{BINARY, CLOSE, CONTINUATION, FIN, PING, PONG, TEXT, frame};

/// Checks mutants of `seeds`.
pub fn run(name: &str, seeds: &[Vec<u8>], check: impl FnMut(&[u8], &mut Random)) {
    mutants::run(name, |random| mutant(random, seeds), check);
}

/// Streams of several frames each.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut deflated = Vec::new();
    Deflater::new().deflate("Grüße, Grüße, Grüße, 世界, 𝄞".as_bytes(), &mut deflated);
    let (first, last) = deflated.split_at(deflated.len() / 2);
    let compressed = 0x40;
    let streams: &[&[Vec<u8>]] = &[
        &[frame(FIN | TEXT, b"hello"), frame(FIN | BINARY, &[0, 255])],
        &[
            frame(TEXT, "Grüße, \u{4e16}".as_bytes()),
            frame(FIN | PING, b"ping"),
            frame(CONTINUATION, b"\xe7\x95"),
            frame(FIN | PONG, b""),
            frame(FIN | CONTINUATION, b"\x8c, \xf0\x9d\x84\x9e"),
            frame(FIN | TEXT, b""),
        ],
        &[
            frame(FIN | BINARY, &[7; 126]),
            frame(FIN | BINARY, &[8; 1_000]),
            frame(FIN | BINARY, &vec![9; 65_536]),
        ],
        &[
            frame(FIN | TEXT, b"bye"),
            frame(FIN | CLOSE, b"\x03\xe8bye"),
            frame(FIN | TEXT, b"unread"),
        ],
        &[
            frame(FIN | compressed | TEXT, &deflated),
            frame(compressed | TEXT, first),
            frame(FIN | PING, b""),
            frame(FIN | CONTINUATION, last),
        ],
    ];
    streams.iter().map(|frames| frames.concat()).collect()
}

/// A frame that is right more often than not.
fn some_frame(random: &mut Random) -> Vec<u8> {
    const FIRST: [u8; 8] = [
        FIN | TEXT,
        FIN | BINARY,
        TEXT,
        BINARY,
        CONTINUATION,
        FIN | CONTINUATION,
        FIN | PING,
        FIN | CLOSE,
    ];
    let mut first = FIRST[random.below(FIRST.len())];
    if random.chance(10) {
        first ^= 1 << random.below(8);
    }
    let length = [0, 1, 2, 3, 5, 125, 126, 300][random.below(8)];
    let byte = random.next() as u8;
    let payload: Vec<u8> = match random.below(3) {
        0 => vec![b'a'; length],
        1 => "ü𝄞".bytes().cycle().take(length).collect(),
        _ => vec![byte; length],
    };
    frame(first, &payload)
}

fn mutant(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let place = random.place(&bytes);
        match random.below(9) {
            0 => bytes
                .splice(place.start..place.start, some_frame(random))
                .for_each(drop),
            1 => bytes.extend(some_frame(random)),
            2 => {
                let count = 1 + random.below(5);
                let before: Vec<u8> = (0..count).flat_map(|_| some_frame(random)).collect();
                bytes.splice(0..0, before).for_each(drop);
            }
            _ => random.change(&mut bytes, place, seeds),
        }
    }
    bytes
}
