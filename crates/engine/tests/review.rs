//! What a hostile reading of the connection machine found: each test names what went wrong before.

mod driver;

use driver::{Driver, Seen, data, end, finish, grant, limits, make, send, start};
use engine::{NoReferences, References};
use ring::Memory;
use ring::layout::{abort, kind, limit, operation, record, request};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Turns and sweeps for `ms` milliseconds.
fn idle(driver: &mut Driver, ms: u64) {
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(ms) {
        driver.turn(|_, _| {});
        driver.engine.sweep();
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn allow(driver: &mut Driver, to: &Seen, op: i32, amount: i32) {
    grant(driver.engine.memory(), to, op, amount);
    driver.engine.apply(&NoReferences);
}

fn upload(driver: &mut Driver, client: &mut TcpStream, fields: &str, body: &[u8]) -> Seen {
    let head = format!("POST /s HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
    send(client, &[head.as_bytes(), body].concat());
    driver.request()
}

struct One(Vec<u8>);

impl References for One {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        Some(&self.0)
    }
}

/// Replies with `length` bytes by reference: more than the socket's buffers take at once.
fn reply_large(driver: &mut Driver, to: &Seen, length: usize) {
    let mut words = make(to, operation::END, 200);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = length as i32;
    driver.engine.memory().push_signal(words);
    driver.engine.apply(&One(vec![b'L'; length]));
}

fn answer(memory: &mut Memory, seen: &Seen) {
    if seen.kind() == kind::REQUEST {
        end(memory, seen, 200, b"!");
    }
}

#[test]
fn a_handler_may_work_on_longer_than_its_streamed_body_took() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 100.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 5\r\n", b"whole");
    allow(&mut driver, &request, operation::READ, 1000);
    driver.event(kind::BODY_END);
    idle(&mut driver, 250);
    assert!(driver.seen.is_empty(), "{:?}", driver.seen);
    driver.reply(&request, 200, b"late but whole");
    driver.read(&mut client, |received| {
        received.ends_with(b"late but whole")
    });
}

#[test]
fn credit_does_not_buy_a_dripping_client_time() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 200.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 1000\r\n", b"");
    allow(&mut driver, &request, operation::READ, 100);
    for _ in 0..50 {
        use std::io::Write;
        let _ = client.write(b".");
        idle(&mut driver, 20);
        allow(&mut driver, &request, operation::CREDIT, 1);
    }
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::UPLOAD);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && text(&received).starts_with("HTTP/1.1 408 "));
    assert!(text(&received).contains("Connection: close"));
}

#[test]
fn a_body_too_slow_for_a_reply_that_has_begun_resets_it() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 100.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 9\r\n", b"");
    start(driver.engine.memory(), &request, None);
    allow(&mut driver, &request, operation::READ, 100);
    driver.until(|driver| {
        driver.engine.sweep();
        driver.seen.iter().any(|seen| seen.kind() == kind::ABORT)
    });
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::UPLOAD);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && !text(&received).contains("408"));
}

#[test]
fn a_client_is_not_blamed_for_the_time_its_handler_took() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 150.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(
        &mut driver,
        &mut client,
        "Content-Length: 40\r\n",
        &[b'.'; 20],
    );
    idle(&mut driver, 250);
    allow(&mut driver, &request, operation::READ, 10);
    idle(&mut driver, 250);
    allow(&mut driver, &request, operation::CREDIT, 100);
    idle(&mut driver, 50);
    send(&mut client, &[b'.'; 20]);
    driver.event(kind::BODY_END);
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

#[test]
fn a_refused_head_request_has_no_content_even_when_it_waits_its_turn() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &[GET, b"HEAD /a HTTP/1.1\r\n\r\n"].concat());
    let first = driver.request();
    driver.reply(&first, 200, b"one");
    let (received, ended) = driver.read(&mut client, |_| false);
    let received = text(&received);
    assert!(ended && received.contains("HTTP/1.1 400 "), "{received}");
    assert!(received.ends_with("\r\n\r\n"), "{received}");
}

#[test]
fn a_body_that_is_all_there_is_read_although_its_client_half_closed() {
    for size in [5_000, 99_000] {
        let mut driver = Driver::new(&limits());
        let mut client = driver.client();
        let fields = format!("Content-Length: {size}\r\n");
        let request = upload(&mut driver, &mut client, &fields, &vec![b'.'; size]);
        client.shutdown(Shutdown::Write).unwrap();
        idle(&mut driver, 30);
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
    idle(&mut driver, 30);
    allow(&mut driver, &request, operation::READ, 10_000);
    assert_eq!(driver.event(kind::CHUNK).body.len(), 500);
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
    idle(&mut driver, 30);
    send(&mut client, &GET.repeat(1_000));
    idle(&mut driver, 30);
    client.shutdown(Shutdown::Write).unwrap();
    idle(&mut driver, 30);
    for seen in std::mem::take(&mut driver.seen) {
        answer(driver.engine.memory(), &seen);
    }
    driver.reply(&held, 200, b"!");
    let deadline = Instant::now() + Duration::from_secs(10);
    while !ended && Instant::now() < deadline {
        use std::io::Read;
        driver.turn(answer);
        let mut buffer = vec![0; 65_536];
        match client.read(&mut buffer) {
            Ok(0) => ended = true,
            Ok(length) => received.extend_from_slice(&buffer[..length]),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock, "{error}"),
        }
    }
    assert!(ended);
    assert_eq!(text(&received).matches("HTTP/1.1 200").count(), 3_401);
}

#[test]
fn the_keep_alive_time_begins_when_the_reply_is_sent() {
    let mut values = limits();
    values[limit::KEEP_ALIVE_TIMEOUT] = 100.0;
    values[limit::HEADERS_TIMEOUT] = 100.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let length = 16 << 20;
    reply_large(&mut driver, &request, length);
    // Waits for the reply before it; that is no slow head.
    send(&mut client, GET);
    idle(&mut driver, 300);
    let (received, ended) = driver.read(&mut client, |received| received.len() > length);
    assert!(
        !ended && received.len() > length,
        "{} bytes",
        received.len()
    );
    let next = driver.request();
    driver.reply(&next, 200, b"next");
    driver.read(&mut client, |received| received.ends_with(b"next"));
    let idled = Instant::now();
    driver.until(|driver| {
        driver.engine.sweep();
        driver.engine.connection_count() == 0
    });
    assert!(idled.elapsed() < Duration::from_secs(1));
}

#[test]
fn an_unreferenced_server_keeps_the_process_until_its_output_is_sent() {
    let mut driver = Driver::new(&limits());
    driver.engine.set_referenced(driver.server, false);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    assert!(driver.engine.keeps_alive());
    let length = 16 << 20;
    reply_large(&mut driver, &request, length);
    assert_eq!(driver.engine.in_flight(), 0);
    assert!(driver.engine.keeps_alive());
    driver.read(&mut client, |received| received.len() > length);
    driver.until(|driver| !driver.engine.keeps_alive());
    // A client that leaves in the middle is let go as well.
    send(&mut client, GET);
    let request = driver.request();
    reply_large(&mut driver, &request, length);
    assert!(driver.engine.keeps_alive());
    drop(client);
    driver.until(|driver| !driver.engine.keeps_alive());
}

#[test]
fn a_reply_begun_before_close_ends_its_connection() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    data(driver.engine.memory(), &request, b"begun", false);
    driver.engine.apply(&NoReferences);
    driver.engine.close(driver.server);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    driver.event(kind::CLOSED);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && received.ends_with(b"0\r\n\r\n"));
}

#[test]
fn a_reply_still_being_sent_at_close_ends_its_connection() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let length = 16 << 20;
    reply_large(&mut driver, &request, length);
    driver.engine.close(driver.server);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && received.len() > length);
    driver.event(kind::CLOSED);
}

#[test]
fn a_discarded_body_does_not_keep_a_closing_server_open() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 10\r\n", b"");
    driver.reply(&request, 200, b"early");
    driver.read(&mut client, |received| received.ends_with(b"early"));
    driver.engine.close(driver.server);
    send(&mut client, &[b'.'; 10]);
    driver.event(kind::CLOSED);
}

#[test]
fn a_closing_server_does_not_listen_again() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    driver.request();
    driver.engine.close(driver.server);
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    assert!(
        driver
            .engine
            .listen_tcp(driver.server, any, 1, false, false)
            .is_err()
    );
}

#[test]
fn a_head_larger_than_the_held_input_is_read_on() {
    let mut values = limits();
    values[limit::MAX_HEADER_SIZE] = 131_072.0;
    values[limit::MAX_HEADER_LINE] = 131_072.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n.",
    );
    let first = driver.request();
    let large = format!(
        "GET /a HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n",
        "v".repeat(90_000)
    );
    send(&mut client, &large.as_bytes()[..70_000]);
    idle(&mut driver, 20);
    driver.reply(&first, 200, b"1");
    idle(&mut driver, 20);
    send(&mut client, &large.as_bytes()[70_000..]);
    let second = driver.request();
    driver.reply(&second, 200, b"second");
    driver.read(&mut client, |received| received.ends_with(b"second"));
}

#[test]
fn a_flood_of_pipelined_requests_does_not_starve_a_single_one() {
    let mut driver = Driver::new(&limits());
    let mut single = driver.client();
    let mut flood: Vec<_> = (0..16).map(|_| driver.client()).collect();
    driver.until(|driver| driver.engine.connection_count() == 17);
    for client in &mut flood {
        send(client, &GET.repeat(2_000));
    }
    std::thread::sleep(Duration::from_millis(20));
    let read = |memory: &mut Memory, seen: &Seen| {
        answer(memory, seen);
        for client in &mut flood {
            use std::io::Read;
            let _ = client.read(&mut [0; 4_096]);
        }
    };
    let mut read = read;
    driver.turn_of(4, &mut read);
    send(&mut single, b"GET /p/single HTTP/1.1\r\nHost: x\r\n\r\n");
    driver.seen.clear();
    while driver.seen.iter().all(|seen| seen.path != "/p/single") {
        driver.turn_of(4, &mut read);
    }
    // The flood has some 30,000 requests to go.
    let place = driver.seen.len();
    assert!(place < 2_000, "{place}");
}
