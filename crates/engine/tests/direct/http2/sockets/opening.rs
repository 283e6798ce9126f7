//! How a stream becomes a socket, and how that is refused.

use super::{PING, PONG, Socket, TEXT, apply, ask, message, record, server, stats};
use crate::driver::http2::{END_STREAM, Frame, RST_STREAM, SETTINGS, data};
use crate::driver::{frames, limits, text};
use crate::http2::client::Client;
use ring::layout::{kind, operation};

#[test]
fn a_socket_and_ordinary_requests_share_a_connection() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let settings = client.await_frame(&mut driver, SETTINGS);
    let announced = settings
        .payload
        .chunks(6)
        .any(|pair| pair == [0, 8, 0, 0, 0, 1]);
    assert!(announced, "SETTINGS_ENABLE_CONNECT_PROTOCOL: {settings:?}");
    let socket = Socket::open(&mut driver, &mut client);
    assert_eq!(stats(&driver), (1, 0, 1));

    socket.send(&mut client, TEXT, b"hello");
    assert_eq!(driver.event(kind::MESSAGE).body, b"hello");
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"plain");
    message(&mut driver, &socket.seen, b"there");
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, id).body, b"plain");
    let frame = socket.frame(&mut driver, &mut client, 1);
    assert_eq!(frame, (TEXT, b"there".to_vec()));

    socket.send(&mut client, PING, b"?");
    let frame = socket.frame(&mut driver, &mut client, 2);
    assert_eq!(frame, (PONG, b"?".to_vec()));
    assert_eq!(stats(&driver), (1, 0, 1));
}

#[test]
fn what_comes_before_the_reply_belongs_to_the_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let id = ask(&mut client, "/ws/a");
    client.send(&data(id, &frames::frame(TEXT, b"early"), false));
    client.settle(&mut driver);
    let seen = driver.request();
    assert_eq!(driver.engine.buffered(driver.server), 11);
    record(&mut driver, &seen, operation::UPGRADE, 0, b"");
    apply(&mut driver);
    assert_eq!(driver.event(kind::MESSAGE).body, b"early");
    assert_eq!(driver.engine.buffered(driver.server), 0);
    assert_eq!(stats(&driver), (1, 0, 1));
}

#[test]
fn a_handler_may_refuse_a_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let id = ask(&mut client, "/ws/a");
    client.send(&data(id, b"early", false));
    let seen = driver.request();
    driver.reply(&seen, 403, b"no");
    let reply = client.reply(&mut driver, id);
    assert_eq!((reply.status, text(&reply.body)), (403, "no".into()));
    assert_eq!(driver.engine.buffered(driver.server), 0);
    assert_eq!(stats(&driver), (1, 0, 0));
    // An ordinary request cannot become a socket, and JavaScript is told.
    let id = client.get("/a");
    let seen = driver.request();
    record(&mut driver, &seen, operation::UPGRADE, 0, b"");
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, id).status, 500);
    driver.event(kind::CLOSED_SOCKET);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_path_without_sockets_is_a_miss() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let id = ask(&mut client, "/a");
    let seen = driver.request();
    assert_eq!(seen.route(), -4);
    driver.reply(&seen, 426, b"");
    assert_eq!(client.reply(&mut driver, id).status, 426);
}

#[test]
fn a_server_without_sockets_announces_none() {
    let mut driver = crate::http2::client::server(&limits());
    let mut client = Client::new(&driver);
    let settings = client.await_frame(&mut driver, SETTINGS);
    assert!(settings.payload.chunks(6).all(|pair| pair[..2] != [0, 8]));
    let id = ask(&mut client, "/a");
    client.until(&mut driver, |client| client.is_over(id));
    let frames: Vec<_> = client.frames_of(id).collect();
    assert!(
        matches!(frames[..], [Frame { kind: RST_STREAM, flags, .. }] if flags & END_STREAM == 0),
        "{frames:?}"
    );
}
