//! No panic crosses into Node: injected panics in every stage cost one connection and nothing else.
//! `cargo test -p volant-engine --features faults faults::`

use crate::driver::{Driver, data, limits, send, start};
use engine::faults::{Stage, arm};
use ring::layout::{abort, kind, request};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

fn served(driver: &mut Driver) {
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    driver.reply(&request, 200, b"alive");
    driver.read(&mut client, |received| received.ends_with(b"alive"));
}

fn starts_with(received: &[u8], status: &str) -> bool {
    String::from_utf8_lossy(received).starts_with(&format!("HTTP/1.1 {status} "))
}

#[test]
fn before_dispatch_the_client_gets_a_500() {
    for (count, stage) in [Stage::Parse, Stage::Route].into_iter().enumerate() {
        let mut driver = Driver::new(&limits());
        served(&mut driver);
        let mut client = driver.client();
        arm(stage, 1);
        send(&mut client, GET);
        let (received, ended) = driver.read(&mut client, |_| false);
        assert!(
            ended && starts_with(&received, "500"),
            "{count}: {received:?}"
        );
        assert_eq!(driver.engine.stats(driver.server).unwrap().panics, 1);
        served(&mut driver);
        assert_eq!(driver.engine.in_flight(), 0);
    }
}

#[test]
fn while_encoding_or_flushing_the_first_reply_the_client_gets_a_500() {
    for stage in [Stage::Encode, Stage::Flush] {
        let mut driver = Driver::new(&limits());
        served(&mut driver);
        let mut client = driver.client();
        send(&mut client, GET);
        let request = driver.request();
        arm(stage, 1);
        driver.reply(&request, 200, b"never sent");
        let (received, ended) = driver.read(&mut client, |_| false);
        assert!(ended && starts_with(&received, "500"), "{stage:?}");
        assert!(!received.ends_with(b"never sent"));
        assert_eq!(driver.engine.stats(driver.server).unwrap().panics, 1);
        served(&mut driver);
        assert_eq!(driver.engine.in_flight(), 0);
    }
}

#[test]
fn the_500_for_a_send_that_panicked_leaves_with_the_same_step() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    arm(Stage::Flush, 1);
    driver.reply(&request, 200, b"never sent");
    // No turn follows that could send it.
    client.set_nonblocking(false).unwrap();
    client
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .unwrap();
    let mut status = [0; 12];
    std::io::Read::read_exact(&mut client, &mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 500");
}

#[test]
fn after_a_reply_head_the_connection_is_reset() {
    for stage in [Stage::Encode, Stage::Flush] {
        let mut driver = Driver::new(&limits());
        let mut client = driver.client();
        send(&mut client, GET);
        let begun = driver.request();
        start(driver.engine.memory(), &begun, None);
        data(driver.engine.memory(), &begun, b"part", false);
        driver.engine.apply(&engine::NoReferences);
        driver.read(&mut client, |received| received.ends_with(b"part\r\n"));
        arm(stage, 1);
        data(driver.engine.memory(), &begun, b"rest", false);
        driver.engine.apply(&engine::NoReferences);
        let (received, ended) = driver.read(&mut client, |_| false);
        assert!(ended && !received.ends_with(b"0\r\n\r\n"), "{stage:?}");
        let told = driver.event(kind::ABORT);
        assert_eq!(told.words[request::BODY_LENGTH], abort::ERROR);
        assert_eq!(driver.engine.connection_count(), 0);
        served(&mut driver);
    }
}

#[test]
fn earlier_pipelined_replies_are_not_lost_to_a_later_panic() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &GET.repeat(2));
    let first = driver.request();
    let second = driver.request();
    crate::driver::end(driver.engine.memory(), &first, 200, b"first");
    crate::driver::end(driver.engine.memory(), &second, 200, b"second");
    arm(Stage::Encode, 2);
    driver.engine.apply(&engine::NoReferences);
    let (received, ended) = driver.read(&mut client, |_| false);
    let text = String::from_utf8_lossy(&received);
    assert!(ended && text.contains("first") && text.contains("HTTP/1.1 500 "));
    assert!(!text.contains("second"));
    served(&mut driver);
}

#[test]
fn the_lost_end_of_a_reply_is_never_a_500_inside_it() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let begun = driver.request();
    start(driver.engine.memory(), &begun, Some(100));
    data(driver.engine.memory(), &begun, &[b'a'; 50], false);
    driver.engine.apply(&engine::NoReferences);
    driver.read(&mut client, |received| received.ends_with(&[b'a'; 50]));
    arm(Stage::Flush, 1);
    data(driver.engine.memory(), &begun, &[b'b'; 50], false);
    crate::driver::finish(driver.engine.memory(), &begun);
    driver.engine.apply(&engine::NoReferences);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(
        ended && received.is_empty(),
        "{}",
        String::from_utf8_lossy(&received)
    );
    served(&mut driver);
}
