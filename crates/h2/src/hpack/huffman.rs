//! The Huffman code of strings (RFC 7541 §5.2, Appendix B). The code is canonical: codes of one length ascend with
//! their symbols, so the lengths define all codes.

use super::decode::Error;

/// The lengths of the codes by symbol. The last is that of EOS, which must not appear in a string.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28,
    28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5,
    7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23,
    23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22,
    24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26,
    26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21,
    23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];
const END: usize = 256;
const SHORTEST: u32 = 5;
const LONGEST: u32 = 30;

/// The number of bits of one look-up. It covers two of the shortest codes, which are frequent in most strings. Of
/// printable ASCII, 13 characters have longer codes, `#` and `@` among them.
const SEEN: u32 = 11;

struct Code {
    /// Symbols in the order of their codes.
    order: [u16; 257],
    /// The first code of each length, left-aligned in 32 bits, and its index in `order`.
    first: [u32; LONGEST as usize + 2],
    place: [u16; LONGEST as usize + 2],
    /// For each value of `SEEN` bits: the two symbols whose codes it begins with, the length of both codes, and that of
    /// the first. The lengths are equal if there is one symbol, and 0 if its code is longer.
    short: [[u8; 4]; 1 << SEEN],
}

static CODE: Code = canonical();

const fn canonical() -> Code {
    let mut made = Code {
        order: [0; 257],
        first: [u32::MAX; LONGEST as usize + 2],
        place: [0; LONGEST as usize + 2],
        short: [[0; 4]; 1 << SEEN],
    };
    let mut code = 0_u32;
    let mut count = 0;
    let mut length = SHORTEST;
    while length <= LONGEST {
        made.first[length as usize] = code << (32 - length);
        made.place[length as usize] = count as u16;
        let mut symbol = 0;
        while symbol <= END {
            if LENGTHS[symbol] as u32 == length {
                made.order[count] = symbol as u16;
                let mut rest = 0;
                while length <= SEEN && rest < 1 << (SEEN - length) {
                    let bits = (code << (SEEN - length)) | rest;
                    made.short[bits as usize] = [symbol as u8, 0, length as u8, length as u8];
                    rest += 1;
                }
                code += 1;
                count += 1;
            }
            symbol += 1;
        }
        code <<= 1;
        length += 1;
    }
    // The code is complete: the last code has only ones.
    assert!(count == 257 && code == 1 << (LONGEST + 1) && made.order[256] == END as u16);
    made.short = paired(&made.short);
    made
}

/// Adds the second symbol to each entry that contains its whole code.
const fn paired(single: &[[u8; 4]; 1 << SEEN]) -> [[u8; 4]; 1 << SEEN] {
    let mut short = *single;
    let mut bits = 0;
    while bits < 1 << SEEN {
        let [_, _, _, first] = single[bits];
        let [symbol, _, _, second] = single[(bits << first) % (1 << SEEN)];
        if first > 0 && second > 0 && (first + second) as u32 <= SEEN {
            short[bits][1] = symbol;
            short[bits][2] = first + second;
        }
        bits += 1;
    }
    short
}

/// Appends the decoded string. After an error the appended bytes are not valid.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    // Two symbols are written at once, and the second may not exist.
    out.resize(start + coded.len() * 8 / SHORTEST as usize + 2, 0);
    let text = &mut out[start..];
    let mut length = 0;
    // The next bits, from the top. `count` of them are valid; the lower ones have the right values or are 0.
    let mut bits = 0_u64;
    let mut count = 0;
    let mut at = 0;
    while let Some(word) = coded[at..].first_chunk() {
        bits |= u64::from_be_bytes(*word) >> count;
        let whole_bytes = (63 - count) / 8;
        at += whole_bytes as usize;
        count += whole_bytes * 8;
        // The bits are enough for this many look-ups, unless there are long codes among them.
        for _ in 0..56 / SEEN {
            let seen = look(bits)?;
            if seen.used > count {
                break;
            }
            write(text, length, seen.symbols);
            length += seen.count;
            bits <<= seen.used;
            count -= seen.used;
        }
    }
    // At most seven bytes are left. A look-up or two may be needed before there is room for them.
    let mut rest = coded[at..].iter();
    loop {
        bits &= !(u64::MAX >> count);
        while count < 56 {
            let Some(byte) = rest.next() else {
                break;
            };
            bits |= u64::from(*byte) << (56 - count);
            count += 8;
        }
        if rest.len() == 0 {
            break;
        }
        let seen = look(bits)?;
        write(text, length, seen.symbols);
        length += seen.count;
        bits <<= seen.used;
        count -= seen.used;
    }
    // The bits behind the last byte are ones, because padding is a prefix of the code of EOS (§5.2).
    bits |= u64::MAX >> count;
    while count >= 8 || bits != u64::MAX {
        let mut seen = look(bits)?;
        if seen.used > count {
            (seen.count, seen.used) = (1, seen.used_by_first);
        }
        if seen.used > count {
            return Err(Error::Huffman);
        }
        write(text, length, seen.symbols);
        length += seen.count;
        bits = (bits << seen.used) | ((1 << seen.used) - 1);
        count -= seen.used;
    }
    out.truncate(start + length);
    Ok(())
}

#[inline(always)]
fn write(text: &mut [u8], at: usize, symbols: [u8; 2]) {
    if let Some(place) = text.get_mut(at..at + 2) {
        place.copy_from_slice(&symbols);
    }
}

/// The first one or two symbols of some bits.
struct Seen {
    symbols: [u8; 2],
    count: usize,
    used: u32,
    used_by_first: u32,
}

#[inline(always)]
fn look(bits: u64) -> Result<Seen, Error> {
    let [first, second, used, used_by_first] = CODE.short[(bits >> (64 - SEEN)) as usize];
    if used == 0 {
        return long_symbol((bits >> 32) as u32);
    }
    Ok(Seen {
        symbols: [first, second],
        count: 1 + usize::from(used != used_by_first),
        used: u32::from(used),
        used_by_first: u32::from(used_by_first),
    })
}

#[cold]
fn long_symbol(bits: u32) -> Result<Seen, Error> {
    let mut length = SEEN + 1;
    while bits >= CODE.first[length as usize + 1] && length < LONGEST {
        length += 1;
    }
    let at = (bits - CODE.first[length as usize]) >> (32 - length);
    let symbol = CODE
        .order
        .get(usize::from(CODE.place[length as usize]) + at as usize);
    match symbol {
        Some(&symbol) if usize::from(symbol) != END => Ok(Seen {
            symbols: [symbol as u8, 0],
            count: 1,
            used: length,
            used_by_first: length,
        }),
        _ => Err(Error::Huffman),
    }
}
