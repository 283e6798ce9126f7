//! Compression of field sections (RFC 7541): a decoder with a bounded dynamic table, and an encoder that does not need
//! one.

mod decode;
pub mod encode;
mod huffman;
mod table;

pub use decode::{Decoder, Error, Field};
