//! HPACK (RFC 7541): the examples of the RFC, what other encoders wrote, and what other decoders say.

mod blocks;

mod coding;
mod oracles;
mod stories;
