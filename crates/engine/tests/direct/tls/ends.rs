//! How connections end, and errors of clients.

use std::io::Write;
use std::net::Shutdown;

use ring::layout::{kind, limit, operation};
use rustls::{AlertDescription, Error};

use super::client::{Client, End, VERSIONS, World};
use crate::driver::{allow, limits, pass, send, text};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn plain_http_is_answered_in_plain_http() {
    let world = World::new();
    for request in [GET, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &GET.repeat(50)] {
        let mut driver = world.driver(&limits());
        let mut client = driver.client();
        send(&mut client, request);
        let (received, ended) = driver.read(&mut client, |_| false);
        assert!(ended);
        let reply = text(&received);
        assert!(reply.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{reply}");
        assert!(reply.contains("\r\nConnection: close\r\n") && reply.contains("\r\nDate: "));
        assert!(reply.contains("\"code\":\"E_TLS_REQUIRED\""), "{reply}");
        assert!(
            reply.ends_with("Use https:// in place of http://.\"}"),
            "{reply}"
        );
        drop(client);
        driver.until(|driver| driver.engine.connection_count() == 0);
        assert_eq!(driver.engine.stats(driver.server).unwrap().refused, 1);
    }
}

#[test]
fn garbage_gets_an_alert_and_the_end() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = driver.client();
    send(&mut client, &[0; 100]);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended);
    assert_eq!((received.len(), received[0], received[5]), (7, 21, 2));
    drop(client);
    driver.until(|driver| driver.engine.connection_count() == 0);
}

#[test]
fn a_protocol_that_is_not_there_gets_the_alert_of_rfc_7301() {
    let world = World::new();
    for version in VERSIONS {
        let mut driver = world.driver(&limits());
        let mut config = (*world.config(version)).clone();
        config.alpn_protocols = vec![b"h3".to_vec()];
        let mut client = Client::new(&driver, &config.into());
        let alert = Error::AlertReceived(AlertDescription::NoApplicationProtocol);
        assert_eq!(client.await_end(&mut driver), End::Alert(alert));
    }
}

#[test]
fn a_changed_record_ends_the_connection_with_an_alert_and_aborts_its_exchange() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.connected(&mut driver);
    client.ask(&mut driver, GET);
    client.socket.write_all(&[23, 3, 3, 0, 20]).unwrap();
    client.socket.write_all(&[7; 20]).unwrap();
    let alert = Error::AlertReceived(AlertDescription::BadRecordMac);
    assert_eq!(client.await_end(&mut driver), End::Alert(alert));
    driver.event(kind::ABORT);
    drop(client);
    driver.until(|driver| driver.engine.connection_count() == 0);
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn a_client_that_ends_its_side_gets_its_reply() {
    let world = World::new();
    for version in VERSIONS {
        let mut driver = world.driver(&limits());
        let mut client = Client::new(&driver, &world.config(version));
        let seen = client.ask(&mut driver, GET);
        client.tls.send_close_notify();
        client.pump();
        driver.event(kind::ABORT);
        driver.reply(&seen, 200, b"still here");
        client.hear(&mut driver, b"still here");
        assert_eq!(client.await_end(&mut driver), End::Regular);
    }
}

#[test]
fn an_end_right_behind_a_request_is_seen_though_no_event_announces_it() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.connected(&mut driver);
    client.tls.writer().write_all(GET).unwrap();
    client.tls.send_close_notify();
    client.pump();
    let seen = driver.request();
    driver.event(kind::ABORT);
    driver.reply(&seen, 200, b"still here");
    client.hear(&mut driver, b"still here");
    driver.until(|driver| driver.engine.connection_count() == 0);
}

#[test]
fn an_end_without_close_notify_does_not_end_a_body() {
    let world = World::new();
    for with_notify in [false, true] {
        let mut driver = world.driver(&limits());
        let mut client = world.connected(&mut driver);
        let seen = client.ask(
            &mut driver,
            b"POST /s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        );
        allow(&mut driver, &seen, operation::READ, 1000);
        driver.event(kind::CHUNK);
        if with_notify {
            client.tls.send_close_notify();
            client.pump();
        }
        client.socket.shutdown(Shutdown::Write).unwrap();
        driver.until(|driver| {
            driver
                .seen
                .iter()
                .any(|seen| seen.kind() == kind::BODY_FAIL)
        });
        assert!(driver.seen.iter().all(|seen| seen.kind() != kind::BODY_END));
    }
}

#[test]
fn the_server_says_that_it_closes() {
    let world = World::new();
    for version in VERSIONS {
        let mut driver = world.driver(&limits());
        let mut client = Client::new(&driver, &world.config(version));
        let close = b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let seen = client.ask(&mut driver, close);
        driver.reply(&seen, 200, b"bye");
        client.hear(&mut driver, b"bye");
        assert_eq!(client.await_end(&mut driver), End::Regular);
    }
}

#[test]
fn an_idle_connection_that_is_closed_is_told() {
    let world = World::new();
    let mut values = limits();
    values[limit::KEEP_ALIVE_TIMEOUT] = 50.0;
    let mut driver = world.driver(&values);
    let mut client = world.connected(&mut driver);
    let seen = client.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"reply");
    client.hear(&mut driver, b"reply");
    pass(&mut driver, 49);
    client.pump();
    assert_eq!(client.end, None);
    pass(&mut driver, 1);
    assert_eq!(client.await_end(&mut driver), End::Regular);
}

#[test]
fn a_reply_that_is_cut_does_not_end_regularly() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.connected(&mut driver);
    let seen = client.ask(&mut driver, GET);
    crate::driver::start(driver.engine.memory(), &seen, None);
    crate::driver::data(driver.engine.memory(), &seen, b"half", false);
    driver.engine.apply(&engine::NoReferences);
    client.hear(&mut driver, b"half\r\n");
    let destroy = crate::driver::make(&seen, operation::DESTROY, 0);
    driver.engine.memory().push_signal(destroy);
    driver.engine.apply(&engine::NoReferences);
    assert_eq!(client.await_end(&mut driver), End::Cut);
}

#[test]
fn a_server_that_closes_ends_idle_connections_regularly_and_unfinished_handshakes_too() {
    let world = World::new();
    let mut values = limits();
    values[limit::DRAIN_IDLE] = 0.0;
    let mut driver = world.driver(&values);
    let mut idle_one = world.connected(&mut driver);
    let seen = idle_one.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"reply");
    idle_one.hear(&mut driver, b"reply");
    let _silent = driver.client();
    driver.until(|driver| driver.engine.connection_count() == 2);
    driver.engine.close(driver.server);
    assert_eq!(idle_one.await_end(&mut driver), End::Regular);
    driver.event(kind::CLOSED);
}

#[test]
fn a_refusal_behind_the_handshake_arrives_though_the_socket_is_polled_before_it_is_sent() {
    let world = World::new();
    // The poller may report the two connections in either order.
    for is_first in [false, true] {
        let mut driver = world.driver(&limits());
        let earlier = is_first.then(|| world.client(&driver));
        driver.turn(|_, _| {});
        let mut other = world.connected(&mut driver);
        let mut client = earlier.unwrap_or_else(|| world.client(&driver));
        let refused = b"GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
        client.tls.writer().write_all(refused).unwrap();
        driver.until(|_| {
            client.pump();
            !client.tls.is_handshaking() && client.tls.wants_write()
        });
        // The request of the other connection fills the slice, so that the event of the refused one is left for the
        // next turn, which polls after it.
        driver.engine.set_slice_target(1);
        other.say(GET);
        client.pump();
        driver.turn_of(1, |_, _| {});
        assert_eq!(driver.seen.len(), 1);
        let end = client.await_end(&mut driver);
        let reply = text(&client.received);
        assert!(
            reply.starts_with("HTTP/1.1 400 "),
            "{end:?} after {reply:?}"
        );
        assert_eq!(end, End::Regular);
    }
}

#[test]
fn an_end_without_close_notify_between_requests_closes_quietly() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.connected(&mut driver);
    let seen = client.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"reply");
    client.hear(&mut driver, b"reply");
    client.socket.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.await_end(&mut driver), End::Regular);
    driver.until(|driver| driver.engine.connection_count() == 0);
    assert!(driver.seen.is_empty(), "{:?}", driver.seen);
}
