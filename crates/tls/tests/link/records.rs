//! Records in both directions: split, joined, large, and the ends of a connection.

use std::io::Write;

use rustls::version;

use crate::pair::{Pair, World};

fn connected(world: &World) -> Pair {
    let mut pair = world.client().connect(&world.settings());
    pair.settle().unwrap();
    pair
}

#[test]
fn a_handshake_cut_at_every_byte_is_done_all_the_same() {
    let world = World::new();
    let settings = world.settings();
    for version in [&version::TLS12, &version::TLS13] {
        let mut pair = world.client().version(version).connect(&settings);
        loop {
            let bytes = pair.client_bytes();
            if bytes.is_empty() {
                break;
            }
            for byte in bytes {
                pair.feed(&[byte]).unwrap();
            }
            pair.deliver().unwrap();
        }
        assert!(!pair.link.handshaking());
        pair.client.writer().write_all(b"in one go").unwrap();
        for byte in pair.client_bytes() {
            pair.feed(&[byte]).unwrap();
        }
        assert_eq!(pair.plain, b"in one go");
    }
}

#[test]
fn a_handshake_in_records_of_32_bytes_is_done_at_every_cut_of_its_bytes() {
    let world = World::new();
    let settings = world.settings();
    let mut client = world.client();
    client.max_fragment = Some(32);
    let length = client.connect(&settings).client_bytes().len();
    for cut in (1..length).step_by(7) {
        let mut pair = client.connect(&settings);
        let hello = pair.client_bytes();
        let (before, after) = hello.split_at(cut.min(hello.len()));
        pair.feed(before).unwrap();
        pair.feed(after).unwrap();
        pair.deliver().unwrap();
        pair.settle().unwrap();
        assert!(!pair.link.handshaking());
        pair.say(b"question");
    }
}

#[test]
fn data_behind_the_handshake_in_the_same_receive_is_given() {
    let world = World::new();
    for version in [&version::TLS12, &version::TLS13] {
        let mut pair = world.client().version(version).connect(&world.settings());
        pair.client.writer().write_all(b"GET / HTTP/1.1").unwrap();
        while pair.link.handshaking() {
            let bytes = pair.client_bytes();
            pair.feed(&bytes).unwrap();
            pair.deliver().unwrap();
        }
        let rest = pair.client_bytes();
        if !rest.is_empty() {
            pair.feed(&rest).unwrap();
        }
        assert_eq!(pair.plain, b"GET / HTTP/1.1");
    }
}

#[test]
fn many_records_in_one_receive_are_all_given() {
    let mut pair = connected(&World::new());
    let mut bytes = Vec::new();
    for at in 0..200_u8 {
        pair.client.writer().write_all(&[at; 100]).unwrap();
        bytes.extend(pair.client_bytes());
    }
    let fed = pair.feed(&bytes).unwrap();
    assert_eq!(fed.plaintext, 20_000);
    assert!(
        pair.plain
            .chunks(100)
            .enumerate()
            .all(|(at, chunk)| chunk == [at as u8; 100])
    );
    assert!(!pair.link.pending());
}

#[test]
fn plaintext_that_finds_no_room_is_given_later_in_order() {
    let mut pair = connected(&World::new());
    let sent: Vec<u8> = (0..40_000_u32).map(|at| (at % 251) as u8).collect();
    let mut bytes = Vec::new();
    for piece in sent.chunks(10_000) {
        pair.client.writer().write_all(piece).unwrap();
        bytes.extend(pair.client_bytes());
    }
    assert_eq!(
        pair.feed_with_room(&bytes, 15_000).unwrap().plaintext,
        15_000
    );
    assert!(pair.link.pending());
    while pair.link.pending() {
        let mut room = vec![0; 7000];
        let length = pair.link.take_held(&mut room);
        pair.plain.extend_from_slice(&room[..length]);
    }
    assert!(pair.plain == sent);
}

#[test]
fn large_replies_leave_as_records_of_at_most_16_kib_each() {
    let mut pair = connected(&World::new());
    let reply: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
    pair.link.seal(&reply, &mut pair.wire);
    let mut at = 0;
    let mut records = 0;
    while at < pair.wire.len() {
        let length = usize::from(pair.wire[at + 3]) << 8 | usize::from(pair.wire[at + 4]);
        assert_eq!(pair.wire[at], 23, "application data");
        assert!(length <= 16_384 + 17);
        at += 5 + length;
        records += 1;
    }
    assert_eq!(at, pair.wire.len());
    assert_eq!(records, 7);
    pair.client.set_buffer_limit(None);
    let mut heard = Vec::new();
    for piece in std::mem::take(&mut pair.wire).chunks(8000) {
        pair.wire = piece.to_vec();
        pair.deliver().unwrap();
        heard.extend(pair.heard());
    }
    assert!(heard == reply);
}

#[test]
fn a_close_notify_of_the_client_ends_its_side_and_replies_still_leave() {
    let world = World::new();
    for version in [&version::TLS12, &version::TLS13] {
        let mut pair = world.client().version(version).connect(&world.settings());
        pair.settle().unwrap();
        pair.client.writer().write_all(b"last words").unwrap();
        pair.client.send_close_notify();
        let bytes = pair.client_bytes();
        let fed = pair.feed(&bytes).unwrap();
        assert!(fed.ended);
        assert_eq!(pair.plain, b"last words");
        assert_eq!(pair.answer(b"reply"), b"reply");
        // Bytes behind a close_notify are ignored.
        let fed = pair.feed(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        assert!(!fed.ended && fed.plaintext == 0);
        pair.link.close(&mut pair.wire);
        pair.link.close(&mut pair.wire);
        pair.deliver().unwrap();
    }
}

#[test]
fn our_close_notify_comes_once_and_behind_all_that_was_sealed() {
    let mut pair = connected(&World::new());
    pair.link.seal(b"reply", &mut pair.wire);
    pair.link.close(&mut pair.wire);
    let length = pair.wire.len();
    pair.link.close(&mut pair.wire);
    pair.link.seal(b"more", &mut pair.wire);
    assert_eq!(pair.wire.len(), length);
    pair.deliver().unwrap();
    let mut heard = Vec::new();
    // Without a close_notify this would be an error: UnexpectedEof, or WouldBlock.
    std::io::Read::read_to_end(&mut pair.client.reader(), &mut heard).unwrap();
    assert_eq!(heard, b"reply");
    // Later bytes of the client are discarded, valid or not.
    pair.client.writer().write_all(b"more").unwrap();
    let bytes = pair.client_bytes();
    for bytes in [&bytes, &b"garbage"[..]] {
        assert_eq!(pair.feed(bytes).unwrap().plaintext, 0);
    }
    assert!(!pair.link.failed() && pair.wire.is_empty());
}

#[test]
fn key_updates_of_the_client_are_followed_and_answered() {
    let mut pair = connected(&World::new());
    for round in 0..5 {
        pair.client.refresh_traffic_keys().unwrap();
        pair.say(format!("question {round}").as_bytes());
        assert_eq!(pair.answer(b"reply"), b"reply");
    }
}

#[test]
fn bytes_are_sealed_while_half_a_record_waits() {
    let mut pair = connected(&World::new());
    pair.client.writer().write_all(b"question").unwrap();
    let bytes = pair.client_bytes();
    let (before, after) = bytes.split_at(bytes.len() / 2);
    pair.feed(before).unwrap();
    assert_eq!(pair.answer(b"reply"), b"reply");
    pair.feed(after).unwrap();
    assert_eq!(pair.plain, b"question");
}

#[test]
fn nothing_is_sealed_before_the_handshake() {
    let world = World::new();
    let mut pair = world.client().connect(&world.settings());
    pair.link.seal(b"too early", &mut pair.wire);
    assert!(pair.wire.is_empty());
    pair.settle().unwrap();
    assert_eq!(pair.heard(), b"");
}
