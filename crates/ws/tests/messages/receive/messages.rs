//! Messages, their frames, and the frames between them.

use super::{events, text};
use crate::client::{BINARY, CLOSE, CONTINUATION, Event, FIN, LIMITS, PING, PONG, TEXT, frame};
use ws::{Fault, Receiver, Step};

#[test]
fn messages() {
    assert_eq!(events(&[frame(FIN | TEXT, b"hello")]), [text("hello")]);
    assert_eq!(events(&[frame(FIN | TEXT, b"")]), [text("")]);
    assert_eq!(
        events(&[frame(FIN | TEXT, "grün 𝄞".as_bytes())]),
        [text("grün 𝄞")]
    );
    assert_eq!(
        events(&[frame(FIN | BINARY, &[0, 255, 128])]),
        [Event::Binary(vec![0, 255, 128])]
    );
    assert_eq!(events(&[]), []);
}

#[test]
fn a_message_within_one_receive_is_not_copied() {
    let head = 6;
    for (payload, text, ascii) in [
        ("plain", true, true),
        ("grün", true, false),
        ("b", false, false),
    ] {
        let mut input = frame(FIN | if text { TEXT } else { BINARY }, payload.as_bytes());
        input.extend(b"next");
        let used = head + payload.len();
        let step = Receiver::default().next(&mut input, &LIMITS, None);
        let at = head..used;
        assert_eq!(
            step,
            Ok(Step::Message {
                used,
                text,
                ascii,
                at
            })
        );
        assert_eq!(&input[head..used], payload.as_bytes());
        assert_eq!(&input[used..], b"next");
    }
}

#[test]
fn lengths_at_the_borders_of_their_forms() {
    for length in [0, 1, 124, 125, 126, 127, 65_535, 65_536, 100_000] {
        let payload: Vec<u8> = (0..length).map(|at| at as u8).collect();
        let bytes = [frame(FIN | BINARY, &payload), frame(FIN | TEXT, b"next")];
        assert_eq!(events(&bytes), [Event::Binary(payload), text("next")]);
    }
}

#[test]
fn fragmented_messages() {
    let parts = |parts: &[&[u8]]| {
        let last = parts.len() - 1;
        let frames: Vec<_> = parts
            .iter()
            .enumerate()
            .map(|(at, part)| {
                let opcode = if at == 0 { TEXT } else { CONTINUATION };
                frame(if at == last { FIN } else { 0 } | opcode, part)
            })
            .collect();
        events(&frames)
    };
    assert_eq!(parts(&[b"a", b"b", b"c"]), [text("abc")]);
    assert_eq!(parts(&[b"", b"", b""]), [text("")]);
    assert_eq!(parts(&[b"", b"x", b""]), [text("x")]);
    // A character may be cut by frames.
    assert_eq!(parts(&[b"\xf0", b"\x9d\x84", b"", b"\x9e"]), [text("𝄞")]);
}

#[test]
fn control_frames_stand_between_the_frames_of_a_message() {
    let longest = [b'p'; 125];
    let frames = [
        frame(BINARY, &[1]),
        frame(FIN | PING, &longest),
        frame(CONTINUATION, &[2]),
        frame(FIN | PONG, b"late"),
        frame(FIN | PING, b""),
        frame(FIN | CONTINUATION, &[3]),
    ];
    assert_eq!(
        events(&frames),
        [
            Event::Ping(longest.to_vec()),
            Event::Pong,
            Event::Ping(Vec::new()),
            Event::Binary(vec![1, 2, 3]),
        ]
    );
}

#[test]
fn nothing_is_read_behind_a_close_frame() {
    let frames = [frame(FIN | CLOSE, &[]), vec![0xff; 8]];
    assert_eq!(events(&frames), [Event::Close(1005, String::new())]);
    let frames = [
        frame(TEXT, b"open"),
        frame(FIN | CLOSE, b"\x03\xe8bye \xc3\xbc"),
        vec![0xff; 8],
    ];
    assert_eq!(events(&frames), [Event::Close(1000, "bye ü".into())]);
    let longest = [b"\x0f\xa0".as_slice(), &[b'r'; 123]].concat();
    assert_eq!(
        events(&[frame(FIN | CLOSE, &longest)]),
        [Event::Close(4000, "r".repeat(123))]
    );
}

#[test]
fn a_receiver_tells_what_may_end_the_socket() {
    let mut receiver = Receiver::default();
    let close = frame(FIN | CLOSE, b"");
    assert!(receiver.may_end(&close));
    assert!(!receiver.may_end(&[]));
    assert!(!receiver.may_end(&frame(FIN | TEXT, b"a")));
    assert!(!receiver.may_end(&frame(FIN | PING, b"")));

    // Inside a frame a byte is no head.
    let mut begun = frame(FIN | BINARY, &[0x88; 3])[..7].to_vec();
    assert_eq!(
        receiver.next(&mut begun, &LIMITS, None),
        Ok(Step::Partial { used: 7 })
    );
    assert!(!receiver.may_end(&close));

    // Behind a part of a message a close frame is foreseen, too.
    let mut receiver = Receiver::default();
    let mut both = [frame(TEXT, b"a"), close.clone()].concat();
    let used = both.len() - close.len();
    assert_eq!(
        receiver.next(&mut both, &LIMITS, None),
        Ok(Step::Fragments { used })
    );
    assert!(receiver.may_end(&both[used..]));

    let mut receiver = Receiver::default();
    let wrong = receiver.next(&mut [0x83], &LIMITS, None);
    assert_eq!(wrong, Err(Fault::ReservedOpcode));
    assert!(receiver.may_end(&frame(FIN | TEXT, b"a")));
    let right = receiver.next(&mut frame(FIN | TEXT, b"a"), &LIMITS, None);
    assert_eq!(right, Err(Fault::ReservedOpcode));
}
