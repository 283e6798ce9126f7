//! How a connection ends. Two things happen independently of each other: the client closes its side, and we decide to
//! close ours.
//!
//! ```text
//!            close()                          linger()
//!   Open ───────────────► Closing ─────────────────────────► Lingering
//!                            │ nothing in flight,                │ the client closed, or sent too much,
//!                            │ everything sent,                  │ or took too long
//!                            │ and nothing more can come         │
//!                            └───────────────► removed ◄─────────┘
//!
//!   While it is Open or Closing:
//!   Client::Sends ───────────────► Client::HalfClosed ───────────────► Client::Ended
//!                half_close(false)                   half_close(true)
//!                └──────────────────── half_close(true) ────────────────────┘
//! ```
//!
//! From each of them a connection can also be removed at once: on an error, a reset, or a limit of time.

/// What the client did with its sending side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Client {
    Sends,
    /// It closed it. Something that it sent before may still be in the kernel.
    HalfClosed,
    /// It closed it, and all it sent before was received.
    Ended,
}

/// How near its end a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    /// Requests are read.
    Open(Ends),
    /// No other request is read. The connection is closed once everything is answered and sent.
    Closing(Ends),
    /// Our sending side is closed. What arrives is counted and thrown away until the client closes, too.
    Lingering { thrown_away: u64 },
}

/// What is known of the client's side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    client: Client,
    /// The client may have sent more than was received. Closing with unread input would reset the connection and
    /// destroy the last reply (RFC 9112 §9.6).
    more: bool,
}

impl Default for Life {
    fn default() -> Self {
        Self::Open(Ends {
            client: Client::Sends,
            more: false,
        })
    }
}

impl Life {
    #[inline]
    fn ends(&self) -> Option<&Ends> {
        match self {
            Self::Open(ends) | Self::Closing(ends) => Some(ends),
            Self::Lingering { .. } => None,
        }
    }

    fn ends_mut(&mut self) -> Option<&mut Ends> {
        match self {
            Self::Open(ends) | Self::Closing(ends) => Some(ends),
            Self::Lingering { .. } => None,
        }
    }

    /// Gives whether the client closed its sending side. Replies are still sent.
    #[inline]
    pub fn is_half_closed(&self) -> bool {
        self.ends().is_some_and(|ends| ends.client != Client::Sends)
    }

    /// Gives whether nothing is left to receive.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.ends().is_some_and(|ends| ends.client == Client::Ended)
    }

    /// Gives whether no other request is read.
    #[inline]
    pub fn is_closing(&self) -> bool {
        !matches!(self, Self::Open(_))
    }

    #[inline]
    pub fn is_lingering(&self) -> bool {
        matches!(self, Self::Lingering { .. })
    }

    /// Gives whether closing has to wait for the client.
    pub fn must_linger(&self) -> bool {
        self.ends()
            .is_some_and(|ends| ends.more && ends.client != Client::Ended)
    }

    /// The client closed its sending side; `ended`: and nothing is left to receive. Gives whether this is news.
    pub fn half_close(&mut self, ended: bool) -> bool {
        debug_assert!(
            !self.is_lingering(),
            "the client's end removes the connection"
        );
        let Some(ends) = self.ends_mut() else {
            return false;
        };
        let before = ends.client;
        if ended {
            ends.client = Client::Ended;
        } else if before == Client::Sends {
            ends.client = Client::HalfClosed;
        }
        before == Client::Sends
    }

    /// The client may have sent more than was or will be received.
    pub fn expect_more(&mut self) {
        if let Some(ends) = self.ends_mut() {
            ends.more = true;
        }
    }

    /// Reads no other request.
    pub fn close(&mut self) {
        if let Self::Open(ends) = *self {
            *self = Self::Closing(ends);
        }
    }

    /// Our sending side was closed.
    pub fn linger(&mut self) {
        debug_assert!(
            matches!(self, Self::Closing(_)) && self.must_linger(),
            "{self:?} does not linger"
        );
        *self = Self::Lingering { thrown_away: 0 };
    }

    /// Counts bytes that came while it lingers. Gives the sum.
    pub fn throw_away(&mut self, length: u64) -> u64 {
        debug_assert!(self.is_lingering(), "{self:?} has use for input");
        if let Self::Lingering { thrown_away } = self {
            *thrown_away += length;
            return *thrown_away;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_lingers_only_for_a_client_that_may_have_sent_more() {
        for (more, ended, lingers) in [
            (false, false, false),
            (true, false, true),
            (true, true, false),
            (false, true, false),
        ] {
            let mut life = Life::default();
            if more {
                life.expect_more();
            }
            assert!(life.half_close(ended));
            assert!(!life.half_close(false), "told once");
            assert_eq!(life.has_ended(), ended);
            life.close();
            assert_eq!(life.must_linger(), lingers);
        }
    }

    #[test]
    fn what_comes_while_it_lingers_is_counted() {
        let mut life = Life::default();
        life.expect_more();
        life.close();
        life.linger();
        assert!(life.is_closing() && !life.has_ended());
        assert_eq!((life.throw_away(3), life.throw_away(4)), (3, 7));
    }
}
