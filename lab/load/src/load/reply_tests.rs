use std::fmt::Write;

use super::*;
use volant_load::random::Random;

/// Replies, and status, length of the body and `close` of each that they hold; the last may end with the connection.
type Sample = (&'static str, &'static [(u16, u64, bool)]);

const SAMPLES: &[Sample] = &[
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        &[(200, 2, false)],
    ),
    (
        "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 2\r\n\r\nok\
         HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:38 GMT\r\nContent-Length: 2\r\n\r\nno",
        &[(200, 2, false), (200, 2, false)],
    ),
    (
        "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304\r\nContent-Length: 9\r\n\r\n",
        &[(204, 0, false), (304, 0, false)],
    ),
    (
        "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n\
         HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
        &[(200, 13, false), (404, 0, false)],
    ),
    (
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
        &[(201, 1, false)],
    ),
    (
        "HTTP/1.1 200 OK\r\nConnection: Keep-Alive, CLOSE\r\nContent-Length: 1\r\n\r\nx",
        &[(200, 1, true)],
    ),
    (
        "HTTP/1.1 200 OK\r\n\r\nuntil the end\r\n\r\n",
        &[(200, 17, true)],
    ),
    (
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        &[(200, 1, true)],
    ),
    (
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
        &[(200, 1, false)],
    ),
];

const BROKEN: &[&str] = &[
    "HELLO",
    "HTTP/2 200 OK\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 099 No\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 1\r\n\r\nx",
    "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
    "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890123456\r\n",
];

/// All that `pieces` give, as text; the connection is closed after them.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, known: &mut Known) -> String {
    let mut reader = Reader::new();
    let mut text = String::new();
    let mut kept = Vec::new();
    let mut tell = |reply: Reply, kept: &mut Vec<u8>| {
        assert_eq!(reply.length, kept.len() as u64);
        write!(
            text,
            "{} {} {} {}|",
            reply.status,
            reply.length,
            reply.close,
            kept.escape_ascii()
        )
        .unwrap();
        kept.clear();
    };
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            let keep = Keep {
                bytes: &mut kept,
                most: usize::MAX,
            };
            let (used, step) = reader.next(rest, known, false, Some(keep));
            assert!(used > 0 && used <= rest.len());
            rest = &rest[used..];
            match step {
                Step::More => assert!(rest.is_empty()),
                Step::Whole(reply) => tell(reply, &mut kept),
                Step::Malformed(why) => {
                    assert!(!why.is_empty());
                    text.push('!');
                    return text;
                }
            }
        }
    }
    if let Some(reply) = reader.end() {
        tell(reply, &mut kept);
    }
    text
}

fn whole(bytes: &[u8]) -> String {
    read(std::iter::once(bytes), &mut Known::default())
}

#[test]
fn replies_in_one_piece() {
    for (text, expected) in SAMPLES {
        let found = whole(text.as_bytes());
        let found: Vec<_> = found.split_terminator('|').collect();
        assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
        for (found, (status, length, close)) in found.iter().zip(*expected) {
            assert!(
                found.starts_with(&format!("{status} {length} {close} ")),
                "{text}: {found}"
            );
        }
    }
}

#[test]
fn replies_cut_anywhere_and_byte_by_byte() {
    for text in SAMPLES
        .iter()
        .map(|(text, _)| *text)
        .chain(BROKEN.iter().copied())
    {
        let bytes = text.as_bytes();
        let expected = whole(bytes);
        for cut in 0..bytes.len() {
            let found = read(
                [&bytes[..cut], &bytes[cut..]].into_iter(),
                &mut Known::default(),
            );
            assert_eq!(found, expected, "{text} at {cut}");
        }
        assert_eq!(
            read(bytes.chunks(1), &mut Known::default()),
            expected,
            "{text}"
        );
    }
}

#[test]
fn what_is_no_reply_is_malformed() {
    for text in BROKEN {
        assert!(whole(text.as_bytes()).ends_with('!'), "{text}");
    }
    let endless = [b"HTTP/1.1 200 OK\r\nA: ".as_slice(), &vec![b'a'; MAX_HEAD]].concat();
    assert_eq!(read(endless.chunks(1000), &mut Known::default()), "!");
}

#[test]
fn head_has_a_length_and_no_body() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n";
    let (used, step) = Reader::new().next(bytes, &mut Known::default(), true, None);
    let Step::Whole(reply) = step else {
        panic!("{step:?}")
    };
    assert_eq!(
        (used, reply.declared, reply.length, reply.close),
        (bytes.len(), Some(25), 0, false)
    );
}

#[test]
fn a_reply_to_head_without_a_length_does_not_end_the_connection() {
    for (text, close) in [
        ("HTTP/1.1 200 OK\r\n\r\n", false),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            false,
        ),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", true),
        ("HTTP/1.0 200 OK\r\n\r\n", true),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n", false),
    ] {
        let (used, step) = Reader::new().next(text.as_bytes(), &mut Known::default(), true, None);
        let Step::Whole(reply) = step else {
            panic!("{text}: {step:?}")
        };
        assert_eq!(
            (used, reply.declared, reply.close),
            (text.len(), None, close),
            "{text}"
        );
    }
}

#[test]
fn no_more_of_a_body_is_kept_than_asked() {
    for head in [
        "Content-Length: 6\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n6\r\n",
        "Connection: close\r\n\r\n",
    ] {
        let text = format!("HTTP/1.1 200 OK\r\n{head}abcdef");
        for size in [1, 2, text.len()] {
            let (mut reader, mut kept) = (Reader::new(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                let keep = Keep {
                    bytes: &mut kept,
                    most: 4,
                };
                reader.next(piece, &mut Known::default(), false, Some(keep));
            }
            assert_eq!((kept.as_slice(), reader.length), (b"abcd".as_slice(), 6));
        }
    }
}

#[test]
fn only_the_date_may_differ_from_the_head_before() {
    let head = |date: &str, tail: &str| {
        format!("HTTP/1.1 200 OK\r\nDate: {date}\r\n{tail}\r\n\r\n").into_bytes()
    };
    let mut known = Known::default();
    known
        .read(&head("Sun, 06 Nov 1994 08:49:37 GMT", "Content-Length: 5"))
        .unwrap();
    assert!(known.matches(&head("Mon, 07 Nov 1994 08:49:37 GMT", "Content-Length: 5")));
    assert!(!known.matches(&head("Sun, 06 Nov 1994 08:49:37 GMT", "Content-Length: 6")));
    assert!(!known.matches(&head(
        "Sun, 06\r\nConnection: close: x",
        "Content-Length: 5"
    )));
    known.read(&head("today", "Content-Length: 5")).unwrap();
    assert!(!known.matches(&head("later", "Content-Length: 5")));
}

#[test]
fn mutated_replies_are_read_alike_in_any_pieces() {
    let mut random = Random::new(0x5eed);
    let mut known = Known::default();
    for _ in 0..30_000 {
        let (text, _) = SAMPLES[random.below(SAMPLES.len() as u64) as usize];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[at] = random.number() as u8,
                1 => bytes.insert(at, b"\r\n:0 ;,a"[random.below(8) as usize]),
                2 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes.extend_from_slice(&text.as_bytes()[at.min(text.len())..]),
            }
        }
        let expected = whole(&bytes);
        let size = 1 + random.below(40) as usize;
        // What was known of other heads must not change anything either.
        assert_eq!(
            read(bytes.chunks(size), &mut known),
            expected,
            "{}",
            bytes.escape_ascii()
        );
    }
}
