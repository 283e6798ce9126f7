//! How much a message may take: bytes, fragments, memory and time.

use super::{text, verdict};
use crate::client::{BINARY, CONTINUATION, Event, FIN, LIMITS, PING, TEXT, feed, frame};
use std::mem::size_of;
use ws::{Fault, Limits, Receiver, Step};

#[test]
fn a_receiver_is_small_and_holds_nothing_between_messages() {
    assert!(size_of::<Receiver>() <= 64, "{}", size_of::<Receiver>());
    let mut receiver = Receiver::default();
    assert_eq!(receiver.held(), 0);
    let mut input = frame(TEXT, b"first");
    let step = receiver.next(&mut input, &LIMITS, None);
    assert_eq!(step, Ok(Step::Partial { used: input.len() }));
    assert!(receiver.held() >= 5);
    let mut input = frame(FIN | CONTINUATION, b" second");
    let step = receiver.next(&mut input, &LIMITS, None);
    let (used, text, data) = (input.len(), true, b"first second".to_vec());
    assert_eq!(step, Ok(Step::Gathered { used, text, data }));
    assert_eq!(receiver.held(), 0);
}

#[test]
fn the_limit_of_a_message() {
    let limits = Limits {
        message: 10,
        fragments: 100,
    };
    let of = |frames: &[Vec<u8>]| verdict(&frames.concat(), &limits);
    let too_big = Some(Fault::MessageTooBig);
    let whole = |length| of(&[frame(FIN | TEXT, &vec![b'a'; length])]);
    assert_eq!(whole(9).fault, None);
    assert_eq!(whole(10).events, [text("aaaaaaaaaa")]);
    assert_eq!(whole(11).fault, too_big);
    let parts = |last: &[u8]| {
        of(&[
            frame(TEXT, b"12345"),
            frame(FIN | PING, &[0; 100]),
            frame(CONTINUATION, b"6789"),
            frame(FIN | CONTINUATION, last),
        ])
    };
    assert_eq!(parts(b"").fault, None);
    assert_eq!(parts(b"0").fault, None);
    assert_eq!(parts(b"01").fault, too_big);
    // Refused by what the head announces: nothing of the payload has to come.
    let head = &frame(FIN | BINARY, &[0; 11])[..2];
    assert_eq!(feed(head, [], &limits).fault, too_big);
}

#[test]
fn the_limit_of_fragments() {
    let limits = Limits {
        message: 10,
        fragments: 3,
    };
    let of = |count: usize| {
        let mut frames = vec![frame(BINARY, &[1])];
        frames.resize(count - 1, frame(CONTINUATION, &[1]));
        frames.push(frame(FIN | PING, b""));
        frames.push(frame(FIN | CONTINUATION, &[1]));
        verdict(&frames.concat(), &limits)
    };
    let ping = Event::Ping(Vec::new());
    assert_eq!(of(2).fault, None);
    assert_eq!(of(3).events, [ping.clone(), Event::Binary(vec![1; 3])]);
    assert_eq!(
        (of(4).events, of(4).fault),
        (vec![ping], Some(Fault::TooManyFragments))
    );
}

#[test]
fn memory_grows_with_what_came_not_with_what_was_announced() {
    let limits = Limits {
        message: 1 << 20,
        fragments: u32::MAX,
    };
    let mut receiver = Receiver::default();
    let mut head = frame(FIN | BINARY, &vec![0; 1 << 20]);
    head.truncate(15);
    assert_eq!(
        receiver.next(&mut head, &limits, None),
        Ok(Step::Partial { used: 15 })
    );
    assert!(receiver.held() < 200, "{}", receiver.held());
}

/// A MiB in frames of one byte: the data moves at most twenty times, and text is not checked from its beginning each time.
/// Quadratic work would take minutes.
#[test]
fn tiny_frames_take_linear_time() {
    let limits = Limits {
        message: 1 << 20,
        fragments: u32::MAX,
    };
    let mut receiver = Receiver::default();
    let one = frame(CONTINUATION, b"a");
    for at in 0..(1 << 20) - 1 {
        let mut input = if at == 0 {
            frame(TEXT, b"a")
        } else {
            one.clone()
        };
        let step = receiver.next(&mut input, &limits, None);
        assert_eq!(step, Ok(Step::Partial { used: 7 }));
    }
    let mut input = frame(FIN | CONTINUATION, b"a");
    let step = receiver.next(&mut input, &limits, None);
    let (used, text, data) = (7, true, vec![b'a'; 1 << 20]);
    assert!(step == Ok(Step::Gathered { used, text, data }));
}
