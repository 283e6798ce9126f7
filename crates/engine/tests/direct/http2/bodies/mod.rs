//! Bodies of requests: buffered, streamed with credit, late, refused, and with trailer fields.

mod buffered;
mod streamed;
