//! What is measured of the time: the generator is a process whose clock is real, and servers that take their time sleep.

use super::{assert_clean, count, number, output_of, run, run_until, run_watched, wait_until};
use crate::server::{Answer, Server, json_reply, reply};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn before_a_warm_up_each_connection_is_answered_once() {
    let (calls, replied) = (AtomicUsize::new(0), AtomicBool::new(false));
    let early = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&early);
    let server = Server::start(move |_| {
        match calls.fetch_add(1, Ordering::SeqCst) {
            0 => {
                std::thread::sleep(Duration::from_secs(2));
                replied.store(true, Ordering::SeqCst);
            }
            1 => {}
            _ if replied.load(Ordering::SeqCst) => {}
            _ => seen.store(true, Ordering::SeqCst),
        }
        json_reply("{}")
    });
    let spec = json!({ "connections": 2, "pipelining": 4, "warmupSeconds": 0.05, "seconds": 0.1 });
    let (result, stood_still) = run_watched(&server, spec);
    assert_clean(&result);
    assert!(
        !early.load(Ordering::SeqCst),
        "a second request came before each connection was answered"
    );
    // The reply that took 2 s is no part of the window.
    let slowest = number(&result, "maxMicroseconds") - stood_still.as_micros() as f64;
    assert!(slowest < 190_000.0, "{stood_still:?} {result}");
    assert!(count(&result, "totalReplies") > count(&result, "requests"));
}

#[test]
fn one_mute_connection_does_not_end_the_run() {
    let server = Server::start(|request| {
        // After the greeting, a reply takes longer than what is left of the patience since the last one.
        if request.number > 3 {
            std::thread::sleep(Duration::from_millis(100));
        }
        Answer {
            silent: request.connection == 1,
            ..json_reply("{}")
        }
    });
    let result = run(
        &server,
        json!({ "connections": 3, "warmupSeconds": 0.3, "maxRequests": 4, "seconds": 60, "timeoutSeconds": 3 }),
    );
    assert!(result.get("gaveUp").is_none(), "{result}");
    assert_eq!(count(&result, "ungreeted"), 1);
    assert!(count(&result, "requests") >= 4, "{result}");
}

#[test]
fn the_window_is_as_long_as_asked_and_little_s_law_holds() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(2));
        json_reply("{}")
    });
    let spec = json!({ "seconds": 0.5, "warmupSeconds": 0.1 });
    let (result, stood_still) = run_watched(&server, spec);
    assert_clean(&result);
    let seconds = number(&result, "seconds");
    let longest = 0.55 + stood_still.as_secs_f64();
    assert!((0.5..longest).contains(&seconds), "{seconds} {longest}");
    assert!(count(&result, "totalReplies") > count(&result, "requests"));
    let has_replies = count(&result, "requests") > 0;
    assert!(
        has_replies || stood_still.as_secs_f64() >= 0.9 * seconds,
        "{stood_still:?} {result}"
    );
    assert!(
        number(&result, "minMicroseconds") >= 2000.0 || !has_replies,
        "{result}"
    );
    let rate = number(&result, "requestsPerSecond");
    assert!((rate * seconds - count(&result, "requests") as f64).abs() < 0.01);
    // What was in flight is what was answered, but for those that were sent before the window or answered after it:
    // no more than one on each of the 4 connections at each end, of which none took longer than the slowest.
    let answered = count(&result, "requests") as f64 * number(&result, "meanMicroseconds");
    let in_flight = number(&result, "meanInFlight") * seconds * 1e6;
    let slowest = number(&result, "maxMicroseconds").max(number(&result, "oldestMicroseconds"));
    assert!(
        (in_flight - answered).abs() < 4.0 * slowest,
        "{in_flight} {answered} {slowest}"
    );
    let histogram = result["histogram"].as_array().unwrap();
    let total: u64 = histogram.iter().map(|cell| cell[1].as_u64().unwrap()).sum();
    assert_eq!(total, count(&result, "requests"));
}

#[test]
fn replies_within_the_limit_count_only_when_they_are_right() {
    let server = Server::start(|request| match request.number % 4 {
        0 => reply(503, "{}"),
        1 if request.number == 1 => {
            std::thread::sleep(Duration::from_secs(3));
            json_reply("{}")
        }
        2 => json_reply("[]"),
        _ => json_reply("{}"),
    });
    let result = run(
        &server,
        json!({ "connections": 1, "maxRequests": 16, "seconds": 20, "verifyEvery": 1, "limitSeconds": 2.5,
                "requests": [{ "path": "/", "expect": { "body": "{}" } }] }),
    );
    assert_eq!(
        (count(&result, "wrongStatus"), count(&result, "wrongBody")),
        (4, 4)
    );
    assert_eq!(count(&result, "withinLimit"), 7, "{result}");
}

/// Whether a connect to the port of 127.0.0.1 has begun and is not over; `/proc/net/tcp` has 02 for `SYN_SENT`.
#[cfg(target_os = "linux")]
fn is_connecting_to(port: u16) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    table.contains(&format!(" 0100007F:{port:04X} 02 "))
}

/// The kernel tries a connect again after a second when the accept queue was full.
#[test]
#[cfg(target_os = "linux")]
fn in_close_mode_the_connect_is_part_of_the_latency() {
    const READY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let answer = |mut stream: &TcpStream| {
            let count = stream.read(&mut [0; 1024]).unwrap_or(0);
            if count > 0 {
                stream.write_all(READY).unwrap();
            }
            count > 0
        };
        let (first, _) = listener.accept().unwrap();
        let quick = Duration::from_millis(50);
        let mut queue = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, quick) {
            queue.push(stream);
        }
        assert!(answer(&first));
        drop(first);
        wait_until(|| is_connecting_to(address.port()));
        drop(queue);
        // Those of the queue are closed; the one that comes late has a request.
        loop {
            let (stream, _) = listener.accept().unwrap();
            if answer(&stream) {
                return;
            }
        }
    });
    let output = output_of(
        &json!({ "address": address.to_string(), "connection": "close", "maxRequests": 2, "seconds": 20,
                 "requests": [{ "path": "/" }] }),
    );
    server.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let result: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(count(&result, "requests"), 2, "{result}");
    let slowest = number(&result, "maxMicroseconds");
    assert!((900_000.0..5_000_000.0).contains(&slowest), "{result}");
}

#[test]
fn a_server_that_does_not_close_is_found() {
    let server = Server::start(|_| json_reply("{}"));
    let result = run_until(
        &server,
        json!({ "connection": "close", "connections": 2 }),
        || server.connections() >= 4,
    );
    assert!(count(&result, "closeIgnored") >= 2, "{result}");
}

/// Answers each request when its head has come, and takes nothing of the body; `then` keeps the connection.
fn too_large(head: &'static str, then: impl Fn(&TcpStream) + Send + Sync + 'static) -> Server {
    Server::raw(move |mut stream, _| {
        if stream.peek(&mut [0]).is_ok() {
            let reply =
                format!("HTTP/1.1 413 Content Too Large\r\n{head}Content-Length: 0\r\n\r\n");
            let _ = stream.write_all(reply.as_bytes());
            then(stream);
        }
    })
}

#[test]
fn a_reply_before_the_end_of_its_request_does_not_block_the_connection() {
    let kept = Mutex::new(Vec::new());
    let server = too_large("", move |stream| {
        kept.lock().unwrap().push(stream.try_clone().unwrap());
    });
    // More than the kernel takes on both sides.
    let body = "x".repeat(12_000_000);
    let result = run(
        &server,
        json!({ "connections": 2, "maxRequests": 6, "seconds": 20,
                "requests": [{ "method": "POST", "path": "/", "body": body, "expect": { "status": 413 } }] }),
    );
    assert!(result.get("gaveUp").is_none(), "{result}");
    assert_eq!(
        (
            count(&result, "requests"),
            count(&result, "socketErrors.write"),
            count(&result, "socketErrors.timeout")
        ),
        (6, 6, 0)
    );
}

#[test]
fn the_rest_of_a_request_is_not_waited_for_when_the_end_is_announced() {
    let server = too_large("Connection: close\r\n", |mut stream| {
        // There is room to send again, and nothing to do for it.
        let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
        let _ = stream.read_to_end(&mut Vec::new());
        std::thread::sleep(Duration::from_millis(180));
    });
    let body = "x".repeat(12_000_000);
    let result = run(
        &server,
        json!({ "connections": 1, "maxRequests": 5, "seconds": 60,
                "requests": [{ "method": "POST", "path": "/", "body": body, "expect": { "status": 413 } }] }),
    );
    assert_eq!(count(&result, "requests"), 5, "{result}");
    assert!(
        number(&result, "generatorCpuSeconds") < 0.6 * number(&result, "seconds"),
        "{result}"
    );
}

#[test]
fn a_server_that_never_answers_ends_the_window_early() {
    let server = Server::start(|_| Answer {
        silent: true,
        ..json_reply("{}")
    });
    let result = run(&server, json!({ "seconds": 3600, "timeoutSeconds": 3 }));
    assert_eq!(result["gaveUp"], "no reply for 3 s");
    assert_eq!(
        (
            count(&result, "requests"),
            count(&result, "socketErrors.timeout")
        ),
        (0, 4)
    );
    assert_eq!(result["percentiles"]["50"], Value::Null);
    assert_eq!(result["percentiles"]["99.9"], Value::Null);
    let (result, stood_still) = run_watched(&server, json!({ "seconds": 0.3 }));
    assert_eq!(count(&result, "unfinished"), 4);
    let oldest = number(&result, "oldestMicroseconds");
    // Requests are sent a little before the window begins.
    let before = Duration::from_millis(5) + stood_still;
    let longest = 1e6 * number(&result, "seconds") + before.as_micros() as f64;
    assert!((290_000.0..=longest).contains(&oldest), "{result}");
}
