//! What hooks do.

use mutants::Random;
use ring::Memory;
use ring::layout::{RECORD_WORDS, operation, operation_flag, record};

use super::LARGE;
use super::client::Sent;
use super::driver::frames::KEY;
use super::driver::{Seen, make};

/// One thing that a hook may do with a socket, or with an exchange that may become one.
pub fn act(memory: &mut Memory, seen: &Seen, random: &mut Random, sent: &mut Sent) {
    const TOPICS: [&[u8]; 4] = [b"a", b"b", b"", "t\u{f6}pic".as_bytes()];
    let topic = TOPICS[random.below(TOPICS.len())];
    let flags = random.below(4) as i32;
    let payload = sent.payload(random);
    match random.below(20) {
        0..=3 => memory.push_record(make(seen, operation::MESSAGE, flags), &[], &payload),
        4 | 5 => memory.push_record(make(seen, operation::SUBSCRIBE, 0), &[], topic),
        6 => memory.push_record(make(seen, operation::UNSUBSCRIBE, 0), &[], topic),
        7 | 8 => memory.push_record(make(seen, operation::PUBLISH, flags), topic, &payload),
        9 => {
            let mut words = [0; RECORD_WORDS];
            words[record::SLOT] = -1;
            words[record::GENERATION] = i32::from(sent.server);
            words[record::OPERATION] = operation::PUBLISH | flags << 16;
            memory.push_record(ring::Record(words), topic, &payload);
        }
        10 if random.chance(8) => {
            let close = make(seen, operation::CLOSE, 0);
            let payload: &[u8] = [&b"\x03\xe8bye"[..], b"", b"\x0f\xa0"][random.below(3)];
            memory.push_record(close, &[], payload);
        }
        11 if random.chance(16) => memory.push_signal(make(seen, operation::DESTROY, 0)),
        12 if random.chance(4) => {
            let mut large = make(
                seen,
                [operation::MESSAGE, operation::PUBLISH][random.below(2)],
                operation_flag::TEXT,
            );
            large.0[record::REFERENCE] = 1;
            large.0[record::BODY_LENGTH] = (LARGE - usize::from(random.chance(10))) as i32;
            memory.push_signal(large);
        }
        13 if random.chance(8) => {
            // A record whose ranges and numbers mean nothing.
            let mut garbage = make(seen, random.below(16) as i32, flags);
            for word in record::HEADERS_OFFSET..=record::REFERENCE {
                garbage.0[word] = random.next() as i32;
            }
            memory.push_signal(garbage);
        }
        14 => memory.push_record(make(seen, operation::UPGRADE, 0), &[], KEY),
        _ => {}
    }
}
