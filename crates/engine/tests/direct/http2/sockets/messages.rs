//! Messages, and the windows that they wait for.

use super::{Socket, TEXT, apply, message, publish, record, server, stats};
use crate::driver::frames;
use crate::driver::http2::{DATA, INITIAL_WINDOW_SIZE, WINDOW_UPDATE, data, window_update};
use crate::http2::client::Client;
use ring::layout::{kind, operation};

#[test]
fn frames_may_be_split_anywhere() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let first = frames::frame(TEXT, &[b'x'; 200]);
    let second = frames::frame(TEXT, b"second");
    let mut bytes = Vec::new();
    for byte in first.iter().chain(&second) {
        bytes.extend(data(socket.id, &[*byte], false));
    }
    client.send(&bytes);
    assert_eq!(driver.event(kind::MESSAGE).body, [b'x'; 200]);
    assert_eq!(driver.event(kind::MESSAGE).body, b"second");
    // One DATA frame carries several messages.
    client.send(&data(socket.id, &[first, second].concat(), false));
    assert_eq!(driver.event(kind::MESSAGE).body, [b'x'; 200]);
    assert_eq!(driver.event(kind::MESSAGE).body, b"second");
}

#[test]
fn messages_wait_for_windows_of_the_client() {
    let mut driver = server();
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let socket = Socket::open(&mut driver, &mut client);
    message(&mut driver, &socket.seen, &vec![b'm'; 100_000]);
    message(&mut driver, &socket.seen, b"behind");
    apply(&mut driver);
    client.settle(&mut driver);
    assert!(client.frames_of(socket.id).all(|frame| frame.kind != DATA));
    let (slot, generation) = (socket.seen.slot() as u32, socket.seen.generation() as u32);
    let waits = driver.engine.unsent(slot, generation);
    assert_eq!(waits, 100_000 + 10 + 6 + 2);

    client.send(&window_update(socket.id, 3));
    client.until(&mut driver, |client| {
        client.reply_so_far(socket.id).body.len() == 3
    });
    client.send(&window_update(socket.id, 200_000));
    client.send(&window_update(0, 200_000));
    let frame = socket.frame(&mut driver, &mut client, 2);
    assert_eq!(frame, (TEXT, b"behind".to_vec()));
    assert_eq!(socket.frames(&client)[0].1, vec![b'm'; 100_000]);
    assert_eq!(driver.engine.unsent(slot, generation), 0);
}

#[test]
fn the_client_may_send_more_as_its_messages_are_taken() {
    let mut driver = server();
    let mut client = Client::new(&driver);
    let socket = Socket::open(&mut driver, &mut client);
    let bytes = frames::frame(TEXT, &vec![b'm'; 300_000]);
    let granted = |client: &Client| {
        let updates = client.frames_of(socket.id);
        let updates = updates.filter(|frame| frame.kind == WINDOW_UPDATE);
        // `code` reads the increment of WINDOW_UPDATE, which has the place of an error code.
        65_536 + updates.map(|frame| frame.code() as usize).sum::<usize>()
    };
    let mut sent = 0;
    while sent < bytes.len() {
        client.until(&mut driver, |client| granted(client) > sent);
        let window = granted(&client) - sent;
        let part = window.min(16_384).min(bytes.len() - sent);
        client.send(&data(socket.id, &bytes[sent..sent + part], false));
        sent += part;
    }
    assert_eq!(driver.event(kind::MESSAGE).body.len(), 300_000);
}

#[test]
fn what_is_published_reaches_every_stream() {
    let mut driver = server();
    let mut clients = [Client::new(&driver), Client::new(&driver)];
    let mut sockets = Vec::new();
    for (index, client) in clients.iter_mut().enumerate() {
        for _ in 0..3 {
            let socket = Socket::open(&mut driver, client);
            record(&mut driver, &socket.seen, operation::SUBSCRIBE, 0, b"t");
            sockets.push((index, socket));
        }
    }
    publish(&mut driver, b"t", b"one");
    publish(&mut driver, b"t", &vec![b'2'; 40_000]);
    apply(&mut driver);
    for (index, socket) in &sockets {
        let frame = socket.frame(&mut driver, &mut clients[*index], 1);
        assert_eq!(frame, (TEXT, b"one".to_vec()));
        let client = &mut clients[*index];
        client.send(&window_update(0, 100_000));
        let frame = socket.frame(&mut driver, client, 2);
        assert_eq!(frame.1, vec![b'2'; 40_000]);
    }
    assert_eq!(stats(&driver), (2, 0, 6));
}
