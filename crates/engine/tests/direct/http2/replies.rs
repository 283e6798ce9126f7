//! Replies: whole, streamed, interim, with trailer fields, without a body, and malformed.

use engine::NoReferences;
use ring::layout::{kind, operation, record};

use super::client::{Client, Reply, server};
use crate::driver::http2::{CONTINUATION, HEADERS, block, headers};
use crate::driver::{Driver, Seen, data, finish, inform, limits, make, start};

fn apply(driver: &mut Driver) {
    driver.engine.apply(&NoReferences);
}

fn pack(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.extend((name.len() as u16).to_le_bytes());
        block.extend((value.len() as u16).to_le_bytes());
        block.extend(name.as_bytes());
        block.extend(value.as_bytes());
    }
    block
}

fn ask(driver: &mut Driver, client: &mut Client, method: &str) -> (u32, Seen) {
    let id = client.id();
    client.send(&headers(id, &block(method, "/a", &[]), true));
    (id, driver.request())
}

/// Replies with a status, fields and a body.
fn reply(driver: &mut Driver, to: &Seen, status: i32, fields: &[u8], body: &[u8]) {
    let record = make(to, operation::END, status);
    driver.engine.memory().push_record(record, fields, body);
    apply(driver);
}

#[test]
fn fields_are_lower_case_and_a_bad_one_makes_500() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let (id, seen) = ask(&mut driver, &mut client, "GET");
    let fields = pack(&[("X-Mixed", "Value "), ("Set-Cookie", "a=b")]);
    reply(&mut driver, &seen, 201, &fields, b"made");
    let made = client.reply(&mut driver, id);
    let expected = [
        ("content-length", "4"),
        ("x-mixed", "Value"),
        ("set-cookie", "a=b"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!((made.status, made.fields), (201, expected.to_vec()));
    for (name, value) in [
        ("connection", "close"),
        ("transfer-encoding", "chunked"),
        ("a b", "c"),
        ("x", "a\r\nb"),
    ] {
        let (id, seen) = ask(&mut driver, &mut client, "GET");
        reply(&mut driver, &seen, 200, &pack(&[(name, value)]), b"x");
        let bad = client.reply(&mut driver, id);
        assert_eq!((bad.status, bad.whole), (500, true), "{name}");
        assert!(bad.body.windows(11).any(|part| part == b"E_BAD_REPLY"));
    }
}

#[test]
fn replies_without_a_body_end_with_their_heads() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    for (method, status, length) in [
        ("HEAD", 200, Some("4")),
        ("GET", 204, None),
        ("GET", 304, None),
    ] {
        let id = client.id();
        client.send(&headers(id, &block(method, "/a", &[]), true));
        let seen = driver.request();
        reply(&mut driver, &seen, status, &[], b"body");
        let got = client.reply(&mut driver, id);
        let found = got.fields.iter().find(|(name, _)| name == "content-length");
        assert_eq!(found.map(|(_, value)| value.as_str()), length);
        assert!(got.body.is_empty() && got.whole);
        assert_eq!(client.frames_of(id).count(), 1);
    }
}

#[test]
fn a_head_of_many_fields_goes_on_in_continuation() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let (id, seen) = ask(&mut driver, &mut client, "GET");
    let long = "v".repeat(30_000);
    reply(&mut driver, &seen, 200, &pack(&[("x-long", &long)]), b"");
    client.until(&mut driver, |client| {
        client.frames_of(id).any(|frame| frame.kind == CONTINUATION)
    });
    let kinds: Vec<u8> = client.frames_of(id).map(|frame| frame.kind).collect();
    assert_eq!(kinds, [HEADERS, CONTINUATION]);
    assert!(
        client
            .frames_of(id)
            .all(|frame| frame.payload.len() <= 16_384)
    );
}

#[test]
fn a_streamed_reply_comes_in_parts_with_trailer_fields_behind() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let (id, seen) = ask(&mut driver, &mut client, "GET");
    start(driver.engine.memory(), &seen, None);
    data(driver.engine.memory(), &seen, b"one ", false);
    apply(&mut driver);
    client.until(&mut driver, |client| {
        client.reply_so_far(id).body == b"one "
    });
    data(driver.engine.memory(), &seen, b"two", false);
    let trailers = pack(&[
        ("Grpc-Status", "0"),
        ("content-length", "7"),
        ("x-sum", " 42"),
    ]);
    let record = make(&seen, operation::FINISH, 0);
    driver.engine.memory().push_record(record, &trailers, &[]);
    apply(&mut driver);
    let got = client.reply(&mut driver, id);
    let expected = [("grpc-status", "0"), ("x-sum", "42")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(
        (got.body, got.trailers, got.whole),
        (b"one two".to_vec(), expected.to_vec(), true)
    );
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn a_reply_of_another_length_than_declared_resets_its_stream_alone() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    for parts in [&[&b"abc"[..]][..], &[b"abc", b"def"]] {
        let (id, seen) = ask(&mut driver, &mut client, "GET");
        start(driver.engine.memory(), &seen, Some(5));
        for part in parts {
            data(driver.engine.memory(), &seen, part, false);
        }
        finish(driver.engine.memory(), &seen);
        apply(&mut driver);
        let got = client.reply(&mut driver, id);
        assert_eq!((got.whole, got.reset), (false, Some(2)));
        assert_eq!(driver.engine.in_flight(), 0);
    }
    let (id, seen) = ask(&mut driver, &mut client, "GET");
    start(driver.engine.memory(), &seen, Some(5));
    data(driver.engine.memory(), &seen, b"abcde", false);
    finish(driver.engine.memory(), &seen);
    apply(&mut driver);
    let expected = Reply {
        status: 200,
        fields: vec![("content-length".into(), "5".into())],
        body: b"abcde".to_vec(),
        whole: true,
        ..Reply::default()
    };
    assert_eq!(client.reply(&mut driver, id), expected);
}

#[test]
fn a_handler_that_destroys_its_exchange_resets_its_stream_alone() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let (id, seen) = ask(&mut driver, &mut client, "GET");
    let (other, waits) = ask(&mut driver, &mut client, "GET");
    let record = make(&seen, operation::DESTROY, 0);
    driver.engine.memory().push_signal(record);
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, id).reset, Some(2));
    driver.reply(&waits, 200, b"ok");
    assert_eq!(client.reply(&mut driver, other).body, b"ok");
    assert_eq!(driver.event(kind::ABORT).slot(), seen.slot());
}

#[test]
fn interim_replies_come_before_the_reply() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let (id, seen) = ask(&mut driver, &mut client, "GET");
    inform(
        driver.engine.memory(),
        &seen,
        b"Link",
        b"</a.css>; rel=preload",
    );
    inform(driver.engine.memory(), &seen, b"connection", b"close");
    apply(&mut driver);
    client.until(&mut driver, |client| {
        client.reply_so_far(id).interim == [103]
    });
    driver.reply(&seen, 200, b"ok");
    inform(driver.engine.memory(), &seen, b"link", b"late");
    apply(&mut driver);
    let got = client.reply(&mut driver, id);
    assert_eq!((got.interim, got.body), (vec![103], b"ok".to_vec()));
}

#[test]
fn a_second_reply_to_a_stream_is_dropped() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let (id, seen) = ask(&mut driver, &mut client, "GET");
    driver.reply(&seen, 200, b"one");
    driver.reply(&seen, 200, b"two");
    let mut granted = make(&seen, operation::CREDIT, 0);
    granted.0[record::BODY_OFFSET] = 5;
    driver.engine.memory().push_signal(granted);
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, id).body, b"one");
}
