/// Sizes a client may not go past, and the methods it may use. Equal to a limit passes; one more is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of a whole head: leading empty line, request line, fields and the final CRLF. Default 16,384; past it 431.
    pub max_header_size: u32,
    /// Bytes of one field line without its CRLF. Default 8,192; past it 431.
    pub max_header_line: u32,
    /// Field lines of a head. Default 100; past it 431. Up to 128 are parsed without an allocation.
    pub max_headers: u16,
    /// Bytes of the request target as sent. Default 8,192; past it 414.
    pub max_url_length: u32,
    /// Bytes of chunk extensions on one chunk, from the first `;` to the CR. Default 1,024; past it 400.
    pub max_chunk_extensions: u32,
    /// Bytes of chunk extensions of one body. Default 16,384; past it 400.
    pub max_chunk_extensions_total: u32,
    /// Bytes of all trailer lines with their CRLFs. Default 8,192; past it 431.
    pub max_trailer_size: u32,
    /// Trailer lines of a body. Default 32; past it 431.
    pub max_trailers: u16,
    /// Methods beyond the usual eight: tokens of up to [`Method::LONGEST`](crate::Method) bytes, at most
    /// [`Method::MOST_REGISTERED`](crate::Method) of them. Default none; a method that is none of them is 501.
    pub methods: Vec<Box<[u8]>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_header_size: 16_384,
            max_header_line: 8_192,
            max_headers: 100,
            max_url_length: 8_192,
            max_chunk_extensions: 1_024,
            max_chunk_extensions_total: 16_384,
            max_trailer_size: 8_192,
            max_trailers: 32,
            methods: Vec::new(),
        }
    }
}
