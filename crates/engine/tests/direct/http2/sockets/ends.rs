//! How a socket ends.

use super::{
    CANCEL, CLOSE, PING, Socket, TEXT, apply, message, record, server, server_of, spec, stats,
    with_http2,
};
use crate::driver::http2::{GOAWAY, INITIAL_WINDOW_SIZE, data, reset, window_update};
use crate::driver::{Driver, frames, limits, pass};
use crate::http2::client::Client;
use engine::SocketSpec;
use ring::layout::{kind, limit, operation};

#[test]
fn the_client_closes_a_socket_and_the_connection_goes_on() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    socket.send(&mut client, CLOSE, &1000_u16.to_be_bytes());
    assert_eq!(socket.told(&mut driver), 1000);
    let reply = client.reply(&mut driver, socket.id);
    assert!(reply.whole, "{reply:?}");
    assert_eq!(
        socket.frames(&client),
        [(CLOSE, 1000_u16.to_be_bytes().to_vec())]
    );
    assert_eq!(stats(&driver), (1, 0, 0));
    client.settle(&mut driver);
    assert!(!client.ended);
}

#[test]
fn the_server_closes_a_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let code = 4000_u16.to_be_bytes();
    message(&mut driver, &socket.seen, b"last");
    record(&mut driver, &socket.seen, operation::CLOSE, 0, &code);
    apply(&mut driver);
    let frame = socket.frame(&mut driver, &mut client, 2);
    assert_eq!(frame, (CLOSE, code.to_vec()));
    assert!(!client.is_over(socket.id), "it waits for the answer");
    socket.send(&mut client, CLOSE, &code);
    assert_eq!(socket.told(&mut driver), 4000);
    assert!(client.reply(&mut driver, socket.id).whole);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_reset_or_the_end_of_the_stream_loses_the_socket() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let one = Socket::open(&mut driver, &mut client);
    let other = Socket::open(&mut driver, &mut client);
    client.send(&reset(one.id, CANCEL));
    assert_eq!(one.told(&mut driver), 1006);
    assert_eq!(stats(&driver), (1, 0, 1));
    client.send(&data(other.id, &frames::frame(TEXT, b"bye"), true));
    assert_eq!(driver.event(kind::MESSAGE).body, b"bye");
    assert_eq!(other.told(&mut driver), 1006);
    assert!(client.reply(&mut driver, other.id).whole);
    assert_eq!(stats(&driver), (1, 0, 0));
    client.settle(&mut driver);
}

#[test]
fn a_socket_that_is_terminated_resets_its_stream() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    record(&mut driver, &socket.seen, operation::DESTROY, 0, b"");
    apply(&mut driver);
    assert_eq!(client.reply(&mut driver, socket.id).reset, Some(CANCEL));
    assert_eq!(socket.told(&mut driver), 1006);
    client.settle(&mut driver);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_client_that_breaks_the_protocol_loses_the_socket_alone() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    // A client has to mask its frames.
    client.send(&data(socket.id, &[TEXT, 1, b'x'], false));
    assert_eq!(socket.told(&mut driver), 1002);
    let (first, payload) = socket.frame(&mut driver, &mut client, 1);
    assert_eq!((first, &payload[..2]), (CLOSE, &1002_u16.to_be_bytes()[..]));
    assert!(client.reply(&mut driver, socket.id).whole);
    client.settle(&mut driver);
}

#[test]
fn a_lost_connection_loses_its_sockets() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let one = Socket::open(&mut driver, &mut client);
    let other = Socket::open(&mut driver, &mut client);
    assert_eq!(stats(&driver), (1, 0, 2));
    drop(client);
    assert_eq!(one.told(&mut driver), 1006);
    assert_eq!(other.told(&mut driver), 1006);
    driver.until(|driver| stats(driver) == (0, 0, 0));
    assert_eq!(driver.engine.connection_count(), 0);
}

#[test]
fn a_server_that_closes_ends_its_sockets() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let server = driver.server;
    driver.engine.close(server);
    let (first, payload) = socket.frame(&mut driver, &mut client, 1);
    assert_eq!((first, &payload[..2]), (CLOSE, &1001_u16.to_be_bytes()[..]));
    socket.send(&mut client, CLOSE, &1001_u16.to_be_bytes());
    assert_eq!(socket.told(&mut driver), 1001);
    assert!(client.reply(&mut driver, socket.id).whole);
    // The client does not answer the PING of the shutdown, so the server waits for a second.
    client.await_frame(&mut driver, GOAWAY);
    drop(client);
    driver.event(kind::CLOSED);
    assert_eq!(stats(&driver), (0, 0, 0));
}

#[test]
fn a_socket_whose_client_does_not_read_is_closed_and_its_connection_goes_on() {
    let mut driver = server_of(SocketSpec {
        max_buffered: 10_000,
        ..spec()
    });
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let socket = Socket::open(&mut driver, &mut client);
    for _ in 0..4 {
        message(&mut driver, &socket.seen, &[b'x'; 6_000]);
    }
    apply(&mut driver);
    assert_eq!(socket.told(&mut driver), 1013);
    client.send(&window_update(socket.id, 50_000));
    assert!(client.reply(&mut driver, socket.id).whole);
    client.settle(&mut driver);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_socket_that_is_not_read_for_too_long_is_reset() {
    let mut values = limits();
    values[limit::SEND_TIMEOUT] = 50.0;
    let mut driver = with_http2(Driver::sockets(&values, spec()));
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let socket = Socket::open(&mut driver, &mut client);
    message(&mut driver, &socket.seen, b"x");
    apply(&mut driver);
    pass(&mut driver, 49);
    client.receive();
    assert!(!client.is_over(socket.id));
    pass(&mut driver, 1);
    assert_eq!(client.reply(&mut driver, socket.id).reset, Some(CANCEL));
    assert_eq!(socket.told(&mut driver), 1006);
    assert_eq!(stats(&driver), (1, 0, 0));
}

#[test]
fn a_silent_socket_is_pinged_and_lost() {
    let mut driver = server_of(SocketSpec {
        idle_timeout: 200,
        ..spec()
    });
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    pass(&mut driver, 99);
    client.receive();
    assert!(socket.frames(&client).is_empty());
    pass(&mut driver, 1);
    client.until(&mut driver, |client| !socket.frames(client).is_empty());
    assert_eq!(socket.frames(&client), [(PING, vec![])]);
    pass(&mut driver, 99);
    client.receive();
    assert!(!client.is_over(socket.id));
    pass(&mut driver, 1);
    assert_eq!(client.reply(&mut driver, socket.id).reset, Some(CANCEL));
    assert_eq!(socket.told(&mut driver), 1006);
    assert_eq!(socket.frames(&client), [(PING, vec![])]);
}

#[cfg(feature = "faults")]
#[test]
fn a_panic_over_a_message_costs_its_socket_alone() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let one = Socket::open(&mut driver, &mut client);
    let other = Socket::open(&mut driver, &mut client);
    // The first parse step reads the frames of the connection, and the second those of the socket.
    engine::faults::arm(engine::faults::Stage::Parse, 2);
    one.send(&mut client, TEXT, b"x");
    assert_eq!(client.reply(&mut driver, one.id).reset, Some(CANCEL));
    assert_eq!(one.told(&mut driver), 1006);
    other.send(&mut client, TEXT, b"y");
    assert_eq!(driver.event(kind::MESSAGE).body, b"y");
    assert_eq!(driver.engine.stats(driver.server).unwrap().panics, 1);
    assert_eq!(stats(&driver), (1, 0, 1));
}
