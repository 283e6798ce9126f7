//! One turn sends only a share of the output that waits, so that requests do not wait for it.

use crate::driver::{Driver, Seen, arrive, data, end, finish, limits, make, send, settle, start};
use engine::{NoReferences, References};
use ring::Memory;
use ring::layout::{kind, operation, record};
use std::net::TcpStream;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

struct One(Vec<u8>);

impl References for One {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        Some(&self.0)
    }
}

/// Plays a producer: it writes 1,000 bytes as soon as it may, then waits for the next drain.
fn pump(memory: &mut Memory, seen: &Seen) {
    match seen.kind() {
        kind::REQUEST if seen.path == "/a" => {
            start(memory, seen, None);
            data(memory, seen, &[b'd'; 1_000], true);
        }
        kind::REQUEST => end(memory, seen, 200, b"!"),
        kind::DRAIN => data(memory, seen, &[b'd'; 1_000], true),
        _ => {}
    }
}

#[test]
fn streams_that_may_go_on_take_turns_and_requests_come_before_them() {
    let mut driver = Driver::new(&limits());
    let mut single = driver.client();
    let mut readers: Vec<_> = (0..40).map(|_| driver.client()).collect();
    for client in &mut readers {
        send(client, GET);
    }
    while driver.engine.in_flight() < readers.len() {
        driver.turn_of(1, pump);
    }
    driver.seen.clear();
    let mut told = std::collections::HashMap::new();
    for slice in 0..50 {
        // It comes in the middle of a turn, too.
        if slice == 23 {
            send(&mut single, b"GET /p/single HTTP/1.1\r\nHost: x\r\n\r\n");
            arrive();
        }
        if slice % 10 == 0 {
            driver.engine.begin_turn();
        }
        driver.slice(pump);
        let seen: Vec<_> = driver.seen.drain(..).collect();
        let drains = seen
            .iter()
            .filter(|seen| seen.kind() == kind::DRAIN)
            .count();
        assert_eq!(drains, 8, "slice {slice}");
        for seen in &seen {
            *told.entry(seen.slot()).or_insert(0) += 1;
        }
        if slice == 23 {
            assert_eq!(seen[0].path, "/p/single", "before the streams of its slice");
        }
        for client in &mut readers {
            use std::io::Read;
            let _ = client.read(&mut [0; 16_384]);
        }
    }
    told.retain(|_, count| *count > 1);
    assert_eq!(told.len(), 40);
    assert!(told.values().all(|count| *count == 10), "{told:?}");
    driver.read(&mut single, |received| received.ends_with(b"!"));
}

#[test]
fn a_stream_goes_on_however_many_requests_come() {
    let mut driver = Driver::new(&limits());
    let mut reader = driver.client();
    let mut others: Vec<_> = (0..60).map(|_| driver.client()).collect();
    send(&mut reader, GET);
    driver.until(|driver| driver.engine.connection_count() == 61);
    driver.until(|driver| driver.engine.in_flight() == 1);
    let request = driver.request();
    pump(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    // Many times what a slice holds.
    for client in &mut others {
        send(client, &b"GET /p/x HTTP/1.1\r\nHost: x\r\n\r\n".repeat(16));
    }
    arrive();
    driver.engine.begin_turn();
    for slice in 0..4 {
        driver.seen.clear();
        driver.slice(pump);
        let drains = driver.seen.iter().filter(|seen| seen.kind() == kind::DRAIN);
        assert_eq!(drains.count(), 1, "slice {slice}");
        assert!(driver.seen.len() > 100, "slice {slice} is full of requests");
    }
}

/// Reads what the kernel has, until nothing more arrives; gives how much it was.
fn read_all(clients: &mut [TcpStream]) -> usize {
    use std::io::Read;
    let mut all = 0;
    let mut quiet = 0;
    // What is read makes room, by which the kernel sends more.
    while quiet < 10 {
        arrive();
        let before = all;
        for client in &mut *clients {
            while let Ok(count @ 1..) = client.read(&mut [0; 16_384]) {
                all += count;
            }
        }
        quiet = if all == before { quiet + 1 } else { 0 };
    }
    all
}

#[test]
fn a_request_waits_for_no_more_than_a_share_of_the_output_that_can_be_sent() {
    let mut driver = Driver::new(&limits());
    let mut single = driver.client();
    let length = 8 << 20;
    let mut readers: Vec<_> = (0..4).map(|_| driver.client()).collect();
    for client in &mut readers {
        send(client, GET);
        let request = driver.request();
        let mut words = make(&request, operation::END, 200);
        words.0[record::REFERENCE] = 1;
        words.0[record::BODY_LENGTH] = length as i32;
        driver.engine.memory().push_signal(words);
        driver.engine.apply(&One(vec![b'L'; length]));
    }
    // The clients read all that was sent, and nothing is sent meanwhile: every socket can take much more again.
    read_all(&mut readers);
    driver.engine.begin_turn();
    send(&mut single, b"GET /p/single HTTP/1.1\r\nHost: x\r\n\r\n");
    arrive();
    driver.slice(pump);
    assert_eq!(driver.seen.pop_front().unwrap().path, "/p/single");
    let sent = read_all(&mut readers);
    assert!((1..=786_432).contains(&sent), "{sent} bytes in one slice");
    assert!(driver.engine.has_work());
}

#[test]
fn streams_that_write_in_turns_wait_for_the_end_of_the_step() {
    let mut driver = Driver::new(&limits());
    let mut clients: Vec<_> = (0..3).map(|_| driver.client()).collect();
    let mut requests = Vec::new();
    for client in &mut clients {
        send(client, GET);
        requests.push(driver.request());
    }
    for request in &requests {
        start(driver.engine.memory(), request, None);
    }
    let rounds = |driver: &mut Driver, sizes: &[usize]| {
        for &size in sizes {
            for request in &requests {
                let part = vec![b'd'; size];
                data(driver.engine.memory(), request, &part, true);
            }
        }
        driver.engine.apply(&NoReferences);
    };
    // The heads were sent on the way, so all that follows goes out together, and the stream may go on once.
    rounds(&mut driver, &[10; 6]);
    settle(&mut driver);
    let drains = driver.seen.drain(..);
    assert_eq!(
        drains.filter(|seen| seen.kind() == kind::DRAIN).count(),
        requests.len()
    );
    // A large part finds the small ones before it sent.
    rounds(&mut driver, &[10, 20_000, 10, 20_000, 10]);
    for (client, request) in clients.iter_mut().zip(&requests) {
        finish(driver.engine.memory(), request);
        driver.engine.apply(&NoReferences);
        let (received, _) = driver.read(client, |received| received.ends_with(b"\r\n0\r\n\r\n"));
        let sizes: Vec<_> = crate::driver::text(&received)
            .lines()
            .skip_while(|line| !line.is_empty())
            .skip(1)
            .step_by(2)
            .map(|size| usize::from_str_radix(size, 16).unwrap())
            .collect();
        assert_eq!(
            sizes,
            [10, 10, 10, 10, 10, 10, 10, 20_000, 10, 20_000, 10, 0]
        );
    }
}
