//! Bodies of requests: streamed, late, and discarded.

use super::GET;
use crate::driver::{Driver, ends_with, grant, limits, send, settle, text};
use ring::layout::{kind, limit, operation};

#[test]
fn a_streamed_body_keeps_to_its_credit() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let body = vec![b'z'; 50_000];
    send(
        &mut client,
        b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n",
    );
    let request = driver.request();
    send(&mut client, &body);
    driver.turn(|_, _| {});
    assert!(driver.seen.is_empty(), "no credit, no body");
    grant(driver.engine.memory(), &request, operation::READ, 1000);
    driver.engine.apply(&engine::NoReferences);
    let mut received = 0;
    settle(&mut driver);
    received += driver
        .seen
        .drain(..)
        .map(|seen| seen.body.len())
        .sum::<usize>();
    assert_eq!(received, 1000);
    grant(driver.engine.memory(), &request, operation::CREDIT, 49_000);
    driver.engine.apply(&engine::NoReferences);
    driver.until(|driver| driver.seen.iter().any(|seen| seen.kind() == kind::BODY_END));
    received += driver
        .seen
        .drain(..)
        .map(|seen| seen.body.len())
        .sum::<usize>();
    assert_eq!(received, 50_000);
    driver.reply(&request, 200, b"done");
    send(&mut client, GET);
    let next = driver.request();
    driver.reply(&next, 200, b"next");
    driver.read(&mut client, ends_with("next"));
}

#[test]
fn a_late_body_is_there_at_once_where_it_came_with_its_head() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let post = b"POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    send(&mut client, &[&post[..], GET].concat());
    let whole = driver.request();
    assert_eq!(whole.body, b"hi");
    driver.reply(&whole, 401, b"no");
    let next = driver.request();
    driver.reply(&next, 200, b"next");
    driver.read(&mut client, ends_with("next"));

    send(&mut client, &post[..post.len() - 1]);
    let streamed = driver.request();
    assert!(streamed.body.is_empty());
    grant(driver.engine.memory(), &streamed, operation::READ, 1000);
    driver.engine.apply(&engine::NoReferences);
    send(&mut client, b"i");
    driver.until(|driver| driver.seen.iter().any(|seen| seen.kind() == kind::BODY_END));
    let body: Vec<u8> = driver.seen.drain(..).flat_map(|seen| seen.body).collect();
    assert_eq!(body, b"hi");
    driver.reply(&streamed, 200, b"done");
    driver.read(&mut client, ends_with("done"));
}

#[test]
fn an_early_answer_never_lets_body_bytes_become_a_request() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n",
    );
    let request = driver.request();
    driver.reply(&request, 403, b"no");
    let smuggled = [GET, &[b'.'; 100]].concat();
    send(&mut client, &smuggled[..100]);
    send(&mut client, GET);
    let next = driver.request();
    driver.reply(&next, 200, b"second");
    let (received, _) = driver.read(&mut client, ends_with("second"));
    assert_eq!(text(&received).matches("HTTP/1.1").count(), 2);
}

#[test]
fn a_body_past_the_drain_limit_closes_after_the_answer() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n",
    );
    let request = driver.request();
    driver.reply(&request, 403, b"no");
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended);
    assert!(text(&received).contains("Connection: close"));
}

#[test]
fn the_drain_limit_is_exact() {
    for (left, closes) in [(99, false), (100, false), (101, true)] {
        let mut values = limits();
        values[limit::DRAIN_LIMIT] = 100.0;
        let mut driver = Driver::new(&values);
        let mut client = driver.client();
        let head = format!("POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: {left}\r\n\r\n");
        send(&mut client, head.as_bytes());
        let request = driver.request();
        driver.reply(&request, 403, b"early");
        let (received, ended) = driver.read(&mut client, ends_with("early"));
        assert_eq!(
            text(&received).contains("Connection: close"),
            closes,
            "{left}"
        );
        if closes {
            assert!(ended || driver.read(&mut client, |_| false).1);
            continue;
        }
        send(&mut client, &vec![b'.'; left]);
        send(&mut client, GET);
        let next = driver.request();
        driver.reply(&next, 200, b"next");
        driver.read(&mut client, ends_with("next"));
    }
}
