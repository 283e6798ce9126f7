//! Requests: the view of JavaScript on a stream, and requests that it never sees.

use ring::layout::{flag, kind, limit, request};

use super::client::{Client, server};
use crate::driver::http2::{HEADERS, PREFACE, SETTINGS, block, headers, settings};
use crate::driver::{Driver, answer, end, limits, send, text};

#[test]
fn a_stream_is_a_request_like_any_other() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.id();
    let fields = [("x-a", "1"), ("cookie", "a=1"), ("cookie", "b=2")];
    client.send(&headers(id, &block("GET", "/p/q%41?r=s", &fields), true));
    let seen = driver.request();
    assert_eq!(seen.route(), 1);
    assert_eq!(seen.path, "/p/qA");
    assert_eq!(
        text(&seen.head),
        "GET /p/q%41?r=s HTTP/2\r\nhost: x\r\nx-a: 1\r\ncookie: a=1; b=2\r\n\r\n"
    );
    assert_eq!(seen.words[request::KIND] >> 16, flag::HTTP2);
    assert_eq!(seen.words[request::QUERY_LENGTH], 3);
    driver.reply(&seen, 200, b"hello");
    let reply = client.reply(&mut driver, id);
    assert_eq!((reply.status, &reply.body[..]), (200, &b"hello"[..]));
    assert_eq!(reply.fields, [("content-length".into(), "5".into())]);
    assert!(reply.whole);
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn the_streams_of_one_receive_fill_one_slice() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    client.settle(&mut driver);
    let mut bytes = Vec::new();
    let ids: Vec<u32> = (0..50).map(|_| client.id()).collect();
    for &id in &ids {
        bytes.extend(headers(id, &block("GET", "/a", &[]), true));
    }
    client.send(&bytes);
    driver.until(|driver| driver.seen.len() == 50);
    // The last request is answered first. Streams may be answered in any order.
    while let Some(seen) = driver.seen.pop_back() {
        end(driver.engine.memory(), &seen, 200, b"!");
    }
    driver.engine.apply(&engine::NoReferences);
    for id in ids {
        assert_eq!(client.reply(&mut driver, id).body, b"!");
    }
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn what_javascript_never_sees_costs_its_stream_alone() {
    let mut values = limits();
    values[limit::MAX_PARAM_LENGTH] = 4.0;
    values[limit::MAX_URL_LENGTH] = 64.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    for (method, path, status) in [
        ("GET", "/p/longer".to_owned(), 414),
        ("GET", format!("/p/{}", "a".repeat(100)), 414),
        ("GET", "/a/../b".to_owned(), 400),
        ("WHAT", "/a".to_owned(), 501),
        ("HEAD", "/p/longer".to_owned(), 414),
    ] {
        let id = client.id();
        client.send(&headers(id, &block(method, &path, &[]), true));
        let reply = client.reply(&mut driver, id);
        assert_eq!((reply.status, reply.whole), (status, true), "{path}");
        assert_eq!(reply.body.is_empty(), method == "HEAD");
    }
    assert!(driver.seen.is_empty());
    let id = client.get("/a");
    driver.serve_until(answer, |_| {
        client.receive();
        client.is_over(id)
    });
    assert_eq!(client.reply_so_far(id).status, 200);
    assert_eq!(driver.engine.stats(driver.server).unwrap().refused, 5);
}

/// RFC 9113 §3.4: the first frame of a server is SETTINGS.
#[test]
fn settings_come_before_what_answers_the_first_request() {
    let mut driver = server(&limits());
    let mut first_frame = |block: Vec<u8>, end: bool| {
        let mut client = Client::silent(&driver);
        let request = headers(client.id(), &block, end);
        client.send(&[PREFACE, &settings(&[]), &request].concat());
        client.await_frame(&mut driver, HEADERS);
        client.frames.first().map(|frame| frame.kind)
    };
    let refused = first_frame(block("GET", "/a/../b", &[]), true);
    assert_eq!(refused, Some(SETTINGS));
    let fields = [("expect", "100-continue"), ("content-length", "3")];
    let continued = first_frame(block("POST", "/b", &fields), false);
    assert_eq!(continued, Some(SETTINGS));
}

#[test]
fn misses_go_to_javascript() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    for (method, path, route) in [
        ("GET", "/none", -1),
        ("GET", "/b", -2),
        ("OPTIONS", "/a", -3),
    ] {
        let id = client.id();
        client.send(&headers(id, &block(method, path, &[]), true));
        let seen = driver.request();
        assert_eq!(seen.route(), route);
        driver.reply(&seen, 404, b"");
        let reply = client.reply(&mut driver, id);
        assert_eq!((reply.status, reply.whole), (404, true));
    }
}

#[test]
fn more_requests_than_may_be_in_flight_are_answered_with_503() {
    let mut values = limits();
    values[limit::MAX_IN_FLIGHT] = 2.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let ids = [(); 3].map(|()| client.get("/a"));
    let reply = client.reply(&mut driver, ids[2]);
    assert_eq!((reply.status, reply.whole), (503, true));
    assert!(reply.fields.contains(&("retry-after".into(), "1".into())));
    let seen = [driver.request(), driver.request()];
    for (seen, id) in seen.iter().zip(ids) {
        driver.reply(seen, 200, b"ok");
        assert_eq!(client.reply(&mut driver, id).body, b"ok");
    }
}

#[test]
fn the_preface_is_http_2_only_where_the_server_allows_it() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &[PREFACE, &settings(&[])].concat());
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && text(&received).starts_with("HTTP/1.1 505 "));
}

#[test]
fn http_1_is_spoken_where_http_2_may_be() {
    let mut driver = server(&limits());
    for head in [
        "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
        "PURGE /a HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        let mut client = driver.client();
        for byte in head.as_bytes() {
            send(&mut client, &[*byte]);
            driver.turn(|_, _| {});
        }
        let seen = driver.request();
        assert_eq!(seen.words[request::KIND] >> 16, 0);
        driver.reply(&seen, 200, b"one");
        let (received, _) = driver.read(&mut client, |bytes| bytes.ends_with(b"one"));
        assert!(text(&received).starts_with("HTTP/1.1 200 OK\r\n"));
        // The preface is accepted only as the first bytes.
        send(&mut client, PREFACE);
        let (received, ended) = driver.read(&mut client, |_| false);
        assert!(ended && text(&received).starts_with("HTTP/1.1 505 "));
    }
    assert!(driver.seen.iter().all(|seen| seen.kind() != kind::REQUEST));
}

#[test]
fn a_malformed_preface_is_answered_by_the_end() {
    let mut driver = server(&limits());
    for first in [
        "INVALID CONNECTION PREFACE\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    ] {
        let mut client = driver.client();
        send(&mut client, first.as_bytes());
        let (received, ended) = driver.read(&mut client, |_| false);
        assert!(ended && !text(&received).starts_with("HTTP/1.1"), "{first}");
    }
    // A connection that is known to speak HTTP/1 gets a reply that says what is wrong.
    let mut client = driver.client();
    send(&mut client, b"GET /a HTTP/1.1\r\n\r\n");
    let (received, _) = driver.read(&mut client, |_| false);
    assert!(text(&received).starts_with("HTTP/1.1 400 "));
}
