//! When a producer is told to go on.

use super::bytes_of;
use crate::driver::http2::{INITIAL_WINDOW_SIZE, window_update};
use crate::driver::{data, finish, limits, start};
use crate::http2::client::{Client, server};
use engine::NoReferences;
use ring::layout::kind;
use std::net::Shutdown;

#[test]
fn a_producer_is_told_to_go_on_when_nothing_of_it_waits() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.get("/a");
    let seen = driver.request();
    start(driver.engine.memory(), &seen, None);
    data(driver.engine.memory(), &seen, &vec![1; 60_000], false);
    data(driver.engine.memory(), &seen, &vec![1; 60_000], true);
    driver.engine.apply(&NoReferences);
    client.settle(&mut driver);
    assert!(driver.seen.iter().all(|seen| seen.kind() != kind::DRAIN));
    client.send(&window_update(id, 1 << 20));
    client.send(&window_update(0, 1 << 20));
    assert_eq!(driver.event(kind::DRAIN).slot(), seen.slot());
    finish(driver.engine.memory(), &seen);
    driver.engine.apply(&NoReferences);
    assert_eq!(client.reply(&mut driver, id).body.len(), 120_000);
}

#[test]
fn a_producer_is_told_to_go_on_although_its_client_has_closed_its_side() {
    let mut driver = server(&limits());
    let windows = [(INITIAL_WINDOW_SIZE, 1 << 20)];
    let mut client = Client::with(&driver, &windows);
    client.send(&window_update(0, 1 << 20));
    let id = client.get("/a");
    let seen = driver.request();
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(driver.event(kind::ABORT).slot(), seen.slot());
    start(driver.engine.memory(), &seen, None);
    data(driver.engine.memory(), &seen, &vec![1; 300_000], true);
    driver.engine.apply(&NoReferences);
    client.until(&mut driver, |client| bytes_of(client, id) == 300_000);
    assert_eq!(driver.event(kind::DRAIN).slot(), seen.slot());
    finish(driver.engine.memory(), &seen);
    driver.engine.apply(&NoReferences);
    assert!(client.reply(&mut driver, id).whole);
    client.until(&mut driver, |client| client.ended);
}

#[test]
fn a_producer_of_little_is_told_at_once() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    client.get("/a");
    let seen = driver.request();
    start(driver.engine.memory(), &seen, None);
    data(driver.engine.memory(), &seen, b"little", true);
    driver.engine.apply(&NoReferences);
    assert_eq!(driver.event(kind::DRAIN).slot(), seen.slot());
}
