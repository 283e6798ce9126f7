use crate::ErrorCode;

/// The index of an open stream in its session, below `max_streams`. It names that stream until the stream is gone: by
/// [`Event::Gone`], [`Session::reset`](crate::Session::reset) or [`Session::end_sent`](crate::Session::end_sent). After
/// that it may name another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Key(pub u16);

/// What [`Session::read`](crate::Session::read) found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Everything was consumed that can be; more bytes are needed.
    More,
    /// A field block is complete, and there is no room for what is in it. Nothing of its last frame was consumed.
    NoRoom,
    /// A whole request head is in the `head` that was given.
    Head {
        key: Key,
        /// The request has no body.
        end: bool,
        /// Its Content-Length, in bytes.
        declared: Option<u64>,
    },
    /// `input[start..start + length]` is a part of the body of `key`. The length is 0 only where `end` is set.
    Data {
        key: Key,
        start: usize,
        length: usize,
        /// It is the last part, and the body has the length its head declared.
        end: bool,
    },
    /// The body ended with trailer fields, which are in the `head` that was given: `text` has their lines and no more, and
    /// of `head.head` only `fields` and `known` mean something.
    Trailers { key: Key },
    /// The request is to be answered with this status, and is for no handler. The stream is open for that reply; the
    /// session discards what comes of its body.
    Refused {
        key: Key,
        status: u16,
        /// One of the codes of [`wire::Refusal`].
        code: &'static str,
        /// The reply may have no body, since the method is HEAD.
        head_only: bool,
    },
    /// The client reset the stream, or made an error for which the session did; its `RST_STREAM` is in `out` then.
    Gone { key: Key },
    /// Windows grew or the order changed: [`Session::next_to_send`](crate::Session::next_to_send) may give something.
    Sendable,
    /// The PING of [`Session::begin_shutdown`](crate::Session::begin_shutdown) was answered: no request is on its way
    /// that the client sent before it knew.
    Drained,
    /// The connection ends: GOAWAY is in `out`, and nothing more is read.
    Failed(ErrorCode),
}

impl Event {
    /// The event, where what was read began at `at` in the input.
    #[inline]
    pub(crate) fn behind(mut self, at: usize) -> Self {
        if let Self::Data { start, .. } = &mut self {
            *start += at;
        }
        self
    }
}
