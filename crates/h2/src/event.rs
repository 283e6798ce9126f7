use crate::ErrorCode;

/// The index of an open stream in its session, below `max_streams`. It names that stream until the stream is gone: by
/// [`Event::Gone`], [`Session::reset`](crate::Session::reset) or [`Session::end_sent`](crate::Session::end_sent). After
/// that it may name another stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Key(pub u16);

/// The result of [`Session::read`](crate::Session::read).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// All complete input was consumed; more bytes are needed.
    More,
    /// A field block is complete, and there is no room for its fields. Nothing of its last frame was consumed.
    NoRoom,
    /// A whole request head is in the given `head`.
    Head {
        key: Key,
        /// True if the request has no body.
        end: bool,
        /// Its Content-Length, in bytes.
        declared: Option<u64>,
    },
    /// `input[start..start + length]` is a part of the body of `key`. The length is 0 only where `end` is set.
    Data {
        key: Key,
        start: usize,
        length: usize,
        /// True if this is the last part. The body then has the length that its head declared.
        end: bool,
    },
    /// The body has ended with trailer fields, which are in the given `head`. `text` has only their lines, and of
    /// `head.head` only `fields` and `known` are valid.
    Trailers { key: Key },
    /// The request must be answered with this status, and must not reach a handler. The stream is open for that reply.
    /// The session discards its body.
    Refused {
        key: Key,
        status: u16,
        /// One of the codes of [`wire::Refusal`].
        code: &'static str,
        /// True if the method is HEAD, so that the reply must have no body.
        head_only: bool,
    },
    /// The client has reset the stream, or the session has reset it for an error of the client; its `RST_STREAM` is in
    /// `out` then.
    Gone { key: Key },
    /// A window has grown, or the order has changed: [`Session::next_to_send`](crate::Session::next_to_send) may give a
    /// stream.
    Sendable,
    /// The PING of [`Session::begin_shutdown`](crate::Session::begin_shutdown) was answered: every request that the
    /// client sent before it read the GOAWAY has arrived.
    Drained,
    /// The connection ends: GOAWAY is in `out`, and nothing more is read.
    Failed(ErrorCode),
}

impl Event {
    /// Gives the event for input that began at `at`.
    #[inline]
    pub(crate) fn behind(mut self, at: usize) -> Self {
        if let Self::Data { start, .. } = &mut self {
            *start += at;
        }
        self
    }
}
