//! Errors of peers.

use std::io::Write;

use tls::Fault;

use crate::pair::{Pair, World};

fn alert(pair: &mut Pair) -> (u8, u8) {
    let wire = std::mem::take(&mut pair.wire);
    assert_eq!(wire.len(), 7, "{wire:?}");
    assert_eq!(wire[0], 21, "an alert");
    (wire[5], wire[6])
}

#[test]
fn plain_http_is_told_apart_and_nothing_is_sent() {
    let world = World::new();
    for request in [
        &b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\n\r\n",
        b"G",
        b"PUT ",
    ] {
        let mut pair = world.client().connect(&world.settings());
        assert_eq!(pair.feed(request), Err(Fault::PlainHttp));
        assert!(pair.wire.is_empty() && pair.link.failed());
        assert_eq!(pair.feed(request).unwrap().plaintext, 0, "told once");
    }
}

#[test]
fn garbage_gets_an_alert() {
    let world = World::new();
    for bytes in [
        &[0x80, 0x2e, 1, 3, 1, 0, 0][..],
        &[0; 64],
        &[22, 3, 1, 0, 5, 9, 9, 9, 9, 9],
        &[22, 3, 1, 0xff, 0xff, 1],
        &[23, 3, 3, 0, 4, 1, 2, 3, 4],
        b"get / http/1.1\r\n",
        b"SS\x01\x02",
    ] {
        let mut pair = world.client().connect(&world.settings());
        let fault = pair.feed(bytes).unwrap_err();
        assert!(matches!(fault, Fault::Tls(_)), "{bytes:?}: {fault}");
        let (level, _) = alert(&mut pair);
        assert_eq!(level, 2, "fatal");
        assert!(pair.link.failed());
        // Later bytes are discarded.
        pair.feed(bytes).unwrap();
        pair.link.seal(b"reply", &mut pair.wire);
        pair.link.close(&mut pair.wire);
        assert!(pair.wire.is_empty());
    }
}

#[test]
fn a_changed_record_gets_bad_record_mac() {
    let world = World::new();
    let mut pair = world.client().connect(&world.settings());
    pair.settle().unwrap();
    pair.client.writer().write_all(b"question").unwrap();
    let mut bytes = pair.client_bytes();
    bytes[10] ^= 1;
    pair.feed(&bytes).unwrap_err();
    let error = pair.deliver().unwrap_err();
    assert!(error.to_string().contains("BadRecordMac"), "{error}");
}

#[test]
fn plaintext_before_a_changed_record_is_not_given_twice() {
    let world = World::new();
    let mut pair = world.client().connect(&world.settings());
    pair.settle().unwrap();
    pair.client.writer().write_all(b"good").unwrap();
    let mut bytes = pair.client_bytes();
    let good = bytes.len();
    pair.client.writer().write_all(b"bad").unwrap();
    bytes.extend(pair.client_bytes());
    bytes[good + 8] ^= 1;
    pair.feed(&bytes).unwrap_err();
    assert!(pair.plain.is_empty());
    assert_eq!(pair.feed(&[]).unwrap().plaintext, 0);
}

#[test]
fn a_handshake_message_that_never_ends_is_refused() {
    let world = World::new();
    let mut pair = world.client().connect(&world.settings());
    // The ClientHello has 65,000 bytes, in records of one byte.
    let mut refused = pair.feed(&[22, 3, 1, 0, 4, 1, 0, 0xfd, 0xe8]).is_err();
    let mut sent = 0;
    while !refused {
        let bytes: Vec<u8> = [22, 3, 1, 0, 1, 7].repeat(1000);
        refused = pair.feed(&bytes).is_err();
        sent += 1000;
        assert!(sent <= 65_000, "it was all kept");
    }
    assert!(pair.link.failed());
}

#[test]
fn a_handshake_message_that_announces_too_much_is_refused_at_once() {
    let world = World::new();
    let mut pair = world.client().connect(&world.settings());
    pair.feed(&[22, 3, 1, 0, 4, 1, 1, 0, 0]).unwrap_err();
    assert_eq!(alert(&mut pair).0, 2);
}

#[test]
fn half_a_message_behind_the_handshake_does_not_hinder_replies() {
    let world = World::new();
    let mut pair = world.client().connect(&world.settings());
    pair.settle().unwrap();
    // Plaintext handshake records are an error at this point, for any message.
    let fed = pair.feed(&[22, 3, 3, 0, 2, 24, 0]);
    pair.link.seal(b"reply", &mut pair.wire);
    assert!(fed.is_err());
    pair.deliver().unwrap_err();
}
