//! The result does not depend on how the bytes of a client are split.

use ring::Memory;
use ring::layout::kind;

use super::client::{Client, server};
use crate::driver::http2::{
    END_HEADERS, PREFACE, WINDOW_UPDATE, block, data, frame, headers, settings, window_update,
};
use crate::driver::{Seen, end, limits, send, text};

/// Replies with the head and the body of the request.
fn echo(memory: &mut Memory, seen: &Seen) {
    if seen.kind() == kind::REQUEST {
        let told = format!("{}{:?}", text(&seen.head), text(&seen.body));
        end(memory, seen, 200, told.as_bytes());
    }
}

/// Gives the preface, SETTINGS, and requests of every kind except a WebSocket.
fn script() -> Vec<u8> {
    let long = "v".repeat(300);
    let fields = [
        ("x-long", long.as_str()),
        ("cookie", "a=1"),
        ("cookie", "b=2"),
    ];
    let whole = block("GET", "/p/1?q", &fields);
    let (first, rest) = whole.split_at(100);
    [
        PREFACE.to_vec(),
        settings(&[]),
        window_update(0, 1000),
        headers(1, &block("GET", "/a", &[]), true),
        frame(1, 1, 3, first),
        frame(9, 0, 3, &rest[..50]),
        frame(9, END_HEADERS, 3, &rest[50..]),
        headers(5, &block("POST", "/b", &[("content-length", "5")]), false),
        data(5, b"he", false),
        headers(7, &block("POST", "/b", &[]), false),
        data(5, b"llo", true),
        frame(WINDOW_UPDATE, 0, 7, &5_u32.to_be_bytes()),
        data(7, b"in one frame", true),
        headers(9, &block("POST", "/late", &[]), false),
        data(9, b"", true),
    ]
    .concat()
}

fn replies(cuts: impl Fn(usize) -> bool) -> Vec<String> {
    let mut driver = server(&limits());
    let mut client = Client::silent(&driver);
    let script = script();
    let mut from = 0;
    for at in 1..=script.len() {
        if at == script.len() || cuts(at) {
            send(&mut client.stream, &script[from..at]);
            driver.turn(echo);
            from = at;
        }
    }
    [1, 3, 5, 7, 9]
        .map(|id| {
            driver.serve_until(echo, |_| {
                client.receive();
                client.is_over(id)
            });
            let reply = client.reply_so_far(id);
            assert_eq!((reply.status, reply.whole), (200, true));
            // A late body that is split from its head is streamed, and this handler does not read it.
            assert!(reply.reset.is_none() || (id == 9 && reply.reset == Some(0)));
            text(&reply.body)
        })
        .to_vec()
}

#[test]
fn requests_are_the_same_however_they_are_cut() {
    let whole = replies(|_| false);
    assert!(whole[1].starts_with("GET /p/1?q HTTP/2\r\nhost: x\r\nx-long: vvv"));
    assert!(whole[1].contains("\r\ncookie: a=1; b=2\r\n"));
    assert!(whole[2].ends_with("\"hello\"") && whole[3].ends_with("\"in one frame\""));
    assert_eq!(replies(|_| true), whole, "byte by byte");
    for at in 1..script().len() {
        assert_eq!(replies(|cut| cut == at), whole, "cut at {at}");
    }
}
