//! Seeded mutation fuzzing on stable Rust. `FUZZ_SECONDS` (default 1) bounds each test, `FUZZ_SEED` repeats a run.
//!
//! Holds: no panic; the cut of the reads changes nothing; spans lie in the head; an accepted head also satisfies a
//! second, naive reading of the same bytes; a stream of requests is cut into the same requests however it arrives;
//! time is linear.

mod corpus;

use corpus::mutants::run;
use corpus::{feed_body, feed_head};
use std::time::{Duration, Instant};
use wire::{
    Framing, Head, Known, Limits, PathKind, Progress, Refusal, Version, canonicalise, chunked,
    parse_head,
};

#[test]
fn heads() {
    let small = Limits {
        max_header_size: 200,
        max_header_line: 60,
        max_headers: 5,
        max_url_length: 40,
        methods: vec![REGISTERED.as_bytes().into()],
        ..Limits::default()
    };
    let seeds: Vec<_> = corpus::cases().into_iter().map(|case| case.bytes).collect();
    run("heads", &seeds, |bytes, random| {
        let limits = if random.below(3) == 0 {
            small.clone()
        } else {
            Limits::default()
        };
        let whole = feed_head(bytes, [], &limits);
        assert_ne!(
            whole,
            Err(Refusal::Malformed),
            "httparse and our own reading differ"
        );
        if let Ok(Some(head)) = &whole {
            is_sound(bytes, head, &limits);
        }
        assert_eq!(feed_head(bytes, random.cuts(bytes.len()), &limits), whole);
        if bytes.len() < 600 {
            assert_eq!(
                feed_head(bytes, 0..bytes.len(), &limits),
                whole,
                "byte by byte"
            );
        }
    });
}

#[test]
fn bodies() {
    let small = Limits {
        max_chunk_extensions: 8,
        max_chunk_extensions_total: 20,
        max_trailer_size: 30,
        max_trailers: 2,
        ..Limits::default()
    };
    let seeds: Vec<_> = corpus::bodies()
        .into_iter()
        .map(|case| case.bytes)
        .collect();
    run("bodies", &seeds, |bytes, random| {
        let limits = if random.below(3) == 0 {
            small.clone()
        } else {
            Limits::default()
        };
        let whole = feed_body(bytes, [], &limits);
        if whole.done {
            assert_eq!(
                naive_body(&bytes[..whole.consumed]).as_ref(),
                Some(&whole.data),
                "a naive decoder differs"
            );
        }
        assert_eq!(feed_body(bytes, random.cuts(bytes.len()), &limits), whole);
        assert_eq!(
            feed_body(bytes, 0..bytes.len(), &limits),
            whole,
            "byte by byte"
        );
    });
}

#[test]
fn streams() {
    let next = b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
    let seeds: Vec<_> = corpus::cases()
        .into_iter()
        .map(|case| [&case.bytes[..], next].concat())
        .collect();
    run("streams", &seeds, |bytes, random| {
        let whole = requests(bytes, [bytes.len()]);
        assert_eq!(
            requests(
                bytes,
                random.cuts(bytes.len()).into_iter().chain([bytes.len()])
            ),
            whole
        );
        if bytes.len() < 300 {
            assert_eq!(requests(bytes, 1..=bytes.len()), whole, "byte by byte");
        }
    });
}

/// Bytes that arrive one by one: eight times as many may take at most 30 times as long (a re-parse takes 64).
#[test]
fn linear_time() {
    let limits = Limits {
        max_header_size: 1 << 20,
        max_header_line: 1 << 20,
        max_url_length: 1 << 20,
        max_headers: 20_000,
        ..Limits::default()
    };
    let shape = |name: &str, size: usize| match name {
        "long target" => format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "p".repeat(size)),
        "many escapes" => format!(
            "GET /{} HTTP/1.1\r\nHost: a\r\n\r\n",
            "%c3%A9".repeat(size / 6)
        ),
        "many fields" => format!(
            "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
            "X-Y: z\r\n".repeat(size / 8)
        ),
        _ => format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
            "v".repeat(size)
        ),
    };
    for name in ["long target", "many escapes", "many fields", "long value"] {
        let time = |size: usize| {
            let text = shape(name, size);
            let rounds = (0..3).map(|_| {
                let start = Instant::now();
                assert!(matches!(
                    feed_head(text.as_bytes(), 0..text.len(), &limits),
                    Ok(Some(_))
                ));
                start.elapsed()
            });
            rounds.min().unwrap_or_default()
        };
        // Other work on the machine only makes a round slower, so one good pair is proof.
        let mut pairs: Vec<(Duration, Duration)> = Vec::new();
        while pairs.len() < 20
            && pairs
                .last()
                .is_none_or(|(short, long)| *long >= *short * 30)
        {
            pairs.push((time(8_000), time(64_000)));
        }
        assert!(
            pairs.len() < 20,
            "{name}, 8,000 and 64,000 bytes: {pairs:?}"
        );
    }
}

/// The tests with small limits register these.
const REGISTERED: &str = "BREW";

fn method_name(head: &Head) -> &'static str {
    match usize::from(head.method.index()) {
        32 => "TRACE",
        33 => "CONNECT",
        8 => REGISTERED,
        index => [
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
        ][index],
    }
}

/// Reads an accepted head again in the simplest way and compares.
fn is_sound(bytes: &[u8], head: &Head, limits: &Limits) {
    let len = head.len as usize;
    assert!(len <= bytes.len() && len <= limits.max_header_size as usize);
    let bytes = &bytes[..len];
    let text: String = bytes.iter().map(|byte| *byte as char).collect();
    let text = text.strip_prefix("\r\n").unwrap_or(&text);
    let mut lines: Vec<_> = text.split("\r\n").collect();
    assert_eq!(
        lines.split_off(lines.len() - 2),
        ["", ""],
        "ends with an empty line"
    );
    assert!(
        lines
            .iter()
            .all(|line| !line.is_empty() && !line.contains(['\r', '\n', '\0', '\x7f']))
    );

    let of = |span: wire::Span| {
        span.of(bytes)
            .iter()
            .map(|byte| *byte as char)
            .collect::<String>()
    };
    let version = if head.version == Version::Http10 {
        "HTTP/1.0"
    } else {
        "HTTP/1.1"
    };
    assert_eq!(
        lines[0],
        format!("{} {} {version}", method_name(head), of(head.target))
    );
    assert!(head.target.len <= limits.max_url_length);
    assert_eq!(lines.len() - 1, head.fields.len());
    assert!(head.fields.len() <= limits.max_headers as usize);
    let mut known = 0;
    for (line, field) in lines[1..].iter().zip(&head.fields) {
        assert!(line.chars().count() <= limits.max_header_line as usize);
        let (name, value) = line.split_once(':').expect("a colon");
        assert_eq!(of(field.name), name);
        assert_eq!(of(field.value), value.trim_matches([' ', '\t']));
        let id = wire::KNOWN_NAMES
            .iter()
            .position(|known| *known == name.to_ascii_lowercase());
        assert_eq!(field.known as usize, id.unwrap_or(0));
        known |= 1 << field.known as u8;
    }
    assert_eq!(head.known, known);

    let all = |known: Known| {
        head.fields
            .iter()
            .filter(move |field| field.known == known)
            .map(|field| of(field.value))
    };
    let (lengths, codings): (Vec<_>, Vec<_>) = (
        all(Known::ContentLength).collect(),
        all(Known::TransferEncoding).collect(),
    );
    match head.framing {
        Framing::None => assert!(lengths.is_empty() && codings.is_empty()),
        Framing::Length(length) => {
            assert!(codings.is_empty() && lengths.len() == 1);
            assert_eq!(lengths[0].parse(), Ok(length));
        }
        Framing::Chunked => {
            assert!(lengths.is_empty() && codings.len() == 1 && head.version == Version::Http11);
            assert_eq!(codings[0].to_ascii_lowercase(), "chunked");
        }
    }
    let hosts = all(Known::Host).count();
    assert!(hosts == 1 || hosts == 0 && head.version == Version::Http10);
    assert!(!of(head.host).contains(['@', '/', ',', ' ', '?', '#']));

    let (path, target) = (of(head.path), of(head.target));
    let mut canonical = Vec::new();
    match head.path_kind {
        PathKind::Asterisk => assert_eq!(
            (path.as_str(), target.as_str(), method_name(head)),
            ("*", "*", "OPTIONS")
        ),
        PathKind::Authority => {
            assert_eq!((path.as_str(), method_name(head)), ("", "CONNECT"));
            assert_eq!(of(head.host), target);
            assert!(!head.keep_alive);
        }
        PathKind::Root => assert_eq!(path, ""),
        kind => {
            assert_eq!(canonicalise(path.as_bytes(), &mut canonical), Ok(()));
            assert_eq!(kind == PathKind::Plain, canonical == path.as_bytes());
            let mut again = Vec::new();
            assert_eq!(canonicalise(&canonical, &mut again), Ok(()));
            assert_eq!(again, canonical);
            let segments = || canonical.split(|byte| *byte == b'/');
            assert!(segments().all(|segment| segment != b"." && segment != b".."));
        }
    }
    assert_eq!(
        head.query.map(of),
        target.split_once('?').map(|(_, query)| query.to_string())
    );
}

/// Decodes a complete chunked body with string functions.
fn naive_body(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let mut rest = bytes;
    loop {
        let line = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let size = rest[..line].split(|byte| *byte == b';').next()?;
        let size = usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()?;
        rest = &rest[line + 2..];
        if size == 0 {
            let trailers = rest == b"\r\n" || rest.ends_with(b"\r\n\r\n");
            return trailers.then_some(data);
        }
        data.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

/// What a connection makes of a stream of requests: head lengths and bodies, and the refusal that ended it.
#[derive(PartialEq, Eq, Debug, Default)]
struct Stream {
    requests: Vec<(String, Vec<u8>)>,
    open: Option<(String, Vec<u8>)>,
    refusal: Option<Refusal>,
}

fn requests(bytes: &[u8], ends: impl IntoIterator<Item = usize>) -> Stream {
    enum Reading {
        Head,
        Length(usize),
        Chunks(chunked::Decoder),
    }
    let limits = Limits::default();
    let mut stream = Stream::default();
    let mut head = Head::new();
    let (mut at, mut scanned) = (0, 0);
    let mut reading = Reading::Head;
    for end in ends {
        loop {
            let input = &bytes[at..end];
            match &mut reading {
                Reading::Head => match parse_head(input, &mut scanned, &limits, &mut head) {
                    Ok(Progress::Partial) => break,
                    Ok(Progress::Complete) => {
                        stream.open =
                            Some((head.target.of(input).escape_ascii().to_string(), Vec::new()));
                        at += head.len as usize;
                        reading = match head.framing {
                            Framing::None => Reading::Length(0),
                            Framing::Length(length) => {
                                Reading::Length(usize::try_from(length).unwrap_or(usize::MAX))
                            }
                            Framing::Chunked => Reading::Chunks(chunked::Decoder::default()),
                        };
                    }
                    Err(refusal) => {
                        return Stream {
                            refusal: Some(refusal),
                            ..stream
                        };
                    }
                },
                Reading::Length(0) => {
                    stream.requests.extend(stream.open.take());
                    reading = Reading::Head;
                }
                Reading::Length(_) | Reading::Chunks(_) if input.is_empty() => break,
                Reading::Length(left) => {
                    let take = input.len().min(*left);
                    body(&mut stream).extend_from_slice(&input[..take]);
                    *left -= take;
                    at += take;
                }
                Reading::Chunks(decoder) => match decoder.step(input, &limits) {
                    Ok(step) => {
                        if let Some(range) = step.data {
                            body(&mut stream).extend_from_slice(&input[range]);
                        }
                        at += step.consumed;
                        if step.done {
                            reading = Reading::Length(0);
                        }
                    }
                    Err(refusal) => {
                        return Stream {
                            refusal: Some(refusal),
                            ..stream
                        };
                    }
                },
            }
        }
    }
    stream
}

fn body(stream: &mut Stream) -> &mut Vec<u8> {
    &mut stream.open.as_mut().expect("a request is open").1
}
