//! The form in which tests write and compare blocks and fields.
#![allow(dead_code, reason = "each test uses a part")]

pub mod code;
pub mod literal;
pub mod rival;
pub mod series;

pub use h2::hpack::Error;

use h2::hpack::Decoder;
use literal::Read;

pub type Fields = Vec<(Vec<u8>, Vec<u8>)>;

pub fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, Error> {
    let mut fields = Vec::new();
    decoder.decode(block, &mut |field| {
        fields.push((field.name.to_vec(), field.value.to_vec()));
    })?;
    Ok(fields)
}

/// Decodes a block, and gives everything that the decoder reports of each field.
pub fn read(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Read>, Error> {
    let mut fields = Vec::new();
    decoder.decode(block, &mut |field| {
        fields.push(Read {
            name: field.name.to_vec(),
            value: field.value.to_vec(),
            name_index: field.name_index,
            sensitive: field.sensitive,
        });
    })?;
    Ok(fields)
}

pub fn names_and_values(fields: Vec<Read>) -> Fields {
    let pairs = fields.into_iter();
    pairs.map(|field| (field.name, field.value)).collect()
}

/// Returns true when a block has a third size update at its start, which other decoders allow.
pub fn has_three_size_updates(block: &[u8]) -> bool {
    let mut rest = block;
    for _ in 0..3 {
        let Some((0x20..0x40, _)) = rest.split_first() else {
            return false;
        };
        // The integer is the prefix and up to four bytes behind it.
        let more = rest.iter().skip(1).take_while(|byte| **byte & 0x80 != 0);
        let length = if rest[0] == 0x3f { 2 + more.count() } else { 1 };
        rest = rest.get(length..).unwrap_or_default();
    }
    true
}

/// Gives the fields of lines, each with a name, `: ` and a value.
pub fn fields(lines: &str) -> Fields {
    let parts = lines.lines().map(|line| line.split_once(": "));
    let bytes = |text: &str| text.as_bytes().to_vec();
    parts
        .map(|parts| parts.expect("a name and a value"))
        .map(|(name, value)| (bytes(name), bytes(value)))
        .collect()
}

/// Gives the bytes of hexadecimal digits. Blanks between them are ignored.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| str::from_utf8(pair).expect("digits"))
        .map(|pair| u8::from_str_radix(pair, 16).expect("two digits"))
        .collect()
}
