//! The limits of servers in tests.

use ring::layout::limit;

/// The defaults of an app, but for the limits of time that end connections: a test that is about one sets it.
pub fn limits() -> [f64; limit::COUNT] {
    let mut values = [0.0; limit::COUNT];
    for (index, value) in [
        (limit::HEADERS_TIMEOUT, 120_000.0),
        (limit::REQUEST_TIMEOUT, 120_000.0),
        (limit::SEND_TIMEOUT, 120_000.0),
        (limit::KEEP_ALIVE_TIMEOUT, 120_000.0),
        (limit::MAX_CONNECTION_AGE, 3_600_000.0),
        (limit::MAX_CONNECTIONS, 10_000.0),
        (limit::MAX_IN_FLIGHT, 10_000.0),
        (limit::MAX_HEADER_SIZE, 16_384.0),
        (limit::MAX_HEADER_LINE, 8_192.0),
        (limit::MAX_HEADERS, 100.0),
        (limit::MAX_URL_LENGTH, 8_192.0),
        (limit::MAX_PARAM_LENGTH, 256.0),
        (limit::MAX_BODY_SIZE, 1_048_576.0),
        (limit::MAX_BUFFERED_BODIES, 268_435_456.0),
        (limit::MAX_BUFFERED_REPLIES, 268_435_456.0),
        (limit::MAX_PIPELINED, 16.0),
        (limit::MAX_CHUNK_EXTENSIONS, 1_024.0),
        (limit::MAX_CHUNK_EXTENSIONS_TOTAL, 16_384.0),
        (limit::DRAIN_LIMIT, 65_536.0),
        (limit::DRAIN_TIMEOUT, 2_000.0),
        (limit::DRAIN_IDLE, 5_000.0),
        (limit::SHUTDOWN_TIMEOUT, 120_000.0),
        (limit::TLS_HANDSHAKE_TIMEOUT, 120_000.0),
        (limit::MAX_HANDSHAKES, 1_000.0),
        (limit::HTTP2_IDLE_TIMEOUT, 120_000.0),
        (limit::MAX_STREAMS, 100.0),
        (limit::MAX_STREAM_RESETS, 200.0),
    ] {
        values[index] = value;
    }
    values
}
