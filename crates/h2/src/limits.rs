/// The limits of one connection. A value equal to a limit is accepted; one more is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Sizes of heads and trailers, as for HTTP/1.1. The size of a head is that of its text in HTTP/1.1.
    pub wire: wire::Limits,
    /// The most open streams (`SETTINGS_MAX_CONCURRENT_STREAMS`). Default 100. Above it a stream is refused with
    /// `REFUSED_STREAM`.
    pub max_streams: u32,
    /// The most resets in a burst, by the client or by the server because of the client; 33 a second are forgotten.
    /// Default 200. Above it the connection ends with `ENHANCE_YOUR_CALM`.
    pub max_resets: u32,
    /// The most bytes of a body that may arrive before they are consumed (`SETTINGS_INITIAL_WINDOW_SIZE`). Default
    /// 65,536.
    pub stream_window: u32,
    /// The most bytes of all bodies of the connection that may arrive before they are consumed; at least 65,535.
    /// Default 1 MiB.
    pub connection_window: u32,
    /// True allows extended CONNECT (RFC 8441). Default false.
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
