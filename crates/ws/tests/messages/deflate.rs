//! permessage-deflate: what zlib compressed, the examples of RFC 7692, and what is no DEFLATE.

use crate::client::{
    BINARY, CONTINUATION, Event, FIN, LIMITS, PING, TEXT, Verdict, feed_with, frame,
};
use flate2::{Decompress, FlushDecompress};
use ws::{Deflater, Fault, Inflater, Limits};

const RSV1: u8 = 0x40;

/// Feeds `bytes` whole, and checks that cuts change nothing.
fn verdict(bytes: &[u8], limits: &Limits) -> Verdict {
    let mut inflater = Inflater::new();
    let whole = feed_with(bytes, [], limits, Some(&mut inflater));
    for cut in (0..bytes.len()).step_by(bytes.len() / 100 + 1) {
        let cut_in_two = feed_with(bytes, [cut], limits, Some(&mut inflater));
        assert_eq!(cut_in_two, whole, "cut at {cut}");
    }
    if bytes.len() < 10_000 {
        let pieces = feed_with(bytes, 0..bytes.len(), limits, Some(&mut inflater));
        assert_eq!(pieces, whole, "byte by byte");
    }
    whole
}

fn events(frames: &[Vec<u8>]) -> Vec<Event> {
    let verdict = verdict(&frames.concat(), &LIMITS);
    assert_eq!(verdict.fault, None);
    verdict.events
}

fn deflated(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Deflater::new().deflate(message, &mut out);
    out
}

fn hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn what_zlib_compressed() {
    let limits = Limits {
        message: 500_000,
        fragments: 3,
    };
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../cases/deflated.json")).unwrap();
    assert!(rows.len() > 50);
    let mut inflater = Inflater::new();
    for row in rows {
        let times = row["times"].as_u64().unwrap() as usize;
        let text = row["unit"].as_str().unwrap().repeat(times);
        let deflated = hex(row["deflated"].as_str().unwrap());
        let name = &row["name"];
        let (first, last) = deflated.split_at(deflated.len() / 2);
        let bytes = [
            frame(FIN | RSV1 | TEXT, &deflated),
            frame(RSV1 | TEXT, first),
            frame(FIN | PING, b""),
            frame(CONTINUATION, last),
            frame(FIN | CONTINUATION, b""),
        ];
        let verdict = feed_with(&bytes.concat(), [], &limits, Some(&mut inflater));
        let event = Event::Text(text);
        let expected = [event.clone(), Event::Ping(Vec::new()), event];
        assert!(verdict.events == expected, "{name}: {:?}", verdict.fault);
    }
}

/// RFC 7692 §7.2.3.
#[test]
fn examples_of_the_rfc() {
    for (name, bytes) in [
        ("a compressed block", "f248cdc9c90700"),
        ("a stored block", "000500faff48656c6c6f00"),
        ("BFINAL", "f348cdc9c9070000"),
        ("BFINAL without the byte after it", "f348cdc9c90700"),
        ("two blocks", "f248050000 00ffffcac9c90700"),
    ] {
        let bytes = hex(&bytes.replace(' ', ""));
        let hello = events(&[frame(FIN | RSV1 | TEXT, &bytes)]);
        assert_eq!(hello, [Event::Text("Hello".into())], "{name}");
    }
    let empty = events(&[frame(FIN | RSV1 | BINARY, &[0])]);
    assert_eq!(empty, [Event::Binary(Vec::new())]);
}

#[test]
fn what_the_deflater_compressed() {
    let noise: Vec<u8> = (0..100_000_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let mut deflater = Deflater::new();
    let mut out = Vec::new();
    for length in [
        0, 1, 2, 100, 255, 256, 257, 1_023, 1_024, 1_025, 5_000, 65_536, 100_000,
    ] {
        for message in [&noise[..length], &vec![b'x'; length]] {
            out.clear();
            deflater.deflate(message, &mut out);
            let received = events(&[frame(FIN | RSV1 | BINARY, &out)]);
            assert!(received == [Event::Binary(message.to_vec())], "{length}");
        }
    }
    assert_eq!(deflated(b""), [0]);
    assert!(deflated(&[b'x'; 10_000]).len() < 100);
    // Nothing of one message is left for the next.
    out.clear();
    deflater.deflate(&[b'x'; 10_000], &mut out);
    assert_eq!(out, deflated(&[b'x'; 10_000]));
}

#[test]
fn appends_to_what_is_there() {
    let mut out = b"head".to_vec();
    Deflater::new().deflate(b"Hello", &mut out);
    assert_eq!(out, [b"head".to_vec(), deflated(b"Hello")].concat());
}

/// [`ws::Deflate::longest`] relies on this. The output is taken in small pieces, so that what is referred to has to be in
/// the window.
#[test]
fn a_message_that_fits_into_a_window_needs_no_larger_one() {
    for bits in [9, 12, 15] {
        let half: Vec<u8> = (0..1_u32 << (bits - 1))
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        let message = half.repeat(2);
        let sent = deflated(&message);
        assert!(
            sent.len() < message.len() * 3 / 4,
            "the second half refers to the first"
        );
        let mut stream = Decompress::new_with_window_bits(false, bits);
        let mut received = Vec::new();
        while received.len() < message.len() {
            let mut piece = [0; 16];
            let from = stream.total_in() as usize;
            let before = stream.total_out();
            stream
                .decompress(&sent[from..], &mut piece, FlushDecompress::None)
                .expect("a window that is large enough");
            let count = (stream.total_out() - before) as usize;
            assert!(count > 0);
            received.extend_from_slice(&piece[..count]);
        }
        assert!(received == message);
    }
}

#[test]
fn reserved_bits() {
    let hello = deflated(b"Hello");
    let fault = |frames: &[Vec<u8>]| verdict(&frames.concat(), &LIMITS).fault;
    let reserved = Some(Fault::ReservedBits);
    assert_eq!(fault(&[frame(FIN | RSV1 | PING, b"")]), reserved);
    assert_eq!(fault(&[frame(FIN | RSV1 | 0x8, b"")]), reserved);
    let continued = frame(FIN | RSV1 | CONTINUATION, &hello[2..]);
    assert_eq!(
        fault(&[frame(RSV1 | TEXT, &hello[..2]), continued.clone()]),
        reserved
    );
    assert_eq!(fault(&[frame(TEXT, b"Hel"), continued]), reserved);
    assert_eq!(fault(&[frame(FIN | RSV1 | 0x20 | TEXT, &hello)]), reserved);
    // Without the extension, or without an inflater.
    let bytes = frame(FIN | RSV1 | TEXT, &hello);
    assert_eq!(feed_with(&bytes, [], &LIMITS, None).fault, reserved);
    let mut receiver = ws::Receiver::new(true);
    assert_eq!(
        receiver.next(&mut bytes.clone(), &LIMITS, None),
        Err(Fault::ReservedBits)
    );
}

#[test]
fn messages_with_and_without_compression_may_alternate() {
    let hello = deflated(b"Hello");
    let frames = [
        frame(FIN | TEXT, b"plain"),
        frame(RSV1 | TEXT, &hello[..1]),
        frame(FIN | CONTINUATION, &hello[1..]),
        frame(TEXT, b"pla"),
        frame(FIN | CONTINUATION, b"in"),
    ];
    let text = |text: &str| Event::Text(text.into());
    assert_eq!(
        events(&frames),
        [text("plain"), text("Hello"), text("plain")]
    );
}

#[test]
fn what_is_no_deflate() {
    let whole = deflated(b"a message that is long enough to be cut, cut, cut at any byte");
    let fault = |bytes: &[u8]| {
        let verdict = verdict(&frame(FIN | RSV1 | TEXT, bytes), &LIMITS);
        assert_eq!(verdict.events, []);
        verdict.fault
    };
    for end in 0..whole.len() - 1 {
        assert_eq!(fault(&whole[..end]), Some(Fault::InvalidDeflate), "{end}");
    }
    for bytes in [
        // A block of the reserved type.
        &[0x07][..],
        // A stored block with a wrong complement of its length.
        &[0x00, 5, 0, 5, 0, b'H', b'e', b'l', b'l', b'o'],
        // A distance before the beginning.
        &[0x4b, 0x04, 0x62, 0x00],
        &[0xff; 40],
    ] {
        assert_eq!(fault(bytes), Some(Fault::InvalidDeflate), "{bytes:x?}");
    }
    // With zlib's own head.
    assert_eq!(
        fault(&[&[0x78, 0x9c], &whole[..]].concat()),
        Some(Fault::InvalidDeflate)
    );
    assert_eq!(
        fault(&deflated(b"not UTF-8: \xff")),
        Some(Fault::InvalidText)
    );
}

#[test]
fn the_limit_counts_after_decompression() {
    let limits = Limits {
        message: 70_000,
        fragments: 100,
    };
    let of = |length: usize| {
        let bytes = frame(FIN | RSV1 | BINARY, &deflated(&vec![b'x'; length]));
        assert!(bytes.len() < length / 100);
        verdict(&bytes, &limits)
    };
    for length in [69_999, 70_000] {
        assert_eq!(of(length).events, [Event::Binary(vec![b'x'; length])]);
    }
    for length in [70_001, 70_002, 100_000, 10_000_000] {
        assert_eq!(of(length).fault, Some(Fault::MessageTooBig), "{length}");
    }
}

#[test]
fn a_message_at_the_limit_may_be_longer_when_it_is_compressed() {
    let stored = |length: u8| {
        // Blocks of one byte, and the empty one at the end: as wasteful as it gets.
        let block = |byte: u8| [0, 1, 0, 0xfe, 0xff, byte];
        let mut bytes: Vec<u8> = (0..length).flat_map(block).collect();
        bytes.push(0);
        frame(FIN | RSV1 | BINARY, &bytes)
    };
    let limits = |message| Limits {
        message,
        fragments: 1,
    };
    assert_eq!(verdict(&stored(2), &limits(2)).fault, None);
    let verdict = verdict(&stored(100), &limits(100));
    assert_eq!(verdict.fault, Some(Fault::MessageTooBig));
}

/// A GiB of zeros is a MiB when it is compressed, and has to end at the limit.
#[test]
fn a_bomb_ends_at_the_limit() {
    // Whole blocks, each with the tail that ends it.
    let block = [&deflated(&vec![0; 1 << 20])[..], &[0, 0, 0xff, 0xff]].concat();
    let mut bomb = block.repeat(1_024);
    bomb.push(0);
    assert!(bomb.len() < 2 << 20);
    let limits = Limits {
        message: 16 << 20,
        fragments: 1,
    };
    let bytes = frame(FIN | RSV1 | BINARY, &bomb);
    let verdict = feed_with(&bytes, [], &limits, Some(&mut Inflater::new()));
    assert_eq!(verdict.fault, Some(Fault::MessageTooBig));
}
