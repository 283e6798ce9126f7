//! What a receiver makes of frames, each case fed whole, byte by byte, and cut in two at each place.

mod client;

use std::mem::size_of;

use client::{
    BINARY, CLOSE, CONTINUATION, Event, FIN, LIMITS, PING, PONG, TEXT, Verdict, feed, frame,
};
use ws::{Fault, Limits, Receiver, Step};

/// Feeds `bytes` whole, and checks that cuts change nothing.
fn verdict(bytes: &[u8], limits: &Limits) -> Verdict {
    let whole = feed(bytes, [], limits);
    let places = if bytes.len() < 1_000 { bytes.len() } else { 20 };
    for cut in 0..places {
        assert_eq!(feed(bytes, [cut], limits), whole, "cut at {cut}");
    }
    assert_eq!(feed(bytes, 0..bytes.len(), limits), whole, "byte by byte");
    whole
}

fn events(frames: &[Vec<u8>]) -> Vec<Event> {
    let verdict = verdict(&frames.concat(), &LIMITS);
    assert_eq!(verdict.fault, None);
    verdict.events
}

fn fault(frames: &[Vec<u8>]) -> Option<Fault> {
    let verdict = verdict(&frames.concat(), &LIMITS);
    assert_eq!(verdict.events, []);
    verdict.fault
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

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

#[test]
fn close_codes() {
    let allowed = |code: u16| matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
    for code in 0..=u16::MAX {
        assert_eq!(ws::is_close_code(code), allowed(code), "{code}");
        let verdict = feed(&frame(FIN | CLOSE, &code.to_be_bytes()), [], &LIMITS);
        if allowed(code) {
            assert_eq!(verdict.events, [Event::Close(code, String::new())]);
        } else {
            assert_eq!(verdict.fault, Some(Fault::CloseCode), "{code}");
        }
    }
}

#[test]
fn faults_of_frames() {
    let with_length = |first: u8, length: &[u8]| [&[first], length, &[0; 4]].concat();
    let cases: &[(&str, Vec<u8>, Fault)] = &[
        ("no mask", vec![FIN | TEXT, 1, b'a'], Fault::Unmasked),
        ("no mask, no payload", vec![FIN | PING, 0], Fault::Unmasked),
        ("RSV1", frame(FIN | 0x40 | TEXT, b"a"), Fault::ReservedBits),
        ("RSV2", frame(FIN | 0x20 | TEXT, b"a"), Fault::ReservedBits),
        (
            "RSV3",
            frame(FIN | 0x10 | BINARY, b"a"),
            Fault::ReservedBits,
        ),
        (
            "RSV1 of a ping",
            frame(FIN | 0x40 | PING, b"a"),
            Fault::ReservedBits,
        ),
        (
            "all reserved bits",
            frame(0x70 | CLOSE, b"a"),
            Fault::ReservedBits,
        ),
        ("opcode 3", frame(FIN | 0x3, b""), Fault::ReservedOpcode),
        ("opcode 7", frame(FIN | 0x7, b""), Fault::ReservedOpcode),
        ("opcode 11", frame(FIN | 0xb, b""), Fault::ReservedOpcode),
        ("opcode 15", frame(0xf, b""), Fault::ReservedOpcode),
        (
            "125 in 16 bits",
            with_length(FIN | TEXT, &[0xfe, 0, 125]),
            Fault::LengthNotShortest,
        ),
        (
            "0 in 64 bits",
            with_length(FIN | TEXT, &[0xff, 0, 0, 0, 0, 0, 0, 0, 0]),
            Fault::LengthNotShortest,
        ),
        (
            "65,535 in 64 bits",
            with_length(FIN | TEXT, &[0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff]),
            Fault::LengthNotShortest,
        ),
        (
            "the topmost bit",
            with_length(FIN | TEXT, &[0xff, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            Fault::LengthTopBit,
        ),
        (
            "all bits of the length",
            with_length(FIN | BINARY, &[0xff; 9]),
            Fault::LengthTopBit,
        ),
        (
            "2^63 - 1",
            with_length(
                FIN | BINARY,
                &[0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255],
            ),
            Fault::MessageTooBig,
        ),
        (
            "a ping without FIN",
            frame(PING, b""),
            Fault::ControlFragmented,
        ),
        (
            "a close frame without FIN",
            frame(CLOSE, b""),
            Fault::ControlFragmented,
        ),
        (
            "a pong of 126",
            frame(FIN | PONG, &[0; 126]),
            Fault::ControlTooLong,
        ),
        (
            "a ping of 65,536",
            frame(FIN | PING, &vec![0; 65_536]),
            Fault::ControlTooLong,
        ),
        (
            "a continuation",
            frame(FIN | CONTINUATION, b"a"),
            Fault::NothingToContinue,
        ),
        (
            "an open continuation",
            frame(CONTINUATION, b""),
            Fault::NothingToContinue,
        ),
        (
            "a text in a text",
            [frame(TEXT, b"a"), frame(FIN | TEXT, b"b")].concat(),
            Fault::MessageNotEnded,
        ),
        (
            "bytes in a text without payload",
            [frame(TEXT, b""), frame(BINARY, b"")].concat(),
            Fault::MessageNotEnded,
        ),
        ("half a code", frame(FIN | CLOSE, &[3]), Fault::CloseLength),
        (
            "a reason that is no UTF-8",
            frame(FIN | CLOSE, b"\x03\xe8\xff"),
            Fault::CloseReason,
        ),
        (
            "a reason that ends in a character",
            frame(FIN | CLOSE, b"\x03\xe8ok \xc3"),
            Fault::CloseReason,
        ),
    ];
    for (name, bytes, expected) in cases {
        let verdict = verdict(bytes, &LIMITS);
        assert_eq!(
            (verdict.events, verdict.fault),
            (vec![], Some(*expected)),
            "{name}"
        );
    }
}

#[test]
fn a_continuation_after_the_last_frame_continues_nothing() {
    let frames = [
        frame(TEXT, b"a"),
        frame(FIN | CONTINUATION, b"b"),
        frame(FIN | CONTINUATION, b"c"),
    ];
    let verdict = verdict(&frames.concat(), &LIMITS);
    assert_eq!(verdict.events, [text("ab")]);
    assert_eq!(verdict.fault, Some(Fault::NothingToContinue));
}

#[test]
fn text_that_is_no_utf8() {
    let cases: &[&[u8]] = &[
        b"\x80",
        b"a\xff",
        b"\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"long enough for a word \xce",
        b"\xf0\x9d\x84",
    ];
    for case in cases {
        assert_eq!(fault(&[frame(FIN | TEXT, case)]), Some(Fault::InvalidText));
        for cut in 0..=case.len() {
            let (first, last) = case.split_at(cut);
            let frames = [frame(TEXT, first), frame(FIN | CONTINUATION, last)];
            assert_eq!(fault(&frames), Some(Fault::InvalidText));
        }
        let binary = events(&[frame(FIN | BINARY, case)]);
        assert_eq!(binary, [Event::Binary(case.to_vec())]);
    }
}

/// RFC 6455 §8.1 lets a server wait for the end of the message; this one does not.
#[test]
fn text_fails_at_the_first_byte_that_cannot_become_utf8() {
    let text = "κόσμε".as_bytes();
    let bytes = frame(FIN | TEXT, &[text, b"\xf4\x90\x80\x80", b"edited"].concat());
    let bad = 6 + text.len() + 1;
    assert_eq!(feed(&bytes[..bad], [bad - 3], &LIMITS).fault, None);
    let fault = feed(&bytes[..=bad], [bad - 3], &LIMITS).fault;
    assert_eq!(fault, Some(Fault::InvalidText));
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

#[test]
fn every_fault_has_a_code_and_a_sentence_that_fits_into_a_close_frame() {
    for fault in Fault::ALL {
        assert!(ws::is_close_code(fault.code()), "{fault:?}");
        assert!(fault.reason().len() <= ws::LONGEST_REASON, "{fault:?}");
        assert!(fault.reason().ends_with('.') && fault.to_string() == fault.reason());
    }
    assert_eq!(Fault::InvalidText.code(), 1007);
    assert_eq!(Fault::MessageTooBig.code(), 1009);
    assert_eq!(Fault::Unmasked.code(), 1002);
}
