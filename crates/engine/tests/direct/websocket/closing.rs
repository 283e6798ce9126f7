//! How sockets end, and what their clients and JavaScript are told.

use std::net::Shutdown;

use engine::SocketSpec;
use ring::layout::{kind, operation, operation_flag};

use super::client::{Client, apply, close, message, spec, stats, upgrade};
use crate::driver::frames::{HEAD, KEY, frame};
use crate::driver::{Driver, limits, make, pass, send, text};

#[test]
fn the_client_closes_and_gets_its_code_back() {
    let mut driver = Driver::sockets(&limits(), spec());
    for (payload, code, reason) in [
        (&b"\x0f\xa0why"[..], 4000, "why"),
        (b"\x03\xe8", 1000, ""),
        (b"", 1005, ""),
    ] {
        let mut client = Client::open(&mut driver, b"");
        client.send(0x88, payload);
        assert_eq!(client.told(&mut driver), (code, reason.to_owned()));
        assert_eq!(client.frame(&mut driver), (0x88, payload.to_vec()));
        client.until_end(&mut driver);
    }
    driver.until(|driver| stats(driver) == (0, 0, 0));
}

#[test]
fn the_server_closes_and_waits_for_the_client() {
    let mut driver = Driver::sockets(&limits(), spec());
    let mut client = Client::open(&mut driver, b"");
    let socket = client.socket.clone();
    message(&mut driver, &socket, 0, b"before");
    close(&mut driver, &socket, b"\x0f\xa1bye");
    message(&mut driver, &socket, 0, b"after");
    apply(&mut driver);
    assert_eq!(client.frame(&mut driver), (0x82, b"before".to_vec()));
    assert_eq!(client.frame(&mut driver), (0x88, b"\x0f\xa1bye".to_vec()));
    // What the client sends meanwhile is dropped.
    client.send(0x81, b"late");
    client.send(0x88, b"\x0f\xa1");
    assert_eq!(client.told(&mut driver), (4001, "bye".to_owned()));
    client.until_end(&mut driver);
    assert!(client.received.is_empty(), "{:?}", client.received);
    driver.until(|driver| stats(driver) == (0, 0, 0));
}

#[test]
fn a_close_frame_is_right_whatever_the_record_says() {
    let mut driver = Driver::sockets(&limits(), spec());
    let long = "\u{e9}".repeat(100);
    let cases: [(&[u8], &str); 3] = [
        (long.as_bytes(), &long[..122]),
        (b"bye \xff", "bye "),
        (b"\xff", ""),
    ];
    for (reason, sent) in cases {
        let mut client = Client::open(&mut driver, b"");
        let socket = client.socket.clone();
        close(&mut driver, &socket, &[b"\x03\xe8", reason].concat());
        apply(&mut driver);
        let payload = [b"\x03\xe8", sent.as_bytes()].concat();
        assert_eq!(client.frame(&mut driver), (0x88, payload));
        client.send(0x88, b"\x03\xe8");
        assert_eq!(client.told(&mut driver).0, 1000);
        client.until_end(&mut driver);
    }
}

#[test]
fn a_client_that_does_not_answer_a_close_is_reset() {
    let close_timeout = 100;
    let spec = SocketSpec {
        close_timeout,
        ..spec()
    };
    let mut driver = Driver::sockets(&limits(), spec);
    let mut client = Client::open(&mut driver, b"");
    let socket = client.socket.clone();
    close(&mut driver, &socket, b"\x03\xe8");
    apply(&mut driver);
    pass(&mut driver, 99);
    assert_ne!(stats(&driver), (0, 0, 0));
    pass(&mut driver, 1);
    assert_eq!(stats(&driver), (0, 0, 0));
    assert_eq!(client.told(&mut driver), (1000, String::new()));
    client.until_end(&mut driver);
}

#[test]
fn faults_of_the_client_close_with_their_code() {
    let small = SocketSpec {
        limits: ws::Limits {
            message: 100,
            fragments: 3,
        },
        ..spec()
    };
    let mut driver = Driver::sockets(&limits(), small);
    let other = Client::open(&mut driver, b"");
    let cases: [(Vec<u8>, u16); 7] = [
        (frame(0x81, &[b'a'; 101]), 1009),
        (
            [
                frame(0x01, b"a"),
                frame(0x00, b"b"),
                frame(0x00, b"c"),
                frame(0x80, b"d"),
            ]
            .concat(),
            1009,
        ),
        (frame(0x81, &[0xff]), 1007),
        (frame(0xc1, b"x"), 1002),
        (frame(0x83, b"x"), 1002),
        (b"\x81\x01a".to_vec(), 1002),
        (frame(0x88, b"\x03"), 1002),
    ];
    for (bytes, code) in cases {
        let mut client = Client::open(&mut driver, b"");
        send(&mut client.stream, &bytes);
        let (told, reason) = client.told(&mut driver);
        assert_eq!(told, i32::from(code), "{reason}");
        let (first, payload) = client.frame(&mut driver);
        assert_eq!((first, &payload[..2]), (0x88, &code.to_be_bytes()[..]));
        client.until_end(&mut driver);
    }
    assert_eq!(stats(&driver).2, 1);
    assert!(!other.ended);
}

#[test]
fn what_answers_a_message_goes_before_the_end_that_came_with_it() {
    let mut driver = Driver::sockets(&limits(), spec());
    let ends: [(Vec<u8>, u16); 6] = [
        (frame(0x88, &1000_u16.to_be_bytes()), 1000),
        (frame(0x83, b""), 1002),
        (frame(0x81, &[0xff]), 1007),
        (frame(0x82, &vec![0; 1 << 21])[..20].to_vec(), 1009),
        // The fault is in the second frame of a message that is gathered.
        ([frame(0x01, b"a"), frame(0x81, b"b")].concat(), 1002),
        // The close frame stands inside a message.
        (
            [frame(0x01, b"a"), frame(0x88, &1000_u16.to_be_bytes())].concat(),
            1000,
        ),
    ];
    for (end, code) in ends {
        let mut client = Client::open(&mut driver, b"");
        send(&mut client.stream, &[frame(0x81, b"last"), end].concat());
        client.stream.shutdown(Shutdown::Write).unwrap();
        driver.serve_until(
            |memory, seen| {
                if seen.kind() == kind::MESSAGE {
                    let record = make(seen, operation::MESSAGE, operation_flag::TEXT);
                    memory.push_record(record, &[], b"answer");
                }
            },
            |_| {
                client.receive();
                client.ended
            },
        );
        assert_eq!(client.frame(&mut driver), (0x81, b"answer".to_vec()));
        assert_eq!(client.told(&mut driver).0, i32::from(code));
        let (first, payload) = client.frame(&mut driver);
        assert_eq!((first, &payload[..2]), (0x88, &code.to_be_bytes()[..]));
        assert!(client.received.is_empty());
    }
    driver.until(|driver| stats(driver) == (0, 0, 0));
}

#[test]
fn a_connection_that_is_lost_is_1006() {
    let mut driver = Driver::sockets(&limits(), spec());
    let client = Client::open(&mut driver, b"");
    client.stream.shutdown(Shutdown::Both).unwrap();
    assert_eq!(client.told(&mut driver), (1006, String::new()));

    let mut client = Client::open(&mut driver, b"");
    client.send(0x81, b"last");
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(
        driver.event(kind::MESSAGE).body,
        b"last",
        "what came before the end is delivered"
    );
    assert_eq!(client.told(&mut driver), (1006, String::new()));

    let client = Client::open(&mut driver, b"");
    let socket = client.socket.clone();
    driver
        .engine
        .memory()
        .push_signal(make(&socket, operation::DESTROY, 0));
    apply(&mut driver);
    assert_eq!(client.told(&mut driver), (1006, String::new()));
    driver.until(|driver| stats(driver) == (0, 0, 0));
}

#[test]
fn a_server_that_closes_says_1001() {
    let mut driver = Driver::sockets(&limits(), spec());
    let mut client = Client::open(&mut driver, b"");
    let mut stream = driver.client();
    send(&mut stream, HEAD);
    let late = driver.request();
    driver.engine.close(driver.server);
    assert_eq!(
        client.frame(&mut driver),
        (0x88, b"\x03\xe9the server is closing".to_vec())
    );
    client.send(0x88, b"\x03\xe9");
    assert_eq!(
        client.told(&mut driver),
        (1001, "the server is closing".to_owned())
    );
    // A socket that is opened meanwhile is closed at once.
    upgrade(&mut driver, &late, KEY);
    apply(&mut driver);
    let (reply, _) = driver.read(&mut stream, |bytes| {
        bytes.ends_with(b"the server is closing")
    });
    assert!(text(&reply).starts_with("HTTP/1.1 101 "));
    send(&mut stream, &frame(0x88, b"\x03\xe9"));
    driver.event(kind::CLOSED);
    client.until_end(&mut driver);
}
