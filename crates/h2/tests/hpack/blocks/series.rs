//! Random blocks of one connection: mostly valid output of an encoder, some of it changed in a few places. A series is
//! one vector of bytes, in which the length of each block precedes it in two bytes.

use mutants::Random;

use super::code;
use super::literal::Literal;

const NAMES: [&str; 24] = [
    ":path",
    ":authority",
    ":scheme",
    ":protocol",
    "cookie",
    "accept",
    "user-agent",
    "x-request-id",
    "priority",
    "content-length",
    "te",
    "connection",
    "a",
    "x-a",
    "x-forwarded-for",
    "set-cookie",
    "referer",
    "accept-language",
    "host",
    "www-authenticate",
    "strict-transport-security",
    "sec-ch-ua-platform",
    "if-none-match",
    "via",
];

/// Makes a series of up to eight blocks.
pub fn series(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    // This decoder tells how many fields the dynamic table has.
    let mut literal = Literal::new(4_096);
    for _ in 0..=random.below(8) {
        let mut block = block(random, literal.table.len());
        // A block with an error is the last block of a connection, so the result is ignored.
        let _ = literal.decode(&block);
        if random.chance(24) {
            let place = random.place(&block);
            random.change(&mut block, place, std::slice::from_ref(&bytes));
        }
        bytes.extend((block.len() as u16).to_be_bytes());
        bytes.extend(block);
    }
    if random.chance(4) {
        let place = random.place(&bytes);
        let own = bytes.clone();
        random.change(&mut bytes, place, &[own]);
    }
    bytes
}

/// Splits any bytes into blocks.
pub fn blocks(series: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    let mut rest = series;
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes(*length)).min(after.len());
        let (block, after) = after.split_at(length);
        blocks.push(block);
        rest = after;
    }
    blocks
}

fn block(random: &mut Random, mut in_table: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if random.chance(10) {
        let count = [1, 1, 1, 1, 2, 2, 2, 3][random.below(8)];
        for _ in 0..count {
            let size = [0, 31, 64, 100, 4_096, 4_096, 4_096, 4_097];
            let kind = random.below(24);
            let size = size.get(kind).copied().unwrap_or(random.below(4_097));
            integer(&mut out, random, 0x20, 5, size);
        }
    }
    for _ in 0..random.below(14) {
        field(&mut out, random, &mut in_table);
    }
    out
}

fn field(out: &mut Vec<u8>, random: &mut Random, in_table: &mut usize) {
    let kind = random.below(160);
    let (flags, prefix) = match kind {
        0..64 => (0x80, 7),
        64..120 => (0x40, 6),
        120..140 => (0x00, 4),
        140..159 => (0x10, 4),
        _ => (0x20, 5),
    };
    let index = match random.below(200) {
        0 => 0,
        // Most of these indices are beyond the table.
        1 => 1 + random.below(300),
        2..100 if *in_table > 0 => 62 + random.below(*in_table),
        // Lower indices are pseudo-header fields, which `h2` would seldom accept with these values.
        2..195 if prefix < 7 => 15 + random.below(47),
        _ => 1 + random.below(61),
    };
    if prefix >= 7 || random.chance(2) {
        integer(out, random, flags, prefix, index);
    } else {
        integer(out, random, flags, prefix, 0);
        let name = name(random);
        string(out, random, &name);
    }
    if prefix == 5 || prefix == 7 {
        return;
    }
    let value = value(random);
    string(out, random, &value);
    // The count is too high if fields were evicted. The next block gets the right one.
    *in_table += usize::from(prefix == 6);
}

fn name(random: &mut Random) -> Vec<u8> {
    match random.below(12) {
        0 if random.chance(20) => text(random, 1..=255, 3),
        1 if random.chance(20) => [&b"Accept"[..], b":status", b":method"][random.below(3)].into(),
        1..3 => text(random, b'a'..=b'z', 30),
        3 if random.chance(12) => text(random, b'-'..=b'z', 200),
        _ => NAMES[random.below(NAMES.len())].into(),
    }
}

fn value(random: &mut Random) -> Vec<u8> {
    match random.below(24) {
        0 if random.chance(6) => text(random, 0..=255, 20),
        1 if random.chance(4) => text(random, b' '..=b'~', 2_000),
        2 if random.chance(8) => text(random, b'0'..=b'9', 4_200),
        3..8 => text(random, b' '..=b'~', 150),
        8 => text(random, b'1'..=b'5', 4),
        _ => text(random, b'a'..=b'z', 20),
    }
}

fn text(random: &mut Random, range: std::ops::RangeInclusive<u8>, most: usize) -> Vec<u8> {
    let (low, span) = (*range.start(), usize::from(range.end() - range.start()) + 1);
    let length = random.below(most);
    (0..length)
        .map(|_| low + random.below(span) as u8)
        .collect()
}

fn string(out: &mut Vec<u8>, random: &mut Random, text: &[u8]) {
    if random.chance(2) {
        integer(out, random, 0, 7, text.len());
        out.extend(text);
        return;
    }
    let mut coded = code::encode(text);
    match random.below(600) {
        0 => coded.push(0xff),
        1 => coded = [0xff; 4].to_vec(),
        2 => coded
            .iter_mut()
            .last()
            .into_iter()
            .for_each(|byte| *byte ^= 1),
        _ => {}
    }
    integer(out, random, 0x80, 7, coded.len());
    out.extend(coded);
}

/// Writes an integer, sometimes with more bytes than it needs, as §5.1 allows.
fn integer(out: &mut Vec<u8>, random: &mut Random, flags: u8, prefix: u32, value: usize) {
    let most = (1_usize << prefix) - 1;
    if value < most {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    if !random.chance(50) {
        out.push(rest as u8);
        return;
    }
    out.push(rest as u8 | 0x80);
    out.resize(out.len() + random.below(5), 0x80);
    out.push(0);
}
