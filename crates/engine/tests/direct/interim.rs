//! Interim replies from the outside: their place before the reply, and what drops them.

use crate::driver::{
    Driver, allow, chunks, data, end, ends_with, finish, inform, limits, make, send, start, text,
    upload,
};
use engine::NoReferences;
use ring::layout::{kind, operation};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const HINT: &str = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";

fn hint(driver: &mut Driver, to: &crate::driver::Seen) {
    inform(driver.engine.memory(), to, b"link", b"</a>");
    driver.engine.apply(&NoReferences);
}

#[test]
fn sent_at_once_and_before_the_reply() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    for _ in 0..2 {
        hint(&mut driver, &request);
        let (received, _) = driver.read(&mut client, ends_with("\r\n\r\n"));
        assert_eq!(text(&received), HINT);
    }
    inform(driver.engine.memory(), &request, b"link", b"</a>");
    driver.reply(&request, 200, b"done");
    let (received, _) = driver.read(&mut client, ends_with("done"));
    assert!(text(&received).starts_with(&format!("{HINT}HTTP/1.1 200 OK\r\n")));
}

#[test]
fn one_behind_another_exchange_waits_for_its_turn() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &GET.repeat(3));
    let requests: Vec<_> = (0..3).map(|_| driver.request()).collect();
    hint(&mut driver, &requests[1]);
    hint(&mut driver, &requests[2]);
    driver.reply(&requests[2], 200, b"third");
    driver.reply(&requests[0], 200, b"first");
    let (received, _) = driver.read(&mut client, ends_with(HINT));
    let received = text(&received);
    assert!(received.ends_with(&format!("first{HINT}")), "{received}");
    assert_eq!(received.matches(" 103 ").count(), 1, "{received}");
    hint(&mut driver, &requests[1]);
    let (received, _) = driver.read(&mut client, ends_with(HINT));
    assert_eq!(text(&received), HINT);
    driver.reply(&requests[1], 200, b"second");
    let (received, _) = driver.read(&mut client, ends_with("third"));
    assert!(text(&received).contains(&format!("second{HINT}HTTP/1.1 200 OK\r\n")));
}

#[test]
fn dropped_after_the_reply_began_in_http_1_0_and_when_malformed() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let memory = driver.engine.memory();
    inform(memory, &request, b"link", b"a\r\nb: c");
    inform(memory, &request, b"content-length", b"3");
    memory.push_record(make(&request, operation::INFORM, 101), &[], &[]);
    memory.push_record(make(&request, operation::INFORM, 200), &[], &[]);
    start(memory, &request, None);
    inform(memory, &request, b"link", b"</a>");
    data(memory, &request, b"body", false);
    inform(memory, &request, b"link", b"</a>");
    finish(memory, &request);
    inform(memory, &request, b"link", b"</a>");
    driver.engine.apply(&NoReferences);
    let (received, _) = driver.read(&mut client, ends_with("0\r\n\r\n"));
    let received = text(&received);
    assert!(received.starts_with("HTTP/1.1 200 OK"), "{received}");
    assert!(!received.contains("link"), "{received}");
    assert!(
        received.ends_with("\r\n\r\n4\r\nbody\r\n0\r\n\r\n"),
        "{received}"
    );

    let mut old = driver.client();
    send(&mut old, b"GET /a HTTP/1.0\r\n\r\n");
    let request = driver.request();
    hint(&mut driver, &request);
    driver.reply(&request, 200, b"old");
    let (received, ended) = driver.read(&mut old, |_| false);
    assert!(ended && text(&received).starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn a_head_only_reply_has_them_too() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
    let request = driver.request();
    inform(driver.engine.memory(), &request, b"link", b"</a>");
    driver.reply(&request, 200, b"none");
    let (received, _) = driver.read(&mut client, ends_with("Content-Length: 4\r\n\r\n"));
    assert!(text(&received).starts_with(HINT));
}

#[test]
fn those_that_wait_are_bounded() {
    // 16,384 bytes: one below, at and above, where a field adds 4 to its name and value.
    let frame = "HTTP/1.1 103 Early Hints\r\n\r\n".len() + "link".len() + 4;
    for (length, sent) in [(16_383, 1), (16_384, 1), (16_385, 0)] {
        let mut driver = Driver::prompt(&limits());
        let mut client = driver.client();
        send(&mut client, &GET.repeat(2));
        let requests: Vec<_> = (0..2).map(|_| driver.request()).collect();
        for request in &requests {
            let value = vec![b'v'; length - frame];
            inform(driver.engine.memory(), request, b"link", &value);
            driver.reply(request, 200, b"done");
        }
        let (received, _) = driver.read(&mut client, |received| {
            text(received).matches("done").count() == 2
        });
        assert_eq!(
            text(&received).matches(" 103 ").count(),
            2 * sent,
            "{length}"
        );
    }

    let mut driver = Driver::prompt(&limits());
    let mut client = driver.client();
    send(&mut client, &GET.repeat(2));
    let requests: Vec<_> = (0..2).map(|_| driver.request()).collect();
    for _ in 0..1_000 {
        hint(&mut driver, &requests[1]);
    }
    driver.reply(&requests[0], 200, b"first");
    driver.reply(&requests[1], 200, b"second");
    let (received, _) = driver.read(&mut client, ends_with("second"));
    assert_eq!(
        text(&received).matches(" 103 ").count(),
        16_384 / HINT.len()
    );
}

#[test]
fn a_client_that_does_not_read_gets_no_more_of_them() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let value = vec![b'v'; 10_000];
    // 100 MB, of which the kernel takes a few.
    for _ in 0..10_000 {
        inform(driver.engine.memory(), &request, b"link", &value);
        driver.engine.apply(&NoReferences);
    }
    end(driver.engine.memory(), &request, 200, b"done");
    driver.engine.apply(&NoReferences);
    let (received, _) = driver.read(&mut client, ends_with("done"));
    assert!(received.len() < 50_000_000, "{} bytes", received.len());
    let received = text(&received);
    assert_eq!(received.matches("HTTP/1.1 200 OK").count(), 1);
    assert_eq!(
        received
            .matches("HTTP/1.1 103 Early Hints\r\nlink: v")
            .count(),
        received.matches("v\r\n\r\nHTTP/1.1 ").count(),
        "none is cut"
    );
}

#[test]
fn before_leave_to_send_a_body() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    );
    let request = driver.request();
    inform(driver.engine.memory(), &request, b"link", b"</a>");
    crate::driver::grant(driver.engine.memory(), &request, operation::READ, 100);
    driver.engine.apply(&NoReferences);
    inform(driver.engine.memory(), &request, b"link", b"</a>");
    driver.engine.apply(&NoReferences);
    let (received, _) = driver.read(&mut client, |received| {
        text(received).matches(" 103 ").count() == 2
    });
    let expected = format!("{HINT}HTTP/1.1 100 Continue\r\n\r\n{HINT}");
    assert_eq!(text(&received), expected);
    send(&mut client, b"hi");
    driver.until(|driver| chunks(driver) == b"hi");
    driver.event(kind::BODY_END);
    driver.reply(&request, 200, b"done");
    driver.read(&mut client, ends_with("done"));
}

#[test]
fn no_100_continue_goes_into_a_reply_that_has_begun() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let fields = "Content-Length: 5\r\nExpect: 100-continue\r\n";
    let request = upload(&mut driver, &mut client, fields, b"");
    start(driver.engine.memory(), &request, None);
    data(driver.engine.memory(), &request, b"begun", false);
    driver.engine.apply(&NoReferences);
    allow(&mut driver, &request, operation::READ, 1000);
    data(driver.engine.memory(), &request, b"and on", false);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    let (received, _) = driver.read(&mut client, |received| received.ends_with(b"0\r\n\r\n"));
    assert!(
        !text(&received).contains("100 Continue"),
        "{}",
        text(&received)
    );
}
