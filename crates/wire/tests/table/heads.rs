//! What a head says.

use super::accept;
use crate::corpus::feed_head;
use wire::{Framing, Known, Limits, Method, PathKind, Refusal, Span, Version};

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
