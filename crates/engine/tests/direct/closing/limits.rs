//! How long a close may take.

use super::GET;
use crate::driver::{Driver, limits, pass, send};
use ring::layout::{abort, kind, limit, request};

#[test]
fn the_deadline_ends_what_drains() {
    let mut values = limits();
    values[limit::SHUTDOWN_TIMEOUT] = 30.0;
    let mut driver = Driver::new(&values);
    let clients = [driver.client(), driver.client()];
    driver.until(|driver| driver.engine.connection_count() == 2);
    driver.engine.close(driver.server);
    pass(&mut driver, 29);
    assert_eq!(driver.engine.connection_count(), 2);
    pass(&mut driver, 1);
    driver.event(kind::CLOSED);
    drop(clients);
}

#[test]
fn without_time_for_it_the_close_resets_at_once() {
    let mut values = limits();
    values[limit::SHUTDOWN_TIMEOUT] = 0.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(&mut client, GET);
    driver.request();
    driver.engine.close(driver.server);
    assert_eq!(driver.engine.connection_count(), 0);
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::SHUTDOWN);
    driver.event(kind::CLOSED);
}

#[test]
fn shutdown_resets_what_never_ends() {
    let mut values = limits();
    values[limit::SHUTDOWN_TIMEOUT] = 60.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(&mut client, GET);
    driver.request();
    driver.engine.close(driver.server);
    pass(&mut driver, 59);
    assert!(driver.seen.is_empty(), "{:?}", driver.seen);
    pass(&mut driver, 1);
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::SHUTDOWN);
    driver.event(kind::CLOSED);
    let (_, ended) = driver.read(&mut client, |_| false);
    assert!(ended);
}
