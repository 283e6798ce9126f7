//! Limits, one below, at, and one above; chunks; and the codes of refusals.

use super::verdict;
use crate::corpus::{cases, feed_body, feed_head, read};
use wire::{Limits, Refusal};

/// Checks one below, at and above a limit, whole and byte by byte; `build(n)` has size `n` of what is limited.
fn boundary(limits: &Limits, limit: usize, refusal: Refusal, build: impl Fn(usize) -> String) {
    for (size, expected) in [
        (limit - 1, Ok(true)),
        (limit, Ok(true)),
        (limit + 1, Err(refusal)),
        (limit + 99, Err(refusal)),
    ] {
        let text = build(size);
        assert_eq!(
            verdict(text.as_bytes(), limits),
            expected,
            "{refusal:?} {size}"
        );
        let bytewise = feed_head(text.as_bytes(), 0..text.len(), limits).map(|head| head.is_some());
        assert_eq!(bytewise, expected, "{refusal:?} {size} byte by byte");
    }
}

#[test]
fn limits_at_their_boundaries() {
    let limits = Limits::default();
    boundary(&limits, 16_384, Refusal::HeadTooLarge, |size| {
        let mut text = "GET / HTTP/1.1\r\nHost: a\r\n".to_string();
        while size - text.len() > 4_000 {
            text = text + "A: " + &"v".repeat(2_000) + "\r\n";
        }
        let rest = size - text.len() - "B: \r\n\r\n".len();
        text + "B: " + &"v".repeat(rest) + "\r\n\r\n"
    });
    boundary(&limits, 8_192, Refusal::FieldLineTooLong, |size| {
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
            "v".repeat(size - 3)
        )
    });
    boundary(&limits, 8_192, Refusal::FieldLineTooLong, |size| {
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}v\r\nY: z\r\n\r\n",
            " ".repeat(size - 4)
        )
    });
    boundary(&limits, 8_192, Refusal::TargetTooLong, |size| {
        format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "p".repeat(size - 1))
    });
    boundary(&limits, 100, Refusal::TooManyFields, |count| {
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
            "X: y\r\n".repeat(count - 1)
        )
    });
    let many = Limits {
        max_headers: 300,
        ..limits.clone()
    };
    boundary(&many, 300, Refusal::TooManyFields, |count| {
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
            "X: y\r\n".repeat(count - 1)
        )
    });
    let none = Limits {
        max_headers: 0,
        ..limits.clone()
    };
    assert_eq!(verdict(b"GET / HTTP/1.0\r\n\r\n", &none), Ok(true));
    assert_eq!(
        verdict(b"GET / HTTP/1.0\r\nA: b\r\n\r\n", &none),
        Err(Refusal::TooManyFields)
    );
}

/// RFC 9110 §15.5.15: the answer need not wait for the rest of the head.
#[test]
fn long_targets_and_heads_are_refused_early() {
    let limits = Limits::default();
    let target = |length: usize| format!("GET /{}", "p".repeat(length - 1));
    assert_eq!(verdict(target(8_192).as_bytes(), &limits), Ok(false));
    assert_eq!(
        verdict(target(8_193).as_bytes(), &limits),
        Err(Refusal::TargetTooLong)
    );
    let line = format!("{} HTTP/1.1", target(8_192));
    assert_eq!(verdict(line.as_bytes(), &limits), Ok(false));
    assert_eq!(
        verdict((line + "1").as_bytes(), &limits),
        Err(Refusal::VersionSyntax)
    );
    let open = |length: usize| format!("GET / HTTP/1.1\r\nX: {}", "v".repeat(length - 19));
    assert_eq!(verdict(open(16_383).as_bytes(), &limits), Ok(false));
    assert_eq!(
        verdict(open(16_384).as_bytes(), &limits),
        Err(Refusal::HeadTooLarge)
    );
}

#[test]
fn chunk_limits_at_their_boundaries() {
    let limits = Limits::default();
    let refusal = |text: String| feed_body(text.as_bytes(), [], &limits).refusal;
    let extension = |length: usize| format!(";{}", "e".repeat(length - 1));

    let chunk = |length: usize| format!("1{}\r\nx\r\n", extension(length));
    assert_eq!(refusal(chunk(1_024) + "0\r\n\r\n"), None);
    assert_eq!(refusal(chunk(1_025)), Some(Refusal::ChunkExtensionSize));
    assert_eq!(refusal(chunk(1_024).repeat(16) + "0\r\n\r\n"), None);
    assert_eq!(
        refusal(chunk(1_024).repeat(16) + "0;e\r\n\r\n"),
        Some(Refusal::ChunkExtensionSize)
    );

    let trailers = |size: usize| format!("0\r\nA: {}\r\n\r\n", "v".repeat(size - 5));
    assert_eq!(refusal(trailers(8_192)), None);
    assert_eq!(refusal(trailers(8_193)), Some(Refusal::TrailerTooLarge));
    let count = |count: usize| format!("0\r\n{}\r\n", "A: b\r\n".repeat(count));
    assert_eq!(refusal(count(32)), None);
    assert_eq!(refusal(count(33)), Some(Refusal::TooManyTrailers));
}

#[test]
fn chunk_data() {
    for (bytes, data, done, consumed) in [
        (
            "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nA: b\r\n\r\nGET",
            "hello world",
            true,
            36,
        ),
        ("0\r\n\r\n", "", true, 5),
        ("5\r\nhel", "hel", false, 6),
        ("5\r\nhello\r\n0\r\n\r", "hello", false, 14),
    ] {
        let body = feed_body(bytes.as_bytes(), [], &Limits::default());
        assert_eq!(
            (body.data.as_slice(), body.done, body.consumed),
            (data.as_bytes(), done, consumed),
            "{bytes:?}"
        );
    }
}

#[test]
fn refusals_have_one_code_each() {
    let limits = Limits::default();
    let mut codes: Vec<_> = cases()
        .iter()
        .filter_map(|case| read(&case.bytes, &limits).err())
        .map(|refusal| (refusal.code(), refusal))
        .collect();
    codes.sort_by_key(|(code, _)| *code);
    codes.dedup();
    assert!(
        codes.windows(2).all(|pair| pair[0].0 != pair[1].0),
        "{codes:?}"
    );
    for (code, refusal) in codes {
        assert!(code.starts_with("E_") && !refusal.message().is_empty());
        assert!(
            matches!(refusal.status(), 400 | 414 | 417 | 431 | 501 | 505),
            "{code}"
        );
        assert!(refusal.to_string().starts_with(code));
    }
}
