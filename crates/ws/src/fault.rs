use std::fmt;

/// What is wrong with received bytes. Each fault ends the socket: the server sends a close frame with [`Fault::code`] and
/// reads nothing more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Fault {
    /// A frame of the client is not masked (RFC 6455 §5.1).
    Unmasked,
    /// A reserved bit is set that no negotiated extension defines, or where it does not (RFC 6455 §5.2, RFC 7692 §6).
    ReservedBits,
    /// The opcode is none that RFC 6455 §5.2 defines.
    ReservedOpcode,
    /// The length is not written in the fewest bytes (RFC 6455 §5.2).
    LengthNotShortest,
    /// The topmost bit of a length of 64 bits is set (RFC 6455 §5.2).
    LengthTopBit,
    /// A control frame without FIN (RFC 6455 §5.5).
    ControlFragmented,
    /// A control frame with more than 125 bytes (RFC 6455 §5.5).
    ControlTooLong,
    /// A continuation frame without a message that it could continue (RFC 6455 §5.4).
    NothingToContinue,
    /// A message begins before the fragmented one ended (RFC 6455 §5.4).
    MessageNotEnded,
    /// A close frame with one byte, which is half of a code (RFC 6455 §5.5.1).
    CloseLength,
    /// A close frame with a code that may not be sent (RFC 6455 §7.4).
    CloseCode,
    /// The reason of a close frame is no UTF-8 (RFC 6455 §5.5.1).
    CloseReason,
    /// A text message is no UTF-8 (RFC 6455 §8.1).
    InvalidText,
    /// A compressed message is no DEFLATE, or was cut short (RFC 7692 §7.2.2).
    InvalidDeflate,
    /// A message is longer than [`Limits::message`](crate::Limits::message).
    MessageTooBig,
    /// A message has more frames than [`Limits::fragments`](crate::Limits::fragments).
    TooManyFragments,
}

impl Fault {
    /// The code of the close frame to send (RFC 6455 §7.4.1).
    pub const fn code(self) -> u16 {
        match self {
            Self::CloseReason | Self::InvalidText | Self::InvalidDeflate => 1007,
            Self::MessageTooBig | Self::TooManyFragments => 1009,
            _ => 1002,
        }
    }

    /// The reason of the close frame to send: a sentence that fits into one.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Unmasked => "A frame of the client is not masked.",
            Self::ReservedBits => "A reserved bit is set.",
            Self::ReservedOpcode => "The opcode of a frame is reserved.",
            Self::LengthNotShortest => "The length of a frame is not written in the fewest bytes.",
            Self::LengthTopBit => "The topmost bit of a frame's length is set.",
            Self::ControlFragmented => "A control frame is fragmented.",
            Self::ControlTooLong => "A control frame has more than 125 bytes.",
            Self::NothingToContinue => "A continuation frame continues no message.",
            Self::MessageNotEnded => "A message begins inside another.",
            Self::CloseLength => "A close frame has half a code.",
            Self::CloseCode => "The code of a close frame may not be sent.",
            Self::CloseReason => "The reason of a close frame is not UTF-8.",
            Self::InvalidText => "A text message is not UTF-8.",
            Self::InvalidDeflate => "A message cannot be decompressed.",
            Self::MessageTooBig => "A message is too long.",
            Self::TooManyFragments => "A message has too many frames.",
        }
    }

    /// Every fault, in the order of the declaration.
    pub const ALL: [Self; 16] = [
        Self::Unmasked,
        Self::ReservedBits,
        Self::ReservedOpcode,
        Self::LengthNotShortest,
        Self::LengthTopBit,
        Self::ControlFragmented,
        Self::ControlTooLong,
        Self::NothingToContinue,
        Self::MessageNotEnded,
        Self::CloseLength,
        Self::CloseCode,
        Self::CloseReason,
        Self::InvalidText,
        Self::InvalidDeflate,
        Self::MessageTooBig,
        Self::TooManyFragments,
    ];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for Fault {}
