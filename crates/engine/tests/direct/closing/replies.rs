//! Requests and replies that a close finds half done.

use super::{GET, driver_for, replies, says_close};
use crate::driver::{data, ends_with, finish, reply_large, send, settle, start, text, upload};
use engine::NoReferences;
use ring::layout::kind;

#[test]
fn the_last_reply_of_what_was_received_says_close() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    // The POST waits for the GET, and the GET behind it for the POST.
    let post = b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab";
    send(&mut client, &[GET, post, GET, GET].concat());
    let request = driver.request();
    driver.engine.close(driver.server);
    driver.reply(&request, 200, b"!");
    let reply = replies(&mut driver, client);
    assert_eq!(reply.matches("HTTP/1.1 200 OK").count(), 4);
    assert_eq!(says_close(&reply), 1, "{reply}");
    assert!(reply.rfind("HTTP/1.1") < reply.find("Connection: close"));
    driver.event(kind::CLOSED);
}

#[test]
fn a_reply_ahead_of_its_body_says_close() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    // Nobody reads the body, so it waits.
    let request = upload(&mut driver, &mut client, "Content-Length: 10\r\n", b"12345");
    driver.engine.close(driver.server);
    driver.reply(&request, 200, b"early");
    let reply = replies(&mut driver, client);
    assert!(
        reply.ends_with("early") && says_close(&reply) == 1,
        "{reply}"
    );
    driver.event(kind::CLOSED);
}

#[test]
fn requests_behind_the_last_reply_do_not_reset_it() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    driver.engine.close(driver.server);
    driver.reply(&request, 200, b"!");
    // The client did not wait for the reply.
    send(&mut client, GET);
    let reply = replies(&mut driver, client);
    assert_eq!(reply.matches("HTTP/1.1 200 OK").count(), 1);
    driver.event(kind::CLOSED);
}

#[test]
fn half_received_requests_are_completed_and_answered() {
    // Whether idle connections are closed meanwhile does not matter.
    for drain_idle in [0.0, 5_000.0] {
        let mut driver = driver_for(drain_idle);
        let post = b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd";
        for cut in [5, post.len() - 2] {
            let mut client = driver.client();
            send(&mut client, &post[..cut]);
            settle(&mut driver);
            driver.engine.close(driver.server);
            settle(&mut driver);
            send(&mut client, &post[cut..]);
            let reply = replies(&mut driver, client);
            assert!(reply.ends_with('!') && says_close(&reply) == 1, "{reply}");
            driver.event(kind::CLOSED);
            driver = driver_for(drain_idle);
        }
    }
}

#[test]
fn a_reply_begun_before_close_does_not_end_its_connection_in_silence() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    data(driver.engine.memory(), &request, b"begun", false);
    driver.engine.apply(&NoReferences);
    driver.engine.close(driver.server);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    let (received, ended) = driver.read(&mut client, ends_with("0\r\n\r\n"));
    assert!(!ended && says_close(&text(&received)) == 0);
    // Its client could not know, so the next request is answered, too.
    send(&mut client, GET);
    assert_eq!(says_close(&replies(&mut driver, client)), 1);
    driver.event(kind::CLOSED);
}

#[test]
fn a_reply_begun_before_close_ends_its_connection_once_idle_ones_are_closed() {
    let mut driver = driver_for(0.0);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    data(driver.engine.memory(), &request, b"begun", false);
    driver.engine.apply(&NoReferences);
    driver.engine.close(driver.server);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    let received = replies(&mut driver, client);
    assert!(received.ends_with("0\r\n\r\n"));
    driver.event(kind::CLOSED);
}

#[test]
fn a_reply_still_being_sent_at_close_ends_its_connection() {
    for drain_idle in [0.0, 5_000.0] {
        let mut driver = driver_for(drain_idle);
        let mut client = driver.client();
        send(&mut client, GET);
        let request = driver.request();
        let length = 16 << 20;
        reply_large(&mut driver, &request, length);
        driver.engine.close(driver.server);
        let (received, ended) = driver.read(&mut client, |received| received.len() > length);
        assert!(!ended && received.len() > length);
        if drain_idle > 0.0 {
            send(&mut client, GET);
        }
        replies(&mut driver, client);
        driver.event(kind::CLOSED);
    }
}

#[test]
fn a_discarded_body_does_not_keep_a_closing_server_open() {
    let mut driver = driver_for(0.0);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 10\r\n", b"");
    driver.reply(&request, 200, b"early");
    driver.read(&mut client, |received| received.ends_with(b"early"));
    driver.engine.close(driver.server);
    send(&mut client, &[b'.'; 10]);
    assert_eq!(replies(&mut driver, client), "");
    driver.event(kind::CLOSED);
}
