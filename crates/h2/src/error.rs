/// An error code (RFC 9113 §7), with its number in `RST_STREAM` and GOAWAY.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ErrorCode {
    NoError = 0x0,
    ProtocolError = 0x1,
    InternalError = 0x2,
    FlowControlError = 0x3,
    SettingsTimeout = 0x4,
    StreamClosed = 0x5,
    FrameSizeError = 0x6,
    RefusedStream = 0x7,
    Cancel = 0x8,
    CompressionError = 0x9,
    ConnectError = 0xa,
    EnhanceYourCalm = 0xb,
    InadequateSecurity = 0xc,
    Http11Required = 0xd,
}

impl ErrorCode {
    /// Returns true when a reset with this code blames the client. Such resets cost the budget of
    /// [`Limits::max_resets`](crate::Limits), because a client can make a server send them as fast as it sends errors.
    pub(crate) fn blames_client(self) -> bool {
        !matches!(
            self,
            Self::NoError | Self::InternalError | Self::RefusedStream | Self::Cancel
        )
    }
}
