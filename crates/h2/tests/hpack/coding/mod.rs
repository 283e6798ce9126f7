//! HPACK: the examples of RFC 7541 Appendix C, each error, and the output of the encoder.

mod examples;
mod strings;
mod tables;

use crate::blocks::{Fields, decode, fields, hex};
use h2::hpack::{Decoder, Error};

/// Checks one part of Appendix C: blocks of one connection, and their fields.
fn example(table: usize, blocks: &[(&str, &str)]) {
    let mut decoder = Decoder::new(table);
    for (block, expected) in blocks {
        assert_eq!(decode(&mut decoder, &hex(block)), Ok(fields(expected)));
    }
}

fn error(block: &str) -> Result<Fields, Error> {
    decode(&mut Decoder::new(4_096), &hex(block))
}
