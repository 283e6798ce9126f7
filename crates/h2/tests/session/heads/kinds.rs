//! The kinds of requests, and trailer fields.

use super::{headers, is_malformed, is_refused, text_of};
use crate::client::{Client, END_STREAM, GET, Seen};
use h2::{ErrorCode, Limits};
use wire::{Framing, Known, Method, PathKind, Version};

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
    let key = client.open(&crate::client::post(1));
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
        let key = client.open(&crate::client::post(1));
        assert_eq!(client.resets(&bytes, 1, code), [Seen::Gone(key)]);
    }
}
