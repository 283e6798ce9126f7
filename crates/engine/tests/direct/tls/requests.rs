//! Requests and replies.

use ring::layout::{flag, kind, operation, record, request};
use tls::Version;

use super::client::{Client, VERSIONS, World};
use crate::driver::retained_body::Shared;
use crate::driver::{Driver, allow, chunks, data, end, finish, limits, make, reply_large, start};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn requests_are_served_and_say_that_they_came_encrypted() {
    let world = World::new();
    for (version, own) in VERSIONS.into_iter().zip([Version::Tls12, Version::Tls13]) {
        let mut driver = world.driver(&limits());
        let mut client = Client::new(&driver, &world.config(version));
        let seen = client.ask(&mut driver, GET);
        assert_ne!(seen.words[request::KIND] >> 16 & flag::ENCRYPTED, 0);
        let (slot, generation) = (seen.slot() as u32, seen.generation() as u32);
        let info = driver.engine.tls_info(slot, generation).unwrap();
        assert_eq!(info.version, own);
        assert_eq!(info.server_name, Some("localhost"));
        assert_eq!(driver.engine.tls_info(slot, generation + 1), None);
        driver.reply(&seen, 200, b"first");
        assert!(
            client
                .hear(&mut driver, b"first")
                .starts_with(b"HTTP/1.1 200 OK\r\n")
        );
        let seen = client.ask(&mut driver, GET);
        driver.reply(&seen, 200, b"second");
        client.hear(&mut driver, b"second");
    }
}

#[test]
fn a_connection_without_tls_has_no_info_and_no_flag() {
    let mut driver = Driver::prompt(&limits());
    let mut client = driver.client();
    crate::driver::send(&mut client, GET);
    let seen = driver.request();
    assert_eq!(seen.words[request::KIND] >> 16 & flag::ENCRYPTED, 0);
    let (slot, generation) = (seen.slot() as u32, seen.generation() as u32);
    assert_eq!(driver.engine.tls_info(slot, generation), None);
}

#[test]
fn a_request_right_behind_the_handshake_is_served_without_another_event() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.client(&driver);
    // The client sends the request in one segment with its last handshake message.
    let seen = client.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"early");
    client.hear(&mut driver, b"early");
}

#[test]
fn pipelined_requests_are_answered_in_one_go() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.connected(&mut driver);
    client.say(&GET.repeat(10));
    let mut heard = Vec::new();
    driver.serve_until(
        |memory, seen| end(memory, seen, 200, b"!"),
        |_| {
            client.pump();
            heard.append(&mut client.received);
            heard
                .windows(15)
                .filter(|part| part == b"HTTP/1.1 200 OK")
                .count()
                == 10
        },
    );
}

#[test]
fn large_replies_arrive_whole_by_each_way() {
    const LENGTH: usize = 3 << 20;
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.connected(&mut driver);
    let whole = |heard: &[u8]| heard.len() > LENGTH + 50;

    let seen = client.ask(&mut driver, GET);
    reply_large(&mut driver, &seen, LENGTH);
    driver.until(|_| {
        client.pump();
        whole(&client.received)
    });
    client.received.clear();

    let seen = client.ask(&mut driver, GET);
    let body = Shared::new(LENGTH);

    let mut words = make(&seen, operation::END, 200);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = LENGTH as i32;
    driver.engine.memory().push_signal(words);
    driver.engine.apply(&body);
    driver.until(|_| {
        client.pump();
        whole(&client.received)
    });
    assert!(client.received.ends_with(&body.bytes));
    client.received.clear();

    let seen = client.ask(&mut driver, GET);
    start(driver.engine.memory(), &seen, None);
    for _ in 0..48 {
        data(
            driver.engine.memory(),
            &seen,
            &vec![b'L'; LENGTH / 48],
            false,
        );
        driver.engine.apply(&engine::NoReferences);
    }
    finish(driver.engine.memory(), &seen);
    driver.engine.apply(&engine::NoReferences);
    driver.until(|_| {
        client.pump();
        whole(&client.received) && client.received.ends_with(b"0\r\n\r\n")
    });
}

#[test]
fn a_body_is_streamed_with_its_back_pressure() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.connected(&mut driver);
    let seen = client.ask(
        &mut driver,
        b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 99000\r\n\r\n",
    );
    client.say(&vec![b'.'; 40_000]);
    client.say(&vec![b'.'; 59_000]);
    let mut received = 0;
    allow(&mut driver, &seen, operation::READ, 5_000);
    while received < 99_000 {
        driver.until(|driver| {
            client.pump();
            driver.seen.iter().any(|seen| seen.kind() == kind::CHUNK)
        });
        let length = chunks(&driver).len();
        driver.seen.retain(|seen| seen.kind() != kind::CHUNK);
        assert!(length <= 5_000);
        received += length;
        allow(&mut driver, &seen, operation::CREDIT, length as i32);
    }
    driver.event(kind::BODY_END);
    driver.reply(&seen, 200, b"stored");
    client.hear(&mut driver, b"stored");
}

#[test]
fn many_clients_are_served_side_by_side() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let config = world.config(&rustls::version::TLS13);
    let mut clients: Vec<Client> = (0..30).map(|_| Client::new(&driver, &config)).collect();
    for client in &mut clients {
        client.say(GET);
    }
    driver.serve_until(
        |memory, seen| end(memory, seen, 200, b"!"),
        |_| {
            for client in &mut clients {
                client.pump();
            }
            clients.iter().all(|client| client.received.ends_with(b"!"))
        },
    );
}

#[cfg(feature = "faults")]
#[test]
fn bytes_that_come_late_and_in_pieces_change_nothing() {
    let world = World::new();
    for seed in 1..20 {
        let mut driver = world.driver(&limits());
        driver.engine.delay(
            driver.server,
            engine::Delays {
                seed: seed * 1000,
                receive: 700,
                send: 900,
                mask: 0,
            },
        );
        let version = VERSIONS[seed as usize % 2];
        let mut client = Client::new(&driver, &world.config(version));
        for _ in 0..3 {
            let body = [
                b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n",
                &[b'.'; 5000][..],
            ];
            let seen = client.ask(&mut driver, &body.concat());
            assert_eq!(seen.body.len(), 5000);
            driver.reply(&seen, 200, &vec![b'L'; 20_000]);
            client.hear(&mut driver, &vec![b'L'; 20_000]);
        }
    }
}

#[cfg(feature = "faults")]
#[test]
fn a_panic_costs_the_connection_alone() {
    use engine::faults::{Stage, arm};

    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut other = world.connected(&mut driver);
    for stage in [Stage::Parse, Stage::Route] {
        let mut client = world.connected(&mut driver);
        arm(stage, 1);
        client.say(GET);
        client.await_end(&mut driver);
        assert!(client.received.is_empty() || client.received.starts_with(b"HTTP/1.1 500"));
    }
    let seen = other.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"unhurt");
    other.hear(&mut driver, b"unhurt");
}

#[test]
fn alpn_chooses_between_http_2_and_http_1() {
    let mut world = World::new();
    world.config.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    for version in VERSIONS {
        let mut driver = world.driver(&limits());
        let mut config = (*world.config(version)).clone();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let mut client = Client::new(&driver, &config.into());
        client.say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        // These are SETTINGS, a GET of /a for localhost with an empty dynamic table, and the end of the stream (RFC
        // 9113 §6).
        client.say(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
        let block = b"\x82\x87\x04\x02/a\x01\x09localhost";
        client.say(&[0, 0, block.len() as u8, 1, 5, 0, 0, 0, 1]);
        let seen = client.ask(&mut driver, block);
        let flags = seen.words[request::KIND] >> 16;
        assert_eq!(
            flags & (flag::ENCRYPTED | flag::HTTP2),
            flag::ENCRYPTED | flag::HTTP2
        );
        let info = driver
            .engine
            .tls_info(seen.slot() as u32, seen.generation() as u32);
        assert_eq!(info.unwrap().alpn, Some(&b"h2"[..]));
        driver.reply(&seen, 200, b"by frames");
        client.hear(&mut driver, b"by frames");

        let mut config = (*world.config(version)).clone();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut client = Client::new(&driver, &config.into());
        let seen = client.ask(&mut driver, GET);
        assert_eq!(seen.words[request::KIND] >> 16 & flag::HTTP2, 0);
        driver.reply(&seen, 200, b"by lines");
        client.hear(&mut driver, b"by lines");
    }
}
