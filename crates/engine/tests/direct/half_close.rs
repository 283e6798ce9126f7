//! Clients that end their sending side: what they sent before is served.

use crate::driver::{Driver, allow, answer, chunks, limits, send, settle, text, upload};
use ring::layout::{abort, kind, operation, request};
use std::io::{ErrorKind, Read};
use std::net::Shutdown;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn a_half_closed_client_is_told_and_served() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_OFFSET], 1);
    assert_eq!(told.words[request::BODY_LENGTH], abort::CLIENT);
    driver.reply(&request, 200, b"still here");
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && received.ends_with(b"still here"));
    driver.until(|driver| driver.engine.connection_count() == 0);
    assert!(
        driver.seen.iter().all(|seen| seen.kind() != kind::ABORT),
        "told once"
    );
}

#[test]
fn a_body_that_is_all_there_is_read_although_its_client_half_closed() {
    for size in [5_000, 99_000] {
        let mut driver = Driver::new(&limits());
        let mut client = driver.client();
        let fields = format!("Content-Length: {size}\r\n");
        let request = upload(&mut driver, &mut client, &fields, &vec![b'.'; size]);
        client.shutdown(Shutdown::Write).unwrap();
        settle(&mut driver);
        let mut received = 0;
        allow(&mut driver, &request, operation::READ, 1000);
        while received < size {
            let seen = driver.event(kind::CHUNK);
            received += seen.body.len();
            allow(
                &mut driver,
                &request,
                operation::CREDIT,
                seen.body.len() as i32,
            );
        }
        driver.event(kind::BODY_END);
        driver.reply(&request, 200, b"stored");
        let (received, ended) = driver.read(&mut client, |_| false);
        assert!(ended && received.ends_with(b"stored"), "{size}");
        driver.until(|driver| driver.engine.connection_count() == 0);
    }
}

#[test]
fn a_body_cut_short_fails_after_what_came_of_it() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let request = upload(
        &mut driver,
        &mut client,
        "Content-Length: 900\r\n",
        &[b'.'; 500],
    );
    client.shutdown(Shutdown::Write).unwrap();
    settle(&mut driver);
    allow(&mut driver, &request, operation::READ, 10_000);
    driver.until(|driver| chunks(driver).len() == 500);
    assert_eq!(driver.event(kind::BODY_FAIL).words[request::BODY_LENGTH], 0);
    driver.reply(&request, 400, b"short");
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && received.ends_with(b"short"));
    driver.until(|driver| driver.engine.connection_count() == 0);
}

#[test]
fn every_pipelined_request_before_a_half_close_is_answered() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let mut received = Vec::new();
    let mut ended = false;
    send(&mut client, GET);
    let held = driver.request();
    // 16 are at work and 64 KiB kept: what follows stays in the kernel, the end of input behind it.
    send(&mut client, &GET.repeat(2_400));
    settle(&mut driver);
    send(&mut client, &GET.repeat(1_000));
    settle(&mut driver);
    client.shutdown(Shutdown::Write).unwrap();
    settle(&mut driver);
    for seen in std::mem::take(&mut driver.seen) {
        answer(driver.engine.memory(), &seen);
    }
    driver.reply(&held, 200, b"!");
    driver.serve_until(answer, |_| {
        let mut buffer = vec![0; 65_536];
        match client.read(&mut buffer) {
            Ok(0) => ended = true,
            Ok(length) => received.extend_from_slice(&buffer[..length]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        ended
    });
    assert_eq!(text(&received).matches("HTTP/1.1 200").count(), 3_401);
}
