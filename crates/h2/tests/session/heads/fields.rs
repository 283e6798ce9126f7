//! Fields that are wrong, alone or together.

use super::{get_but, headers, is_malformed, is_refused, text_of};
use crate::client::{Client, END_STREAM, GET, POST, Seen, get_with, last_data};
use h2::Limits;

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
    assert_eq!(client.feed(&crate::client::data(1, b"abc")), []);
    assert_eq!(client.feed(&last_data(1, b"abc")), []);
    client.session.end_sent(key);
    assert_eq!(client.sent(), []);
}
