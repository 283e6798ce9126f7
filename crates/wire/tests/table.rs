//! The verdicts of the corpus, what an accepted head says, the limits at their boundaries, and every cut.

mod corpus;

use corpus::{Case, bodies, cases, feed_body, feed_head, read};
use wire::{Framing, Head, Known, Limits, Method, PathKind, Refusal, Span, Version};

fn accept(text: &str) -> Head {
    match feed_head(text.as_bytes(), [], &Limits::default()) {
        Ok(Some(head)) => head,
        other => panic!("{text:?}: {other:?}"),
    }
}

fn verdict(bytes: &[u8], limits: &Limits) -> Result<bool, Refusal> {
    feed_head(bytes, [], limits).map(|head| head.is_some())
}

#[test]
fn corpus() {
    let cases = cases();
    assert!(cases.len() > 700);
    for Case { name, bytes, code } in &cases {
        let refusal = read(bytes, &Limits::default()).err();
        assert_eq!(refusal.map(Refusal::code), code.as_deref(), "{name}");
    }
}

#[test]
fn every_cut_gives_the_same_verdict() {
    let limits = Limits::default();
    for Case { name, bytes, .. } in &cases() {
        let whole = feed_head(bytes, [], &limits);
        for cut in 0..bytes.len() {
            assert_eq!(
                feed_head(bytes, [cut], &limits),
                whole,
                "{name}, cut at {cut}"
            );
        }
        assert_eq!(
            feed_head(bytes, 0..bytes.len(), &limits),
            whole,
            "{name}, byte by byte"
        );
    }
    for Case { name, bytes, .. } in &bodies() {
        let whole = feed_body(bytes, [], &limits);
        for cut in 0..bytes.len() {
            assert_eq!(
                feed_body(bytes, [cut], &limits),
                whole,
                "{name}, cut at {cut}"
            );
        }
        assert_eq!(
            feed_body(bytes, 0..bytes.len(), &limits),
            whole,
            "{name}, byte by byte"
        );
    }
}

#[test]
fn every_byte_in_every_place_of_a_small_head() {
    let limits = Limits::default();
    let base = b"PUT /a?b HTTP/1.1\r\nHost: c\r\nX-Y: z\r\n\r\n";
    for at in 0..base.len() {
        for byte in 0..=255 {
            let mut bytes = *base;
            bytes[at] = byte;
            let whole = feed_head(&bytes, [], &limits);
            assert_ne!(whole, Err(Refusal::Malformed), "{}", bytes.escape_ascii());
            assert_eq!(
                feed_head(&bytes, 0..bytes.len(), &limits),
                whole,
                "{}",
                bytes.escape_ascii()
            );
            assert_eq!(
                feed_head(&bytes, [at + 1], &limits),
                whole,
                "{}",
                bytes.escape_ascii()
            );
        }
    }
}

#[test]
fn what_a_head_says() {
    let text = "\r\nPOST /a%2eb/c?d=e HTTP/1.1\r\nHost: x.org\r\nContent-Type:  application/json \r\n\
                cONTENT-length: 12\r\nExpect: 100-continue\r\nX-Other:\r\nContent-Type: second\r\n\r\n{\"a\": true}\n";
    let head = accept(text);
    let of = |span: Span| std::str::from_utf8(span.of(text.as_bytes())).unwrap();
    assert_eq!((head.method, head.version), (Method::POST, Version::Http11));
    assert_eq!(of(head.target), "/a%2eb/c?d=e");
    assert_eq!(
        (of(head.path), head.path_kind),
        ("/a%2eb/c", PathKind::Escaped)
    );
    assert_eq!(head.query.map(of), Some("d=e"));
    assert_eq!(head.framing, Framing::Length(12));
    assert!(head.keep_alive && head.expect_continue);
    assert_eq!(of(head.host), "x.org");
    assert_eq!(head.content_type.map(of), Some("application/json"));
    assert_eq!(head.len as usize, text.len() - 12);
    let fields: Vec<_> = head
        .fields
        .iter()
        .map(|field| (of(field.name), of(field.value), field.known))
        .collect();
    assert_eq!(
        fields,
        [
            ("Host", "x.org", Known::Host),
            ("Content-Type", "application/json", Known::ContentType),
            ("cONTENT-length", "12", Known::ContentLength),
            ("Expect", "100-continue", Known::Expect),
            ("X-Other", "", Known::Other),
            ("Content-Type", "second", Known::ContentType),
        ]
    );
    let bits = fields.iter().fold(0, |bits, field| bits | field.2.bit());
    assert_eq!(head.known, bits);
    assert_eq!(head.first(Known::ContentLength).map(of), Some("12"));
    assert_eq!(head.first(Known::Cookie), None);
}

#[test]
fn target_parts() {
    for (line, path, kind, query, host) in [
        ("GET /a", "/a", PathKind::Plain, None, "h"),
        ("GET /a?", "/a", PathKind::Plain, Some(""), "h"),
        ("GET /a.b?c?d", "/a.b", PathKind::Plain, Some("c?d"), "h"),
        ("GET /a%2Fb", "/a%2Fb", PathKind::Plain, None, "h"),
        ("GET /a%2fb", "/a%2fb", PathKind::Escaped, None, "h"),
        ("GET /?%zz", "/", PathKind::Plain, Some("%zz"), "h"),
        ("OPTIONS *", "*", PathKind::Asterisk, None, "h"),
        ("GET http://x:80", "", PathKind::Root, None, "x:80"),
        ("GET http://x?q", "", PathKind::Root, Some("q"), "x"),
        (
            "GET https://x/%7e?q",
            "/%7e",
            PathKind::Escaped,
            Some("q"),
            "x",
        ),
        ("OPTIONS http://x", "", PathKind::Root, None, "x"),
        ("CONNECT x:80", "", PathKind::Authority, None, "x:80"),
        ("TRACE /a", "/a", PathKind::Plain, None, "h"),
    ] {
        let text = format!("{line} HTTP/1.1\r\nHost: h\r\n\r\n");
        let head = accept(&text);
        let of = |span: Span| String::from_utf8_lossy(span.of(text.as_bytes())).into_owned();
        assert_eq!(
            (of(head.path).as_str(), head.path_kind),
            (path, kind),
            "{line}"
        );
        assert_eq!(head.query.map(of).as_deref(), query, "{line}");
        assert_eq!(of(head.host), host, "{line}");
    }
}

#[test]
fn registered_methods_are_known_and_no_others() {
    let limits = Limits {
        methods: vec![b"PURGE"[..].into(), b"VERSION-CONTROL"[..].into()],
        ..Limits::default()
    };
    let index = |name: &str| {
        let text = format!("{name} / HTTP/1.1\r\nHost: h\r\n\r\n");
        let whole = feed_head(text.as_bytes(), [], &limits);
        assert_eq!(feed_head(text.as_bytes(), 0..text.len(), &limits), whole);
        whole.map(|head| head.unwrap().method.index())
    };
    assert_eq!(index("GET"), Ok(0));
    assert_eq!(index("PURGE"), Ok(8));
    assert_eq!(index("VERSION-CONTROL"), Ok(9));
    for name in ["purge", "PURG", "PURGES", "LINK"] {
        assert_eq!(index(name), Err(Refusal::MethodUnknown), "{name}");
    }
}

/// RFC 9112 §9.3
#[test]
fn persistence() {
    for (version, connection, keep) in [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: CLOSE\r\n", false),
        ("1.1", "Connection: foo, close ,bar\r\n", false),
        ("1.1", "Connection: foo\r\nConnection: close\r\n", false),
        ("1.1", "Connection: keep-alive, close\r\n", false),
        ("1.1", "Connection: closed\r\n", true),
        ("1.1", "Connection:\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
    ] {
        let head = accept(&format!(
            "GET / HTTP/{version}\r\nHost: a\r\n{connection}\r\n"
        ));
        assert_eq!(head.keep_alive, keep, "{version} {connection:?}");
    }
}

/// RFC 9110 §10.1.1
#[test]
fn continues() {
    for (version, rest, expects) in [
        ("1.1", "Content-Length: 1\r\n", true),
        ("1.1", "Transfer-Encoding: chunked\r\n", true),
        ("1.1", "Content-Length: 0\r\n", false),
        ("1.1", "", false),
        ("1.0", "Content-Length: 1\r\n", false),
    ] {
        let head = accept(&format!(
            "POST / HTTP/{version}\r\nHost: a\r\nExpect: 100-continue\r\n{rest}\r\n"
        ));
        assert_eq!(head.expect_continue, expects, "{version} {rest:?}");
    }
}

#[test]
fn framing() {
    for (fields, framing) in [
        ("", Framing::None),
        ("Content-Length: 0\r\n", Framing::Length(0)),
        ("Content-Length: 007\r\n", Framing::Length(7)),
        (
            "Content-Length: 9007199254740991\r\n",
            Framing::Length(9_007_199_254_740_991),
        ),
        ("Transfer-Encoding: cHuNkEd\r\n", Framing::Chunked),
    ] {
        assert_eq!(
            accept(&format!("PUT / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")).framing,
            framing,
            "{fields}"
        );
    }
}

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
