//! What a client may not send.

use super::{events, fault, text, verdict};
use crate::client::{
    BINARY, CLOSE, CONTINUATION, Event, FIN, LIMITS, PING, PONG, TEXT, feed, frame,
};
use ws::Fault;

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
