//! What the windows of the client let go.

use super::bytes_of;
use crate::driver::http2::{
    DATA, INITIAL_WINDOW_SIZE, SETTINGS, block, headers, settings, window_update,
};
use crate::driver::{limits, reply_large};
use crate::http2::client::{Client, server};

#[test]
fn a_reply_waits_for_the_window_of_its_stream() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 10)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"0123456789abcdef");
    client.settle(&mut driver);
    assert_eq!(client.reply_so_far(id).body, b"0123456789");
    // Another stream has its own window.
    let other = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"short");
    assert_eq!(client.reply(&mut driver, other).body, b"short");
    client.send(&window_update(id, 3));
    client.settle(&mut driver);
    assert_eq!(client.reply_so_far(id).body, b"0123456789abc");
    // New settings shift the windows of open streams (RFC 9113 §6.9.2).
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 13)]));
    let reply = client.reply(&mut driver, id);
    assert_eq!(
        (&reply.body[..], reply.whole),
        (&b"0123456789abcdef"[..], true)
    );
    assert_eq!(driver.engine.in_flight(), 0);
}

/// RFC 9113 §6.5.3: the acknowledgement is sent at once. A client that waits for it may drop DATA that arrives earlier.
#[test]
fn settings_are_acknowledged_before_what_they_let_go() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"one");
    client.settle(&mut driver);
    client.frames.clear();
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 1)]));
    client.await_frame(&mut driver, DATA);
    let kinds: Vec<u8> = client.frames.iter().map(|frame| frame.kind).collect();
    assert_eq!(kinds[..2], [SETTINGS, DATA]);
    assert_eq!(bytes_of(&client, id), 1);
}

#[test]
fn a_window_may_fall_below_zero() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 10)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, &[b'x'; 30]);
    client.settle(&mut driver);
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 0)]));
    client.settle(&mut driver);
    client.send(&window_update(id, 9));
    client.settle(&mut driver);
    assert_eq!(bytes_of(&client, id), 10);
    client.send(&window_update(id, 2));
    client.settle(&mut driver);
    assert_eq!(bytes_of(&client, id), 11);
    client.send(&window_update(id, 100));
    assert_eq!(client.reply(&mut driver, id).body.len(), 30);
}

#[test]
fn a_large_reply_comes_in_frames_of_16_kib_within_both_windows() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 1 << 20)]);
    let id = client.get("/a");
    let seen = driver.request();
    reply_large(&mut driver, &seen, 300_000);
    client.settle(&mut driver);
    // The window of the connection still has its initial size (RFC 9113 §6.9.2).
    assert_eq!(bytes_of(&client, id), 65_535);
    client.send(&window_update(0, 1 << 20));
    let reply = client.reply(&mut driver, id);
    assert_eq!((reply.body, reply.whole), (vec![b'L'; 300_000], true));
    let frames = client.frames_of(id);
    assert!(
        frames
            .filter(|frame| frame.kind == DATA)
            .all(|frame| frame.payload.len() <= 16_384)
    );
}

#[test]
fn streams_take_turns() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 1 << 20)]);
    let fields = [("priority", "u=3, i")];
    let ids = [(); 3].map(|()| {
        let id = client.id();
        let block = crate::driver::http2::block("GET", "/a", &fields);
        client.send(&crate::driver::http2::headers(id, &block, true));
        id
    });
    let seen = [driver.request(), driver.request(), driver.request()];
    for seen in &seen {
        reply_large(&mut driver, seen, 200_000);
    }
    client.settle(&mut driver);
    client.send(&window_update(0, 300_000));
    client.until(&mut driver, |client| {
        ids.iter().map(|&id| bytes_of(client, id)).sum::<usize>() == 365_535
    });
    for id in &ids[1..] {
        let bytes = bytes_of(&client, *id);
        assert!(bytes >= 65_536, "stream {id} has {bytes} bytes");
    }
    client.send(&window_update(0, 1 << 20));
    for id in ids {
        assert_eq!(client.reply(&mut driver, id).body.len(), 200_000);
    }
}

#[test]
fn windows_that_grow_before_a_request_that_fills_the_slice_are_used() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 10)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, &[1; 30]);
    client.until(&mut driver, |client| bytes_of(client, id) == 10);
    driver.engine.set_slice_target(1);
    let next = client.id();
    let head = headers(next, &block("GET", "/a", &[]), true);
    client.send(&[window_update(id, 100), head].concat());
    let last = driver.request();
    assert_eq!(client.reply(&mut driver, id).body, [1; 30]);
    driver.reply(&last, 200, b"ok");
    assert_eq!(client.reply(&mut driver, next).body, b"ok");
}
