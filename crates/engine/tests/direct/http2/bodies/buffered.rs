//! Bodies that are there when the handler begins.

use crate::driver::http2::{WINDOW_UPDATE, block, data, headers};
use crate::driver::{GET, POST, allow, chunks, limits};
use crate::http2::client::{Client, server};
use engine::BodyMode;
use ring::layout::{flag, kind, limit, operation, request};

#[test]
fn a_body_in_one_frame_is_used_where_it_is() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    for (path, bytes) in [
        ("/b", &b"hello"[..]),
        ("/late", b"world"),
        ("/b", &[7; 16_384]),
    ] {
        let id = client.post(path, bytes);
        let seen = driver.request();
        assert_eq!(seen.body, bytes);
        assert_ne!(seen.words[request::KIND] >> 16 & flag::BODY_COMPLETE, 0);
        driver.reply(&seen, 200, b"");
        assert_eq!(client.reply(&mut driver, id).reset, None);
    }
    assert_eq!(driver.engine.buffered(driver.server), 0);
}

#[test]
fn a_body_in_many_frames_is_waited_for() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.id();
    client.send(&headers(id, &block("POST", "/b", &[]), false));
    for round in 0..9_u8 {
        client.send(&data(id, &[round; 10_000], false));
        client.settle(&mut driver);
        let buffered = driver.engine.buffered(driver.server);
        let bodies = 10_000 * (u64::from(round) + 1);
        // The head is kept with the body and counts, too.
        assert!((bodies..bodies + 2_000).contains(&buffered), "{buffered}");
    }
    assert!(driver.seen.is_empty());
    client.send(&data(id, b"", true));
    let seen = driver.request();
    assert_eq!(seen.body.len(), 90_000);
    assert!((0..90_000).all(|at| seen.body[at] == (at / 10_000) as u8));
    assert_eq!(driver.engine.buffered(driver.server), 0);
    driver.reply(&seen, 200, b"got");
    assert_eq!(client.reply(&mut driver, id).body, b"got");
    let grown = client
        .frames_of(id)
        .any(|frame| frame.kind == WINDOW_UPDATE);
    assert!(grown, "the window grows by what is used");
}

#[test]
fn two_bodies_may_come_in_turns() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let ids = [client.id(), client.id()];
    for id in ids {
        client.send(&headers(id, &block("POST", "/b", &[]), false));
    }
    for round in 0..3 {
        for (id, byte) in ids.iter().zip(b"ab") {
            client.send(&data(*id, &[*byte; 100], round == 2));
        }
    }
    let seen = [driver.request(), driver.request()];
    for ((seen, id), byte) in seen.iter().zip(ids).zip(b"ab") {
        assert_eq!(seen.body, [*byte; 300]);
        driver.reply(seen, 200, &[*byte]);
        assert_eq!(client.reply(&mut driver, id).body, [*byte]);
    }
}

#[test]
fn a_body_that_is_too_large_costs_its_stream_alone() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let declared = client.id();
    let fields = [("content-length", "100001")];
    client.send(&headers(declared, &block("POST", "/b", &fields), false));
    let reply = client.reply(&mut driver, declared);
    assert_eq!((reply.status, reply.whole), (413, true));
    let id = client.id();
    client.send(&headers(id, &block("POST", "/b", &[]), false));
    for _ in 0..7 {
        client.send(&data(id, &[1; 16_000], false));
        client.settle(&mut driver);
    }
    let reply = client.reply(&mut driver, id);
    assert_eq!((reply.status, reply.whole), (413, true));
    assert_eq!(driver.engine.buffered(driver.server), 0);
    let id = client.post("/b", b"small");
    let seen = driver.request();
    driver.reply(&seen, 200, b"ok");
    assert_eq!(client.reply(&mut driver, id).body, b"ok");
}

#[test]
fn bodies_past_the_budget_of_the_server_are_refused() {
    let mut values = limits();
    values[limit::MAX_BUFFERED_BODIES] = 20_000.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let ids = [client.id(), client.id()];
    for id in ids {
        client.send(&headers(id, &block("POST", "/b", &[]), false));
        client.send(&data(id, &[0; 15_000], false));
    }
    let reply = client.reply(&mut driver, ids[1]);
    assert_eq!((reply.status, reply.whole), (503, true));
    assert!((15_000..17_000).contains(&driver.engine.buffered(driver.server)));
    client.send(&data(ids[0], b"", true));
    assert_eq!(driver.request().body.len(), 15_000);
    assert_eq!(driver.engine.buffered(driver.server), 0);
}

#[test]
fn a_body_that_came_with_its_head_and_is_too_large_is_refused_once() {
    for mode in [BodyMode::Buffer, BodyMode::Late] {
        let mut driver = server(&limits());
        driver.add_server(&limits(), &[(POST, "/small", mode), (GET, "/a", mode)]);
        driver.engine.set_http2(driver.server, true);
        let mut client = Client::new(&driver);
        // If a body were read twice, the client would be charged a reset. A burst of 200 resets is allowed.
        for _ in 0..210 {
            let id = client.post("/small", &[1; 11]);
            let reply = client.reply(&mut driver, id);
            assert_eq!((reply.status, reply.whole, reply.reset), (413, true, None));
        }
        let id = client.get("/a");
        let seen = driver.request();
        driver.reply(&seen, 200, b"ok");
        assert_eq!(client.reply(&mut driver, id).body, b"ok");
        // The connection window has not grown beyond its first size.
        let given: u64 = client
            .frames
            .iter()
            .filter(|frame| frame.kind == WINDOW_UPDATE && frame.stream == 0)
            .map(|frame| u64::from(u32::from_be_bytes(frame.payload[..4].try_into().unwrap())))
            .sum();
        assert!(given <= (1 << 20) + 210 * 11, "{given}");
    }
}

#[test]
fn what_requests_hold_that_wait_for_their_bodies_is_bounded() {
    let mut values = limits();
    values[limit::MAX_BUFFERED_BODIES] = 200_000.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let value = "v".repeat(4_000);
    let ids: Vec<u32> = (0..60)
        .map(|_| {
            let id = client.id();
            let head = block("POST", "/b", &[("x-long", value.as_str())]);
            client.send(&headers(id, &head, false));
            id
        })
        .collect();
    client.settle(&mut driver);
    let buffered = driver.engine.buffered(driver.server);
    assert!(buffered <= 200_000 && buffered > 150_000, "{buffered}");
    let refused = ids
        .iter()
        .filter(|&&id| client.reply_so_far(id).status == 503)
        .count();
    assert!(refused > 10, "{refused}");
    drop(client);
    driver.until(|driver| driver.engine.connection_count() == 0);
    assert_eq!(driver.engine.buffered(driver.server), 0);
}

#[test]
fn requests_whose_bodies_come_later_count_for_max_in_flight_when_they_are_dispatched() {
    let mut values = limits();
    values[limit::MAX_IN_FLIGHT] = 2.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let ids = [client.id(), client.id(), client.id(), client.id()];
    for id in ids {
        client.send(&headers(id, &block("POST", "/b", &[]), false));
    }
    for id in ids {
        client.send(&data(id, b"body", true));
    }
    let seen = [driver.request(), driver.request()];
    for id in &ids[2..] {
        let reply = client.reply(&mut driver, *id);
        assert_eq!((reply.status, reply.whole), (503, true));
    }
    for (seen, id) in seen.iter().zip(ids) {
        driver.reply(seen, 200, b"ok");
        assert_eq!(client.reply(&mut driver, id).body, b"ok");
    }
    assert_eq!(driver.engine.buffered(driver.server), 0);
}

/// Input may be kept in the middle of a DATA frame. Its bytes must not be parsed as the head of a frame.
#[test]
fn a_body_goes_on_from_the_middle_of_its_frame_when_its_slice_was_full() {
    for cut in 96..104 {
        let mut driver = server(&limits());
        let mut client = Client::new(&driver);
        let id = client.id();
        client.send(&headers(id, &block("POST", "/s", &[]), false));
        let seen = driver.request();
        // Parsed as the head of a frame, these bytes would declare 65,535 more.
        let body: Vec<u8> = [0, 0xff, 0xff, 1].repeat(100);
        let frame = data(id, &body, true);
        client.send(&frame[..cut]);
        driver.until(|driver| driver.engine.buffered(driver.server) > 0);
        // The waiting bytes already fill the slice.
        driver.engine.set_slice_target(1);
        client.send(&frame[cut..]);
        allow(&mut driver, &seen, operation::READ, 1_000);
        driver.until(|driver| chunks(driver).len() == body.len());
        assert_eq!(chunks(&driver), body);
        driver.event(kind::BODY_END);
        driver.reply(&seen, 200, b"ok");
        assert_eq!(client.reply(&mut driver, id).body, b"ok");
    }
}
