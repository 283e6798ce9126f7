/// What a client may do on one connection. Equal to a limit passes; one more is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Sizes of heads and trailers, as for HTTP/1.1; the size of a head is that of the text it would be there.
    pub wire: wire::Limits,
    /// Open streams (`SETTINGS_MAX_CONCURRENT_STREAMS`). Default 100; past it `RST_STREAM` with `REFUSED_STREAM`.
    pub max_streams: u32,
    /// Resets, by the client or by the server because of the client, in a burst; 33 a second come back. Default 200; past
    /// it GOAWAY with `ENHANCE_YOUR_CALM`.
    pub max_resets: u32,
    /// Bytes of a body that may come before they are consumed (`SETTINGS_INITIAL_WINDOW_SIZE`). Default 65,536.
    pub stream_window: u32,
    /// Bytes of all bodies of the connection that may come before they are consumed; at least 65,535. Default 1 MiB.
    pub connection_window: u32,
    /// Whether CONNECT may name a protocol (RFC 8441). Default no.
    pub connect_protocol: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wire: wire::Limits::default(),
            max_streams: 100,
            max_resets: 200,
            stream_window: 65_536,
            connection_window: 1 << 20,
            connect_protocol: false,
        }
    }
}
