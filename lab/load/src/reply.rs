//! The one reply, many times over, so that a whole batch is one send.

use std::time::{Duration, UNIX_EPOCH};

const BODY: &str = r#"{"message":"Hello World"}"#;
/// Copies a send can take; a larger batch takes several sends. About 18 KiB.
const COPIES: usize = 128;

pub struct Replies {
    bytes: Vec<u8>,
    /// Bytes of one reply, the same at any time.
    len: usize,
    second: u64,
}

impl Replies {
    /// `second` counts from 1970-01-01 UTC.
    pub fn new(second: u64) -> Self {
        let reply = render(second);
        Self {
            bytes: reply.repeat(COPIES).into_bytes(),
            len: reply.len(),
            second,
        }
    }

    /// Bytes of one reply.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Takes the new date over when the second has changed.
    pub fn update(&mut self, second: u64) {
        if second != self.second {
            *self = Self::new(second);
        }
    }

    /// The last `owed` bytes of a row of whole replies, or as many whole replies as fit and what is left of the first.
    pub fn last(&self, owed: usize) -> &[u8] {
        let begun = owed % self.len;
        let whole = (owed / self.len).min(COPIES - 1);
        let start = self.bytes.len() - whole * self.len - begun;
        &self.bytes[start..]
    }
}

fn render(second: u64) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\nDate: {}\r\n\r\n{BODY}",
        BODY.len(),
        httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_complete() {
        assert_eq!(
            render(784_111_777),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 25\r\n\
             Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n{\"message\":\"Hello World\"}"
        );
    }

    #[test]
    fn any_debt_is_paid_in_whole_replies() {
        let replies = Replies::new(0);
        let reply = render(0);
        for count in [1, 2, COPIES - 1, COPIES, 5 * COPIES + 3] {
            // The kernel may take any part of what it is given.
            for step in [1, 7, replies.len(), usize::MAX] {
                let mut owed = count * replies.len();
                let mut sent = Vec::new();
                while owed > 0 {
                    let next = replies.last(owed);
                    let taken = next.len().min(step);
                    sent.extend_from_slice(&next[..taken]);
                    owed -= taken;
                }
                assert!(
                    sent == reply.repeat(count).into_bytes(),
                    "{count} by {step}"
                );
            }
        }
    }

    #[test]
    fn the_date_follows_the_clock() {
        let mut replies = Replies::new(784_111_777);
        replies.update(784_111_778);
        let text = String::from_utf8(replies.last(replies.len()).to_vec()).unwrap();
        assert_eq!(text, render(784_111_778));
    }
}
