//! The rules of field sections (RFC 9113 §8.1 to §8.5), and the resulting heads.

mod client;

use client::{
    Client, END_HEADERS, END_STREAM, GET, HEADERS, POST, Seen, block, frame, get_with, last_data,
};
use h2::{ErrorCode, Limits};
use wire::{Framing, Known, Method, PathKind, Version};

/// Writes a request with these fields alone.
fn headers(fields: &[(&str, &str)], flags: u8) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, 1, &block(fields))
}

/// Gives `GET` with one field replaced or removed.
fn get_but(name: &str, value: Option<&str>) -> Vec<u8> {
    let mut fields = GET.to_vec();
    fields.retain(|field| field.0 != name);
    if let Some(value) = value {
        fields.push((name, value));
    }
    headers(&fields, END_STREAM)
}

#[track_caller]
fn text_of(bytes: &[u8]) -> String {
    match &Client::new().feed(bytes)[..] {
        [Seen::Head { text, .. }] => text.clone(),
        seen => panic!("{seen:?}"),
    }
}

#[track_caller]
fn is_malformed(bytes: &[u8]) {
    let mut client = Client::new();
    assert_eq!(client.resets(bytes, 1, ErrorCode::ProtocolError), []);
    assert_eq!(client.session.open_streams(), 0);
    // The HPACK tables are still equal, and other streams continue.
    client.open(&client::get(3));
}

#[track_caller]
fn is_refused(limits: &Limits, bytes: &[u8], expected: u16, expected_code: &str) {
    let mut client = Client::with(limits);
    match client.feed(bytes)[..] {
        [
            Seen::Refused {
                status, code, key, ..
            },
        ] => {
            assert_eq!((status, code), (expected, expected_code));
            assert_eq!(client.session.id(key), 1);
            client.session.end_sent(key);
        }
        ref seen => panic!("{seen:?}"),
    }
    client.open(&client::get(3));
}

#[test]
fn a_head_is_what_it_would_be_in_http11() {
    let mut client = Client::new();
    let fields = [
        ("user-agent", "test/1"),
        ("cookie", "a=b"),
        ("content-type", "text/plain"),
        ("x-own", "some thing\twith \u{e9}"),
        ("content-length", "5"),
        ("empty", ""),
        ("cookie", "c=d"),
        ("expect", "100-continue"),
        ("te", "trailers"),
    ];
    let fields = [
        &[
            (":path", "/a%41b?x=%"),
            (":method", "POST"),
            (":authority", "a.test:8080"),
            (":scheme", "https"),
        ],
        &fields[..],
    ]
    .concat();
    let seen = client.feed(&headers(&fields, 0));
    let text = "POST /a%41b?x=% HTTP/2\r\nhost: a.test:8080\r\nuser-agent: test/1\r\ncontent-type: text/plain\r\n\
        x-own: some thing\twith \u{e9}\r\ncontent-length: 5\r\nempty: \r\nexpect: 100-continue\r\nte: trailers\r\n\
        cookie: a=b; c=d\r\n\r\n";
    match &seen[..] {
        [
            Seen::Head {
                end: false,
                declared: Some(5),
                text: given,
                ..
            },
        ] => assert_eq!(given, text),
        seen => panic!("{seen:?}"),
    }
    let (text, head) = (&client.head.text[..], &client.head.head);
    assert_eq!((head.method, head.version), (Method::POST, Version::Http2));
    assert_eq!(
        (head.framing, head.path_kind),
        (Framing::Length(5), PathKind::Escaped)
    );
    assert_eq!(head.path.of(text), b"/a%41b");
    assert_eq!(head.query.map(|query| query.of(text)), Some(&b"x=%"[..]));
    assert_eq!(head.host.of(text), b"a.test:8080");
    assert_eq!(head.len as usize, text.len());
    assert!(head.keep_alive && head.expect_continue && !head.websocket && client.head.https);
    assert_eq!(
        head.content_type.map(|it| it.of(text)),
        Some(&b"text/plain"[..])
    );
    assert_eq!(
        head.first(Known::Cookie).map(|it| it.of(text)),
        Some(&b"a=b; c=d"[..])
    );
    assert_eq!(head.fields.len(), 9);
    // `wire` reads the text as the same request of HTTP/1.1.
    let as_http1 = String::from_utf8_lossy(text).replacen("HTTP/2", "HTTP/1.1", 1);
    let mut parsed = wire::Head::new();
    let limits = wire::Limits::default();
    let progress = wire::parse_head(as_http1.as_bytes(), &mut 0, &limits, &mut parsed);
    assert_eq!(progress, Ok(wire::Progress::Complete));
    assert_eq!((parsed.known, parsed.method), (head.known, head.method));
    for (field, same) in head.fields.iter().zip(&parsed.fields) {
        let its = same.value.of(as_http1.as_bytes());
        assert_eq!((field.value.of(text), field.known), (its, same.known));
    }
}

/// RFC 9113 §8.3.1: the authority may be in Host alone, or in both if they are equal.
#[test]
fn authority_and_host_are_one() {
    let host_alone = [&GET[..3], &[("host", "b.test")]].concat();
    let text = text_of(&headers(&host_alone, END_STREAM));
    assert_eq!(text, "GET / HTTP/2\r\nhost: b.test\r\n\r\n");
    let text = text_of(&get_with(1, &[("host", "A.TEST"), ("x", "y")]));
    assert_eq!(text, "GET / HTTP/2\r\nhost: a.test\r\nx: y\r\n\r\n");

    let usual = Limits::default();
    let other = get_with(1, &[("host", "b.test")]);
    is_refused(&usual, &other, 400, "E_HOST_REPEATED");
    let twice = [&GET[..3], &[("host", "b.test"), ("host", "b.test")]].concat();
    is_refused(&usual, &headers(&twice, END_STREAM), 400, "E_HOST_REPEATED");
    let beside = get_with(1, &[("host", "a.test"), ("host", "a.test")]);
    is_refused(&usual, &beside, 400, "E_HOST_REPEATED");
    let neither = get_but(":authority", None);
    is_refused(&usual, &neither, 400, "E_HOST_MISSING");
    for wrong in ["", "u@a.test", "a.test/", "a b", "a,b", "a:65536"] {
        let wrong = get_but(":authority", Some(wrong));
        is_refused(&usual, &wrong, 400, "E_HOST_SYNTAX");
    }
    let empty = [&GET[..3], &[("host", "")]].concat();
    is_refused(&usual, &headers(&empty, END_STREAM), 400, "E_HOST_SYNTAX");
}

/// RFC 9113 §8.3, §8.3.1.
#[test]
fn pseudo_fields_that_are_wrong_are_malformed() {
    for name in [":method", ":path", ":scheme"] {
        is_malformed(&get_but(name, None));
        let twice = [&GET[..], &GET.map(|field| (name, field.1))[..1]].concat();
        is_malformed(&headers(&twice, END_STREAM));
    }
    for extra in [
        (":status", "200"),
        (":test", "a"),
        (":", "a"),
        (":protocol", "websocket"),
    ] {
        is_malformed(&headers(&[&GET[..], &[extra]].concat(), END_STREAM));
    }
    for path in ["", "a", "*", "http://a.test/", "?a"] {
        is_malformed(&get_but(":path", Some(path)));
    }
    for method in ["", "GE T", "G\u{e9}T", "(GET)"] {
        is_malformed(&get_but(":method", Some(method)));
    }
    // This pseudo-header field is behind another field.
    let late = [&GET[..3], &[("a", "b"), (":authority", "a.test")]].concat();
    is_malformed(&headers(&late, END_STREAM));
}

/// RFC 9113 §8.2.1, §8.2.2.
#[test]
fn fields_that_are_wrong_are_malformed() {
    for (name, value) in [
        ("X-Capital", "a"),
        ("x-capitaL", "a"),
        ("", "a"),
        ("a b", "a"),
        ("a:", "a"),
        ("a\0", "a"),
        ("\u{e9}", "a"),
        ("a", "a\r"),
        ("a", "a\nb"),
        ("a", "a\0b"),
        ("a", "\u{7f}"),
        ("a", "\u{1}"),
        ("a", " a"),
        ("a", "a "),
        ("a", "\ta"),
        ("a", "a\t"),
        ("connection", "close"),
        ("proxy-connection", "close"),
        ("keep-alive", "5"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "websocket"),
        ("te", "gzip"),
        ("te", "trailers, gzip"),
        ("cookie", "a=b\r\nc: d"),
        ("host", "a.test\r\nc: d"),
        ("content-length", "-1"),
        ("content-length", "1, 1"),
        ("content-length", ""),
    ] {
        is_malformed(&get_with(1, &[(name, value)]));
    }
    for (name, value) in [
        (":path", "/\r\nx: y"),
        (":authority", "a\nb"),
        (":method", " GET"),
        (":scheme", "\0"),
    ] {
        is_malformed(&get_but(name, Some(value)));
    }
}

/// RFC 9113 §8.1.1.
#[test]
fn several_content_lengths_are_malformed_if_they_differ() {
    let lengths =
        |first, second| get_with(1, &[("content-length", first), ("content-length", second)]);
    is_malformed(&lengths("0", "1"));
    is_refused(
        &Limits::default(),
        &lengths("0", "0"),
        400,
        "E_LENGTH_REPEATED",
    );
    is_malformed(&get_with(1, &[("content-length", "1")]));
    let text = text_of(&get_with(1, &[("content-length", "0")]));
    assert!(text.ends_with("content-length: 0\r\n\r\n"));
}

#[test]
fn what_http11_would_refuse_is_refused_on_its_stream_alone() {
    let usual = Limits::default();
    let long = "a".repeat(33);
    for (name, value, status, code) in [
        (":method", "BREW", 501, "E_METHOD_UNKNOWN"),
        (":method", &long[..], 501, "E_METHOD_UNKNOWN"),
        (":path", "/a b", 400, "E_TARGET_BYTE"),
        (":path", "/#", 400, "E_TARGET_BYTE"),
        (":path", "/%2", 400, "E_PATH_ESCAPE"),
        (":path", "/a/../b", 400, "E_DOT_SEGMENT"),
        (":path", "/%00", 400, "E_PATH_NUL"),
        (":scheme", "ftp", 400, "E_TARGET_FORM"),
        ("expect", "a", 417, "E_EXPECTATION"),
    ] {
        is_refused(&usual, &get_but(name, Some(value)), status, code);
    }
    let head = [("HEAD", true), ("GET", false)];
    for (method, expected) in head {
        let mut client = Client::new();
        let fields = [
            (":method", method),
            (":scheme", "http"),
            (":path", "/#"),
            (":authority", "a"),
        ];
        let seen = client.feed(&headers(&fields, END_STREAM));
        let is_expected =
            |seen: &Seen| matches!(seen, Seen::Refused { head_only, .. } if *head_only == expected);
        assert!(seen.len() == 1 && is_expected(&seen[0]), "{seen:?}");
    }
}

/// The body of a refused request is discarded, and its end causes no reset.
#[test]
fn the_body_of_a_refused_request_is_for_nobody() {
    let mut client = Client::new();
    let mut fields = POST.to_vec();
    fields[2].1 = "/#";
    let key = match client.feed(&headers(&fields, 0))[..] {
        [Seen::Refused { key, .. }] => key,
        ref seen => panic!("{seen:?}"),
    };
    assert_eq!(client.feed(&client::data(1, b"abc")), []);
    assert_eq!(client.feed(&last_data(1, b"abc")), []);
    client.session.end_sent(key);
    assert_eq!(client.sent(), []);
}

#[test]
fn sizes_at_a_limit_pass_and_one_more_is_refused() {
    // `GET / HTTP/2`, `host: a.test` and the last line take 14 + 14 + 2 bytes.
    let own = "x".repeat(40);
    let exact = 30 + 3 + 40 + 2;
    let limits = |change: &dyn Fn(&mut wire::Limits)| {
        let mut limits = Limits::default();
        change(&mut limits.wire);
        limits
    };
    let field = get_with(1, &[("a", &own)]);
    let cookies = get_with(
        1,
        &[("cookie", &own[..20]), ("b", ""), ("cookie", &own[..20])],
    );
    let path = get_but(":path", Some(&format!("/{}", &own[..9])));
    for (bytes, at_limit, past_limit, status, code) in [
        (
            &field,
            limits(&|wire| wire.max_header_size = exact),
            limits(&|wire| wire.max_header_size = exact - 1),
            431,
            "E_HEAD_TOO_LARGE",
        ),
        (
            &field,
            limits(&|wire| wire.max_header_line = 43),
            limits(&|wire| wire.max_header_line = 42),
            431,
            "E_FIELD_LINE_TOO_LONG",
        ),
        (
            &field,
            limits(&|wire| wire.max_headers = 2),
            limits(&|wire| wire.max_headers = 1),
            431,
            "E_TOO_MANY_FIELDS",
        ),
        // The sizes are `cookie: `, two Cookie fields of 20 bytes with `; ` between them, CRLF; and `b: `, CRLF.
        (
            &cookies,
            limits(&|wire| wire.max_header_size = 30 + 8 + 42 + 2 + 5),
            limits(&|wire| wire.max_header_size = 30 + 8 + 42 + 2 + 4),
            431,
            "E_HEAD_TOO_LARGE",
        ),
        (
            &cookies,
            limits(&|wire| wire.max_header_line = 8 + 42),
            limits(&|wire| wire.max_header_line = 8 + 41),
            431,
            "E_FIELD_LINE_TOO_LONG",
        ),
        (
            &path,
            limits(&|wire| wire.max_url_length = 10),
            limits(&|wire| wire.max_url_length = 9),
            414,
            "E_TARGET_TOO_LONG",
        ),
    ] {
        Client::with(&at_limit).open(bytes);
        is_refused(&past_limit, bytes, status, code);
    }
}

#[test]
fn a_cookie_has_at_most_256_crumbs() {
    for (crumbs, passes) in [(256, true), (257, false)] {
        let bytes = get_with(1, &vec![("cookie", "a"); crumbs]);
        if passes {
            let expected = format!("cookie: {}\r\n\r\n", ["a"; 256].join("; "));
            assert!(text_of(&bytes).ends_with(&expected));
        } else {
            is_refused(&Limits::default(), &bytes, 431, "E_TOO_MANY_FIELDS");
        }
    }
}

/// RFC 9113 §8.5, RFC 8441 §4.
#[test]
fn connect_has_an_authority_or_a_protocol() {
    let method = (":method", "CONNECT");
    let text = text_of(&headers(&[method, (":authority", "a.test:443")], 0));
    assert_eq!(
        text,
        "CONNECT a.test:443 HTTP/2\r\nhost: a.test:443\r\n\r\n"
    );
    is_malformed(&headers(&[method], 0));
    is_malformed(&headers(
        &[method, (":authority", "a:1"), (":path", "/")],
        0,
    ));
    is_malformed(&headers(
        &[method, (":authority", "a:1"), (":scheme", "http")],
        0,
    ));
    let no_port = headers(&[method, (":authority", "a.test")], 0);
    is_refused(&Limits::default(), &no_port, 400, "E_TARGET_FORM");

    let allowed = Limits {
        connect_protocol: true,
        ..Limits::default()
    };
    let mut fields = GET.to_vec();
    fields[0] = method;
    fields.push((":protocol", "websocket"));
    is_malformed(&headers(&fields, 0));
    let mut client = Client::with(&allowed);
    client.open(&headers(&fields, 0));
    assert!(client.head.text.starts_with(b"GET / HTTP/2\r\n"));
    assert!(client.head.head.websocket && client.head.head.method == Method::GET);
    fields[4].1 = "other";
    is_refused(&allowed, &headers(&fields, 0), 501, "E_METHOD_UNKNOWN");
    // Only CONNECT may have `:protocol`.
    fields[0].1 = "GET";
    let mut client = Client::with(&allowed);
    client.resets(&headers(&fields, 0), 1, ErrorCode::ProtocolError);
}

/// Only OPTIONS may have `*` as its path.
#[test]
fn options_may_concern_the_server() {
    let mut fields = GET.to_vec();
    fields[0].1 = "OPTIONS";
    fields[2].1 = "*";
    let text = text_of(&headers(&fields, END_STREAM));
    assert!(text.starts_with("OPTIONS * HTTP/2\r\n"));
}

/// RFC 9113 §8.1.
#[test]
fn trailers_end_a_body() {
    let trailers = |fields: &[(&str, &str)], flags| headers(fields, flags);
    let mut client = Client::new();
    let key = client.open(&client::post(1));
    let text = "checksum: a\r\nx: \r\n".to_string();
    let seen = client.feed(&trailers(
        &[("checksum", "a"), ("age", "1"), ("x", "")],
        END_STREAM,
    ));
    assert_eq!(seen, [Seen::Trailers { key, text }]);
    assert_eq!(client.head.head.fields.len(), 2);
    client.session.end_sent(key);
    assert_eq!(client.sent(), []);

    let long = "a".repeat(8_192);
    let many = vec![("a", "b"); 33];
    for (bytes, code) in [
        (trailers(&[("a", "b")], 0), ErrorCode::ProtocolError),
        (
            trailers(&[(":path", "/")], END_STREAM),
            ErrorCode::ProtocolError,
        ),
        (
            trailers(&[("A", "b")], END_STREAM),
            ErrorCode::ProtocolError,
        ),
        (
            trailers(&[("a", "b\r\n")], END_STREAM),
            ErrorCode::ProtocolError,
        ),
        (
            trailers(&[("content-length", "0")], END_STREAM),
            ErrorCode::ProtocolError,
        ),
        (
            trailers(&[("host", "b")], END_STREAM),
            ErrorCode::ProtocolError,
        ),
        (
            trailers(&[("te", "trailers")], END_STREAM),
            ErrorCode::ProtocolError,
        ),
        (
            trailers(&[("a", &long)], END_STREAM),
            ErrorCode::EnhanceYourCalm,
        ),
        (trailers(&many, END_STREAM), ErrorCode::EnhanceYourCalm),
    ] {
        let mut client = Client::new();
        let key = client.open(&client::post(1));
        assert_eq!(client.resets(&bytes, 1, code), [Seen::Gone(key)]);
    }
}
