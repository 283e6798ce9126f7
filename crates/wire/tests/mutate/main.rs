//! Seeded mutation fuzzing on stable Rust. `FUZZ_SECONDS` (default 1) bounds each test, `FUZZ_SEED` repeats a run.
//!
//! Holds: no panic; the cut of the reads changes nothing; spans lie in the head; an accepted head also satisfies a
//! second, naive reading of the same bytes; a stream of requests is cut into the same requests however it arrives;
//! time is linear.

#[path = "../corpus/mod.rs"]
mod corpus;
mod naive;
mod sound;

use std::time::{Duration, Instant};

use corpus::mutants::run;
use corpus::{feed_body, feed_head};
use naive::{naive_body, requests};
use sound::{REGISTERED, is_sound};
use wire::{Limits, Refusal};

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
