//! Generated from crates/ring/layout.json by scripts/layout.mjs. Do not edit.

pub const LAYOUT_HASH: u32 = 535_430_435;

/// Slices alternate between pages. At the start of a slice JavaScript copies out the requests of the last one that are unfinished.
pub const PAGES: usize = 2;

/// The size of the control block, which stands at offset 0.
pub const CONTROL_WORDS: usize = 16;

/// The size of a request descriptor: one cache line.
pub const REQUEST_WORDS: usize = 16;

/// How many descriptors a page has.
pub const MAX_SLICE: usize = 128;

/// Words that a page has for spans: the parameters, header fields and peer addresses of its requests.
pub const SPAN_WORDS: usize = 12_288;

/// Bytes that a page has for heads and small bodies. The engine receives into them directly.
pub const ARENA_BYTES: usize = 393_216;

/// The most bytes that are received from one connection at once.
pub const RECEIVE_BYTES: usize = 65_536;

/// Complete bodies up to this size are delivered in the arena; a larger one is delivered as a Buffer of its own.
pub const INLINE_BODY_BYTES: usize = 65_536;

/// The size of a reply record.
pub const RECORD_WORDS: usize = 8;

/// JavaScript starts an overflow chunk after this many reply records.
pub const MAX_RECORDS: usize = 2_048;

/// JavaScript starts an overflow chunk after this many bytes of reply heads and bodies.
pub const OUT_BYTES: usize = 1_048_576;

/// Bodies from this size on are handed over by reference and never copied into the reply memory.
pub const REFERENCE_BYTES: usize = 16_384;

/// A streamed reply asks its producer to wait when this many bytes are unsent.
pub const HIGH_WATER_BYTES: usize = 65_536;

/// A parameter span has an offset and a length in bytes; the length is -1 for an absent optional parameter.
pub const PARAMETER_SPAN_WORDS: usize = 2;

/// A header field span has the name's offset, the name's length | known id << 16, the value's offset and the value's length.
pub const FIELD_SPAN_WORDS: usize = 4;

/// A peer address has its family (0 for none, 4 or 6), then the address in network byte order.
pub const PEER_WORDS: usize = 5;

/// Words of a page: descriptors, spans, arena.
pub const PAGE_WORDS: usize = 112_640;

/// Word offset of page 0; its descriptors come first.
pub const REQUESTS_OFFSET: usize = 16;

/// Word offset of the spans within a page.
pub const SPANS_IN_PAGE: usize = 2_048;

/// Word offset of the arena within a page.
pub const ARENA_IN_PAGE: usize = 14_336;

/// Word offset of the reply records.
pub const RECORDS_OFFSET: usize = 225_296;

/// Word offset of the reply memory.
pub const OUT_OFFSET: usize = 241_680;

/// Size of the shared memory in bytes.
pub const TOTAL_BYTES: usize = 2_015_296;

pub mod control {
    /// Reply records written since the last flush. The engine sets it to 0.
    pub const RECORDS: usize = 0;
    /// Bytes of reply memory in use. The engine sets it to 0.
    pub const OUT: usize = 1;
    /// Entries of the reference list in use. The engine sets it to 0.
    pub const REFERENCES: usize = 2;
    /// Overflow chunks that wait. Each is older than the records that `records` counts. The engine sets it to 0.
    pub const OVERFLOW: usize = 3;
    /// Counts how often the engine has applied what was written. It wraps.
    pub const STEPS: usize = 4;
}

pub mod request {
    /// Exchange slot.
    pub const SLOT: usize = 0;
    /// Generation of the slot. A reply that carries another generation is dropped.
    pub const GENERATION: usize = 1;
    /// Route id, or a Miss (-1 not found, -2 method not allowed, -3 OPTIONS, -4 upgrade required).
    pub const ROUTE: usize = 2;
    /// Kind (8 bits) | method << 8 | flags << 16.
    pub const KIND: usize = 3;
    /// Offset of the request head in bytes.
    pub const HEAD_OFFSET: usize = 4;
    /// Length of the request head in bytes.
    pub const HEAD_LENGTH: usize = 5;
    /// Offset of the canonical path in bytes.
    pub const PATH_OFFSET: usize = 6;
    /// Length of the canonical path in bytes.
    pub const PATH_LENGTH: usize = 7;
    /// Offset of the query in bytes.
    pub const QUERY_OFFSET: usize = 8;
    /// Length of the query in bytes.
    pub const QUERY_LENGTH: usize = 9;
    /// Word index of the spans: parameters, then fields, then the peer address.
    pub const SPANS: usize = 10;
    /// Parameters (8 bits) | fields << 8.
    pub const COUNTS: usize = 11;
    /// Offset of an inline body in bytes, or -1 - index for a body in the body list. A `chunk` and a `message` have their own offset here, a `closedSocket` that of its reason, a `bodyEnd` that of a block of trailer fields (as `headersLength` of a record has it), either of them 0 without one. An `abort` has 1 if the client closed only its sending side and may still read its reply.
    pub const BODY_OFFSET: usize = 12;
    /// Length of the body in bytes, -1 if it is unknown. A `chunk` and a `message` have their own length here, a `closedSocket` that of its reason, a `bodyEnd` that of its trailer fields, an `abort` its reason, a `bodyFail` its status, a `dropped` the number of messages.
    pub const BODY_LENGTH: usize = 13;
    /// The methods that the path allows, as a bit set, for 405 and OPTIONS. A `closedSocket` has its code here.
    pub const ALLOW: usize = 14;
    /// Server id.
    pub const SERVER: usize = 15;
}

pub mod record {
    /// Exchange slot; -1 for a `publish` that no socket makes.
    pub const SLOT: usize = 0;
    /// Generation of the slot; the server id for a `publish` that no socket makes.
    pub const GENERATION: usize = 1;
    /// Operation (8 bits) | content type << 8 | status << 16.
    pub const OPERATION: usize = 2;
    /// Offset of the header block in reply memory, in bytes.
    pub const HEADERS_OFFSET: usize = 3;
    /// Length of the header block in bytes. Each field has a u16 name length, a u16 value length (both little-endian), the name and the value (Latin-1). A `publish` has its topic here, as UTF-8 alone; a `finish` has the trailer fields of the reply.
    pub const HEADERS_LENGTH: usize = 4;
    /// Offset of the body in reply memory, in bytes. A `start` has the low half of the declared length here; `read` and `credit` have the number of bytes.
    pub const BODY_OFFSET: usize = 5;
    /// Length of the body in bytes. A `start` has the high half of the declared length here, -1 when it is unknown.
    pub const BODY_LENGTH: usize = 6;
    /// 1 + the body's index in the reference list when it is there, else 0.
    pub const REFERENCE: usize = 7;
}

pub mod kind {
    pub const REQUEST: i32 = 0;
    pub const CHUNK: i32 = 1;
    pub const BODY_END: i32 = 2;
    pub const BODY_FAIL: i32 = 3;
    pub const ABORT: i32 = 4;
    pub const DRAIN: i32 = 5;
    pub const CLOSED: i32 = 6;
    pub const MESSAGE: i32 = 7;
    pub const CLOSED_SOCKET: i32 = 8;
    pub const DROPPED: i32 = 9;
}

pub mod flag {
    pub const HTTP10: i32 = 1;
    pub const BODY_COMPLETE: i32 = 2;
    pub const BODY_STREAM: i32 = 4;
    pub const OTHER_TARGET: i32 = 8;
    pub const ENCRYPTED: i32 = 16;
    pub const HTTP2: i32 = 32;
}

pub mod operation {
    pub const END: i32 = 1;
    pub const START: i32 = 2;
    pub const DATA: i32 = 3;
    pub const FINISH: i32 = 4;
    pub const DESTROY: i32 = 5;
    pub const READ: i32 = 6;
    pub const CREDIT: i32 = 7;
    pub const INFORM: i32 = 8;
    pub const UPGRADE: i32 = 9;
    pub const MESSAGE: i32 = 10;
    pub const CLOSE: i32 = 11;
    pub const SUBSCRIBE: i32 = 12;
    pub const UNSUBSCRIBE: i32 = 13;
    pub const PUBLISH: i32 = 14;
}

pub mod operation_flag {
    pub const WANT_DRAIN: i32 = 1;
    pub const TEXT: i32 = 2;
}

pub mod message_flag {
    pub const TEXT: i32 = 1;
    pub const ASCII: i32 = 2;
}

pub mod abort {
    pub const CLIENT: i32 = 0;
    pub const TIMEOUT: i32 = 1;
    pub const SHUTDOWN: i32 = 2;
    pub const ERROR: i32 = 3;
    pub const UPLOAD: i32 = 4;
}

/// Order of the limits in the array handed to `createServer`.
pub mod limit {
    pub const HEADERS_TIMEOUT: usize = 0;
    pub const REQUEST_TIMEOUT: usize = 1;
    pub const HANDLER_TIMEOUT: usize = 2;
    pub const SEND_TIMEOUT: usize = 3;
    pub const KEEP_ALIVE_TIMEOUT: usize = 4;
    pub const MAX_CONNECTION_AGE: usize = 5;
    pub const MAX_CONNECTIONS: usize = 6;
    pub const MAX_IN_FLIGHT: usize = 7;
    pub const MAX_HEADER_SIZE: usize = 8;
    pub const MAX_HEADER_LINE: usize = 9;
    pub const MAX_HEADERS: usize = 10;
    pub const MAX_URL_LENGTH: usize = 11;
    pub const MAX_PARAM_LENGTH: usize = 12;
    pub const MAX_BODY_SIZE: usize = 13;
    pub const MAX_BUFFERED_BODIES: usize = 14;
    pub const MAX_BUFFERED_REPLIES: usize = 15;
    pub const MAX_PIPELINED: usize = 16;
    pub const MAX_CHUNK_EXTENSIONS: usize = 17;
    pub const MAX_CHUNK_EXTENSIONS_TOTAL: usize = 18;
    pub const DRAIN_LIMIT: usize = 19;
    pub const DRAIN_TIMEOUT: usize = 20;
    pub const DRAIN_IDLE: usize = 21;
    pub const SHUTDOWN_TIMEOUT: usize = 22;
    pub const MAX_CONNECTIONS_PER_ADDRESS: usize = 23;
    pub const TLS_HANDSHAKE_TIMEOUT: usize = 24;
    pub const MAX_HANDSHAKES: usize = 25;
    pub const HTTP2_IDLE_TIMEOUT: usize = 26;
    pub const MAX_STREAMS: usize = 27;
    pub const MAX_STREAM_RESETS: usize = 28;
    pub const COUNT: usize = 29;
}

/// Header fields by the known id of a span; 0 is any other.
pub const FIELD_NAMES: [&str; 32] = [
    "",
    "host",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "expect",
    "cookie",
    "authorization",
    "accept",
    "accept-encoding",
    "origin",
    "user-agent",
    "if-none-match",
    "if-modified-since",
    "x-request-id",
    "x-forwarded-for",
    "traceparent",
    "range",
    "upgrade",
    "accept-language",
    "referer",
    "cache-control",
    "content-encoding",
    "x-forwarded-proto",
    "x-forwarded-host",
    "tracestate",
    "access-control-request-method",
    "access-control-request-headers",
    "if-match",
    "if-range",
    "forwarded",
];

/// Content types by the id of a reply record; 0 means the header block has it, or there is none.
pub const CONTENT_TYPES: [&str; 7] = [
    "",
    "application/json; charset=utf-8",
    "text/plain; charset=utf-8",
    "text/html; charset=utf-8",
    "application/octet-stream",
    "application/problem+json; charset=utf-8",
    "image/svg+xml; charset=utf-8",
];
