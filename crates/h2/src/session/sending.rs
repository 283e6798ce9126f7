//! Bytes that may be sent, and the order of streams (RFC 9113 §6.9, RFC 9218 §10).

use super::Session;
use crate::closed::End;
use crate::frame::{self, MAX_PAYLOAD};
use crate::{ErrorCode, Key};

impl Session {
    /// Gives the number of bytes of DATA that the stream may send now: at most `wanted`, and at most one frame. They
    /// are taken off both windows. A frame that has only `END_STREAM` needs none.
    pub fn reserve(&mut self, key: Key, wanted: usize) -> usize {
        let Some(stream) = self.streams.get_mut(key) else {
            return 0;
        };
        let windows = stream.window.allows().min(self.window.allows());
        let bytes = wanted.min(MAX_PAYLOAD).min(windows as usize) as u32;
        if bytes > 0 {
            stream.window.spend(bytes);
            self.window.spend(bytes);
            self.budget.sent(bytes);
            self.turn = key;
        }
        bytes as usize
    }

    /// Records whether the stream has bytes that wait for a window or for room. A stream that has only its `END_STREAM`
    /// to send waits for neither.
    pub fn wants_to_send(&mut self, key: Key, wants: bool) {
        if let Some(stream) = self.streams.get_mut(key)
            && stream.wants_to_send != wants
        {
            stream.wants_to_send = wants;
            if wants {
                self.waiting += 1;
            } else {
                self.waiting -= 1;
            }
        }
    }

    /// Gives the next stream among those that want to send and whose windows allow a byte. The most urgent is first.
    /// Among equally urgent streams, incremental ones take turns, and the others, ordered by age, have one turn
    /// together.
    pub fn next_to_send(&mut self) -> Option<Key> {
        if self.waiting == 0 || self.window.allows() == 0 {
            return None;
        }
        let mut best: Option<Candidate> = None;
        let mut oldest: Option<Candidate> = None;
        for (key, stream) in self.streams.keys() {
            if !stream.wants_to_send || stream.window.allows() == 0 {
                continue;
            }
            let place = if stream.priority.incremental {
                &mut best
            } else {
                &mut oldest
            };
            let candidate = Candidate {
                urgency: stream.priority.urgency,
                // Incremental streams take turns: those behind the last one come first.
                order: if stream.priority.incremental {
                    key.0.wrapping_sub(self.turn.0).wrapping_sub(1).into()
                } else {
                    stream.id
                },
                key,
            };
            if place.is_none_or(|place| candidate < place) {
                *place = Some(candidate);
            }
        }
        let Some(oldest) = oldest else {
            return best.map(|candidate| candidate.key);
        };
        let Some(best) = best else {
            return Some(oldest.key);
        };
        if best.urgency != oldest.urgency {
            return Some(best.min(oldest).key);
        }
        let turn_of = |key: Key| key.0.wrapping_sub(self.turn.0).wrapping_sub(1);
        if turn_of(oldest.key) < turn_of(best.key) {
            Some(oldest.key)
        } else {
            Some(best.key)
        }
    }

    /// Records that `END_STREAM` was written: the stream is gone. If the request has not ended, `RST_STREAM` with
    /// `NO_ERROR` follows (RFC 9113 §8.1).
    #[inline]
    pub fn end_sent(&mut self, key: Key) {
        let Some(stream) = self.streams.get(key) else {
            return;
        };
        if stream.ended {
            self.forget(key, End::Complete);
        } else if let Some(id) = self.forget(key, End::Server)
            && self.failed.is_none()
        {
            frame::reset(&mut self.out, id, ErrorCode::NoError);
        }
    }
}

/// A stream that can be sent. The smallest is sent first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    urgency: u8,
    order: u32,
    key: Key,
}
