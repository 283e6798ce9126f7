//! The generator against small servers, right and wrong ones. Long, since each way of being wrong has its test.

#![forbid(unsafe_code)]

mod server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use server::{Answer, Server, json_reply, reply};

fn load(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_load"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs `spec` and gives its result; the keys a test does not care about are filled in.
fn run(server: &Server, spec: Value) -> Value {
    let output = output(server, spec);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<_> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["connected", "warm", "measured", "result"]);
    lines[3].clone()
}

fn output(server: &Server, spec: Value) -> Output {
    let mut whole = json!({
        "address": server.address.to_string(),
        "connections": 4,
        "seconds": 0.3,
        "requests": [{ "path": "/" }],
    });
    let Value::Object(keys) = spec else {
        panic!("{spec}")
    };
    whole.as_object_mut().unwrap().extend(keys);
    output_of(&whole)
}

fn output_of(spec: &Value) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_load"))
        .args(["--spec", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that is wrong may be refused before it is read to its end.
    let line = format!("{spec}\n");
    let _ = child.stdin.take().unwrap().write_all(line.as_bytes());
    child.wait_with_output().unwrap()
}

fn count(result: &Value, key: &str) -> u64 {
    let value = key.split('.').fold(result, |value, key| &value[key]);
    value.as_u64().unwrap_or_else(|| panic!("{key}: {result}"))
}

fn number(result: &Value, key: &str) -> f64 {
    result[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {result}"))
}

/// Everything that says that something was wrong is 0.
fn assert_clean(result: &Value) {
    for key in [
        "wrongStatus",
        "wrongLength",
        "wrongBody",
        "wrongNonce",
        "malformed",
        "aborted",
        "closeIgnored",
        "ungreeted",
    ] {
        assert_eq!(count(result, key), 0, "{key}: {result}");
    }
    for key in ["connect", "read", "write", "timeout"] {
        assert_eq!(
            count(result, &format!("socketErrors.{key}")),
            0,
            "{key}: {result}"
        );
    }
    assert_eq!(result["firstFault"], Value::Null);
    assert!(result.get("gaveUp").is_none());
}

#[test]
fn a_count_of_requests_is_sent_and_answered_exactly() {
    let server = Server::start(|_| json_reply("{\"a\":1}"));
    for (connections, pipelining) in [(1, 1), (3, 1), (4, 10)] {
        let before = server.requests();
        let result = run(
            &server,
            json!({ "connections": connections, "pipelining": pipelining, "maxRequests": 500, "seconds": 20, "verifyEvery": 1,
                    "requests": [{ "path": "/", "expect": { "status": 200, "body": "{\"a\":1}", "length": 7 } }] }),
        );
        assert_clean(&result);
        assert_eq!(count(&result, "requests"), 500);
        assert_eq!(count(&result, "verified"), 500);
        assert_eq!(count(&result, "unfinished"), 0);
        assert_eq!(result["status"], json!({ "200": 500 }));
        assert_eq!(result["withinLimit"], Value::Null);
        assert_eq!(result["oldestMicroseconds"], json!(0.0));
        assert_eq!(server.requests() - before, 500);
        assert!(number(&result, "seconds") < 10.0);
        assert_eq!(
            result["perRequest"],
            json!([{ "index": 0, "requests": 500 }])
        );
    }
}

#[test]
fn before_a_warm_up_each_connection_is_answered_once() {
    let (calls, replied) = (AtomicUsize::new(0), AtomicBool::new(false));
    let early = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&early);
    let server = Server::start(move |_| {
        match calls.fetch_add(1, Ordering::SeqCst) {
            0 => {
                std::thread::sleep(Duration::from_millis(200));
                replied.store(true, Ordering::SeqCst);
            }
            1 => {}
            _ if replied.load(Ordering::SeqCst) => {}
            _ => seen.store(true, Ordering::SeqCst),
        }
        json_reply("{}")
    });
    let spec = json!({ "connections": 2, "pipelining": 4, "warmupSeconds": 0.05, "seconds": 0.1 });
    let result = run(&server, spec);
    assert_clean(&result);
    assert!(
        !early.load(Ordering::SeqCst),
        "a second request came before each connection was answered"
    );
    assert!(number(&result, "maxMicroseconds") < 190_000.0, "{result}");
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
        json!({ "connections": 3, "warmupSeconds": 0.3, "seconds": 0.5, "timeoutSeconds": 0.3 }),
    );
    assert!(result.get("gaveUp").is_none(), "{result}");
    assert_eq!(count(&result, "ungreeted"), 1);
    assert!(count(&result, "requests") >= 2, "{result}");
}

#[test]
fn the_window_is_as_long_as_asked_and_little_s_law_holds() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(2));
        json_reply("{}")
    });
    let result = run(&server, json!({ "seconds": 0.5, "warmupSeconds": 0.1 }));
    assert_clean(&result);
    let seconds = number(&result, "seconds");
    assert!((0.5..1.0).contains(&seconds), "{seconds}");
    assert!(count(&result, "totalReplies") > count(&result, "requests"));
    assert!(number(&result, "minMicroseconds") >= 2000.0);
    let rate = number(&result, "requestsPerSecond");
    assert!((rate * seconds - count(&result, "requests") as f64).abs() < 0.01);
    let expected = rate * number(&result, "meanMicroseconds") / 1e6;
    let in_flight = number(&result, "meanInFlight");
    assert!(
        (in_flight / expected - 1.0).abs() < 0.05,
        "{in_flight} {expected}"
    );
    let histogram = result["histogram"].as_array().unwrap();
    let total: u64 = histogram.iter().map(|cell| cell[1].as_u64().unwrap()).sum();
    assert_eq!(total, count(&result, "requests"));
}

#[test]
fn a_server_that_limits_is_found() {
    let server = Server::start(|request| {
        if request.number % 4 == 0 {
            reply(429, "slow down")
        } else {
            json_reply("{}")
        }
    });
    let result = run(
        &server,
        json!({ "connections": 1, "maxRequests": 400, "seconds": 20 }),
    );
    assert_eq!(count(&result, "wrongStatus"), 100);
    assert_eq!(result["status"], json!({ "200": 300, "429": 100 }));
    assert_eq!(
        result["firstFault"],
        "GET /: expected status 200 to 299, got 429"
    );
}

#[test]
fn a_fixed_body_where_a_nonce_was_asked_is_found() {
    let echo = Server::start(|request| json_reply(&format!("{{\"path\":\"{}\"}}", request.path)));
    let fixed = Server::start(|_| json_reply("{\"path\":\"/nonce/0000000000000000\"}"));
    let spec = json!({ "maxRequests": 300, "seconds": 20, "verifyEvery": 10,
        "requests": [{ "path": "/nonce/{nonce}", "expect": { "contains": "/nonce/{nonce}", "length": 34 } }] });
    let result = run(&echo, spec.clone());
    assert_clean(&result);
    assert!((15..60).contains(&count(&result, "verified")), "{result}");
    let result = run(&fixed, spec);
    assert_eq!(count(&result, "wrongNonce"), count(&result, "verified"));
    assert!(count(&result, "wrongNonce") >= 15);
    assert!(
        result["firstFault"]
            .as_str()
            .unwrap()
            .starts_with("GET /nonce/{nonce}: expected a body that contains")
    );
}

#[test]
fn a_nonce_swapped_between_two_pipelined_replies_is_found() {
    let first = Mutex::new(None);
    let server = Server::start(move |request| {
        let mut first = first.lock().unwrap();
        match first.take() {
            None => {
                *first = Some(request.path.clone());
                Answer {
                    silent: true,
                    ..Answer::default()
                }
            }
            Some(first) => {
                Answer::raw(&(json_reply(&request.path).bytes + &json_reply(&first).bytes))
            }
        }
    });
    let result = run(
        &server,
        json!({ "connections": 1, "pipelining": 2, "maxRequests": 20, "seconds": 20, "verifyEvery": 1,
                "requests": [{ "path": "/{nonce}", "expect": { "contains": "/{nonce}" } }] }),
    );
    assert_eq!(
        (count(&result, "requests"), count(&result, "wrongNonce")),
        (20, 20)
    );
}

#[test]
fn replies_within_the_limit_count_only_when_they_are_right() {
    let server = Server::start(|request| match request.number % 4 {
        0 => reply(503, "{}"),
        1 => {
            std::thread::sleep(Duration::from_millis(300));
            json_reply("{}")
        }
        2 => json_reply("[]"),
        _ => json_reply("{}"),
    });
    let result = run(
        &server,
        json!({ "connections": 1, "maxRequests": 16, "seconds": 20, "verifyEvery": 1, "limitSeconds": 0.25,
                "requests": [{ "path": "/", "expect": { "body": "{}" } }] }),
    );
    assert_eq!(
        (count(&result, "wrongStatus"), count(&result, "wrongBody")),
        (4, 4)
    );
    assert_eq!(count(&result, "withinLimit"), 4, "{result}");
}

#[test]
fn placeholders_reach_the_server_and_are_expected_back() {
    let server = Server::start(|request| {
        json_reply(&format!(
            "{} {} {}",
            request.path,
            request.header("x-n"),
            request.body
        ))
    });
    let result = run(
        &server,
        json!({ "maxRequests": 200, "seconds": 20, "verifyEvery": 1, "requests": [{
            "method": "POST", "path": "/{1..9}/{10..99}", "headers": { "x-n": "{#2}" },
            "body": "{\"n\":\"{nonce}\",\"u\":{unique},\"r\":{7..7}}",
            "expect": { "body": "/{#1}/{#2} {#2} {\"n\":\"{nonce}\",\"u\":{unique},\"r\":{#3}}" } }] }),
    );
    assert_clean(&result);
    assert_eq!(count(&result, "verified"), 200);
}

#[test]
fn what_a_request_needs_is_added_once() {
    let server = Server::start(|request| {
        let field = |name| format!("{name}={} ", request.header(name));
        json_reply(
            &["host", "content-length", "connection", "x-b", "x-a"]
                .map(field)
                .concat(),
        )
    });
    let host = server.address.to_string();
    for (request, expected) in [
        (
            json!({ "path": "/" }),
            format!("host={host} content-length= connection= x-b= x-a= "),
        ),
        (
            json!({ "path": "/", "method": "POST", "headers": { "x-b": " 1 ", "x-a": "{{2" } }),
            format!("host={host} content-length=0 connection= x-b=1 x-a={{2 "),
        ),
        (
            json!({ "path": "/", "method": "PUT", "headers": { "Host": "example.org" }, "body": "{unique}{{" }),
            "host=example.org content-length=17 connection= x-b= x-a= ".to_string(),
        ),
    ] {
        let mut request = request;
        request["expect"] = json!({ "body": expected.replace('{', "{{") });
        let result = run(
            &server,
            json!({ "maxRequests": 20, "seconds": 20, "verifyEvery": 1, "requests": [request] }),
        );
        assert_clean(&result);
        assert_eq!(count(&result, "verified"), 20);
    }
}

#[test]
fn wrong_bytes_and_wrong_lengths_are_told_apart() {
    let server = Server::start(|_| json_reply("{\"a\":2}"));
    let expect = |expect: Value| json!({ "maxRequests": 20, "seconds": 20, "verifyEvery": 1, "requests": [{ "path": "/", "expect": expect }] });
    let result = run(&server, expect(json!({ "body": "{\"a\":1}" })));
    assert_eq!(
        (count(&result, "wrongBody"), count(&result, "wrongLength")),
        (20, 0)
    );
    let result = run(&server, expect(json!({ "body": "{\"a\":10}" })));
    assert_eq!(
        (count(&result, "wrongBody"), count(&result, "wrongLength")),
        (0, 20)
    );
    let result = run(&server, expect(json!({ "length": 8 })));
    assert_eq!(count(&result, "wrongLength"), 20);
    // Not known before the request is, so that there is no length to compare.
    let longer = Server::start(|request| json_reply(&format!("{}x", request.path)));
    let result = run(
        &longer,
        json!({ "maxRequests": 20, "seconds": 20, "verifyEvery": 1,
                "requests": [{ "path": "/{nonce}", "expect": { "body": "/{nonce}" } }] }),
    );
    assert_eq!(count(&result, "wrongBody"), 20);
    let bare = Server::start(|_| Answer::raw("HTTP/1.1 200 OK\r\n\r\n"));
    let result = run(
        &bare,
        json!({ "maxRequests": 20, "seconds": 20, "requests": [{ "method": "HEAD", "path": "/", "expect": { "length": 9 } }] }),
    );
    assert_eq!(count(&result, "wrongLength"), 20);
    assert_eq!(
        result["firstFault"],
        "HEAD /: expected a Content-Length of 9, got none"
    );
}

#[test]
fn a_mix_keeps_its_weights_and_a_rotation_its_order() {
    let server = Server::start(|_| json_reply("{}"));
    let requests = json!([{ "weight": 60, "path": "/a" }, { "weight": 30, "path": "/b" }, { "weight": 10, "path": "/c" }]);
    let result = run(
        &server,
        json!({ "maxRequests": 3000, "seconds": 20, "requests": requests }),
    );
    assert_clean(&result);
    let share = |index: usize| result["perRequest"][index]["requests"].as_f64().unwrap() / 3000.0;
    assert!(
        (share(0) - 0.6).abs() < 0.05
            && (share(1) - 0.3).abs() < 0.05
            && (share(2) - 0.1).abs() < 0.05,
        "{result}"
    );
    let result = run(
        &server,
        json!({ "maxRequests": 300, "seconds": 20, "order": "rotate", "requests": requests }),
    );
    let counts: Vec<_> = (0..3)
        .map(|index| result["perRequest"][index]["requests"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [100, 100, 100]);
}

#[test]
fn each_request_has_a_connection_of_its_own_in_close_mode() {
    let server = Server::start(|request| {
        assert_eq!(request.header("connection"), "close");
        Answer {
            close: true,
            ..json_reply("{}")
        }
    });
    let result = run(
        &server,
        json!({ "connection": "close", "maxRequests": 200, "seconds": 20 }),
    );
    assert_clean(&result);
    assert_eq!(
        (count(&result, "requests"), count(&result, "reconnects")),
        (200, 0)
    );
    assert!(server.connections() >= 200);
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
        std::thread::sleep(Duration::from_millis(200));
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
    let result = run(
        &server,
        json!({ "connection": "close", "connections": 2, "seconds": 4 }),
    );
    assert!(count(&result, "closeIgnored") >= 2, "{result}");
}

#[test]
fn announced_ends_cost_no_request() {
    let server = Server::start(|request| Answer {
        close: request.number % 10 == 0,
        ..json_reply("{}")
    });
    for pipelining in [1, 4] {
        let result = run(
            &server,
            json!({ "maxRequests": 300, "seconds": 20, "pipelining": pipelining }),
        );
        assert_clean(&result);
        assert_eq!(count(&result, "requests"), 300);
        assert!(count(&result, "reconnects") >= 25, "{result}");
    }
}

#[test]
fn bodies_of_every_framing_are_read() {
    let pieces = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n5;x=1\r\npedia\r\n0\r\nA: b\r\n\r\n";
    let expect = json!({ "body": "wikipedia" });
    let get = json!([{ "path": "/", "expect": expect }]);
    let spec = |requests: &Value| json!({ "maxRequests": 20, "seconds": 20, "verifyEvery": 1, "requests": requests });
    let chunked = Server::start(|_| Answer::raw(pieces));
    let slowly = Server::start(|_| Answer {
        byte_by_byte: true,
        ..Answer::raw(pieces)
    });
    let ended = Server::start(|_| Answer {
        close: true,
        ..Answer::raw("HTTP/1.1 200 OK\r\n\r\nwikipedia")
    });
    for server in [&chunked, &slowly, &ended] {
        let result = run(server, spec(&get));
        assert_clean(&result);
        assert_eq!(count(&result, "verified"), 20, "{result}");
    }
    let head = Server::start(|_| Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"));
    assert_clean(&run(
        &head,
        spec(&json!([{ "method": "HEAD", "path": "/", "expect": { "length": 9 } }])),
    ));
    let bare = Server::start(|_| Answer::raw("HTTP/1.1 200 OK\r\n\r\n"));
    let result = run(&bare, spec(&json!([{ "method": "HEAD", "path": "/" }])));
    assert_clean(&result);
    assert_eq!(count(&result, "reconnects"), 0);
    let none = Server::start(|_| Answer::raw("HTTP/1.1 204 No Content\r\n\r\n"));
    assert_clean(&run(
        &none,
        spec(&json!([{ "method": "DELETE", "path": "/", "expect": { "status": 204 } }])),
    ));
}

#[test]
fn a_reset_does_not_complete_a_body() {
    let server = Server::raw(|mut stream, _| {
        // What is not read turns the close into a reset.
        if stream.peek(&mut [0]).is_ok() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nwiki");
        }
    });
    let result = run(&server, json!({}));
    assert!(count(&result, "socketErrors.read") >= 4, "{result}");
    assert_eq!(count(&result, "requests"), 0);
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
            count(&result, "socketErrors.write")
        ),
        (6, 6)
    );
    assert!(number(&result, "seconds") < 4.0, "{result}");
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
        json!({ "connections": 1, "seconds": 1,
                "requests": [{ "method": "POST", "path": "/", "body": body, "expect": { "status": 413 } }] }),
    );
    assert!(count(&result, "requests") >= 1, "{result}");
    assert!(
        number(&result, "generatorCpuSeconds") < 0.6 * number(&result, "seconds"),
        "{result}"
    );
}

#[test]
fn what_is_no_http_is_malformed() {
    let server = Server::start(|_| Answer::raw("SMTP ready\r\n\r\n"));
    let result = run(&server, json!({}));
    assert!(count(&result, "malformed") > 0);
    assert_eq!(count(&result, "requests"), 0);
    assert!(
        result["firstFault"]
            .as_str()
            .unwrap()
            .contains("SMTP ready")
    );
    let server = Server::start(|_| Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore"));
    assert!(count(&run(&server, json!({})), "malformed") > 0);
}

/// A server of one thread that stands still for 200 ms once, 300 ms after its first request.
fn stalling() -> Server {
    let stall = Mutex::new((None::<Instant>, false));
    Server::start(move |_| {
        let mut stall = stall.lock().unwrap();
        let begun = *stall.0.get_or_insert_with(Instant::now);
        if !stall.1 && begun.elapsed() > Duration::from_millis(300) {
            stall.1 = true;
            // The lock is held: nobody is answered meanwhile.
            std::thread::sleep(Duration::from_millis(200));
        }
        json_reply("{}")
    })
}

/// How many latencies are above `microseconds`, and of how many.
fn above(result: &Value, microseconds: f64) -> (u64, u64) {
    let cells = result["histogram"].as_array().unwrap().iter();
    cells.fold((0, 0), |(above, all), cell| {
        let count = cell[1].as_u64().unwrap();
        let slow = cell[0].as_f64().unwrap() >= microseconds;
        (above + if slow { count } else { 0 }, all + count)
    })
}

#[test]
fn a_stall_shows_in_an_open_loop_as_it_must_and_hides_in_a_closed_one() {
    let result = run(
        &stalling(),
        json!({ "rate": 1000, "seconds": 1, "connections": 8 }),
    );
    assert_clean(&result);
    let slowest = result["percentiles"]["99.9"].as_f64().unwrap();
    assert!(
        slowest >= 190_000.0 && number(&result, "maxMicroseconds") >= 199_000.0,
        "{slowest}"
    );
    // Of 200 requests that were due while it stood still, the first 100 waited 100 ms and more.
    let (slow, all) = above(&result, 100_000.0);
    assert!((85..400).contains(&slow), "{slow} of {all}");
    assert!(
        count(&result, "longestQueue") >= 150 && count(&result, "lateSends") >= 150,
        "{result}"
    );
    assert!(number(&result, "stalledMicroseconds") >= 190_000.0);

    let result = run(&stalling(), json!({ "seconds": 1, "connections": 8 }));
    assert_clean(&result);
    let (slow, all) = above(&result, 100_000.0);
    assert!((1..=40).contains(&slow) && all > 500, "{slow} of {all}");
    assert!(result["percentiles"]["50"].as_f64().unwrap() < 100_000.0);
}

#[test]
fn an_overloaded_server_cannot_look_good() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(10));
        json_reply("{}")
    });
    let result = run(
        &server,
        json!({ "rate": 2000, "seconds": 0.5, "connections": 1, "limitSeconds": 0.1 }),
    );
    // From when they were due: the k-th waits for about k times 9.5 ms.
    assert!(
        (1..=11).contains(&count(&result, "withinLimit")),
        "{result}"
    );
    let (requests, unfinished) = (count(&result, "requests"), count(&result, "unfinished"));
    assert!((5..=60).contains(&requests), "{requests}");
    let due = 2000.0 * number(&result, "seconds");
    // 20 ms: the process may have to wait between the start of the schedule and that of the window.
    assert!(
        ((requests + unfinished) as f64 - due).abs() <= 40.0,
        "{result}"
    );
    assert_eq!(above(&result, 0.0).1, requests + unfinished);
    assert!(
        result["percentiles"]["50"].as_f64().unwrap() > 150_000.0,
        "{result}"
    );
}

#[test]
fn lost_requests_do_not_look_quick_in_an_open_loop() {
    let server = Server::start(|request| Answer {
        hang_up: request.connection % 2 == 0,
        ..json_reply("{}")
    });
    let result = run(
        &server,
        json!({ "rate": 500, "seconds": 0.5, "timeoutSeconds": 0.3 }),
    );
    let lost = count(&result, "socketErrors.read") + count(&result, "socketErrors.timeout");
    assert!(count(&result, "socketErrors.read") >= 2, "{result}");
    assert!(
        result["percentiles"]["99.9"].as_f64().unwrap() >= 300_000.0,
        "{result}"
    );
    // The coarse cell of 300 ms begins at 293 ms.
    let (slow, all) = above(&result, 290_000.0);
    assert!(slow >= lost, "{slow} {result}");
    assert_eq!(
        all,
        count(&result, "requests") + count(&result, "unfinished") + lost
    );
    let server = Server::start(|_| Answer::raw("SMTP ready\r\n\r\n"));
    let result = run(
        &server,
        json!({ "rate": 100, "seconds": 0.2, "timeoutSeconds": 0.3 }),
    );
    let malformed = count(&result, "malformed");
    assert!(
        malformed > 0 && above(&result, 290_000.0).0 >= malformed,
        "{result}"
    );
}

#[test]
fn an_open_loop_does_not_count_what_it_holds_back_itself() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(10));
        json_reply("{}")
    });
    let result = run(
        &server,
        json!({ "rate": 2000, "seconds": 20, "connections": 1, "maxRequests": 20 }),
    );
    assert_clean(&result);
    assert_eq!(
        (count(&result, "requests"), count(&result, "unfinished")),
        (20, 0)
    );
    assert_eq!(above(&result, 0.0).1, 20);
    assert!(
        (1..20).contains(&count(&result, "longestQueue")),
        "{result}"
    );
}

#[test]
fn an_open_loop_keeps_its_rate() {
    let server = Server::start(|_| json_reply("{}"));
    let result = run(&server, json!({ "rate": 500, "seconds": 1 }));
    assert_clean(&result);
    let due = 500.0 * number(&result, "seconds");
    let taken = count(&result, "requests") + count(&result, "unfinished");
    assert!((taken as f64 - due).abs() <= 10.0, "{result}");
    assert!(count(&result, "requests") >= 300, "{result}");
}

#[test]
fn a_server_that_never_answers_ends_the_window_early() {
    let server = Server::start(|_| Answer {
        silent: true,
        ..json_reply("{}")
    });
    let begun = Instant::now();
    let result = run(&server, json!({ "seconds": 60, "timeoutSeconds": 0.3 }));
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(result["gaveUp"], "no reply for 0.3 s");
    assert_eq!(
        (
            count(&result, "requests"),
            count(&result, "socketErrors.timeout")
        ),
        (0, 4)
    );
    assert_eq!(result["percentiles"]["50"], Value::Null);
    assert_eq!(result["percentiles"]["99.9"], Value::Null);
    let result = run(&server, json!({ "seconds": 0.3 }));
    assert_eq!(count(&result, "unfinished"), 4);
    let oldest = number(&result, "oldestMicroseconds");
    assert!(
        oldest >= 290_000.0 && oldest <= 1e6 * number(&result, "seconds") + 1000.0,
        "{result}"
    );
}

#[test]
fn a_server_that_dies_is_told_by_errors() {
    let server = Server::start(|request| Answer {
        die: request.number >= 100,
        ..json_reply("{}")
    });
    let result = run(
        &server,
        json!({ "connections": 1, "seconds": 60, "timeoutSeconds": 0.3, "maxRequests": 1000 }),
    );
    assert!(count(&result, "socketErrors.read") >= 1, "{result}");
    assert_eq!(result["gaveUp"], "no reply for 0.3 s");
    assert_eq!(count(&result, "requests"), 99);
}

#[test]
fn requests_are_given_up_as_often_as_asked() {
    let server = Server::start(|_| json_reply("{}"));
    let result = run(
        &server,
        json!({ "abortShare": 0.2, "maxRequests": 1000, "seconds": 20, "verifyEvery": 1,
                "requests": [{ "method": "POST", "path": "/", "body": "abc", "expect": { "body": "{}" } }] }),
    );
    assert_eq!(count(&result, "requests"), 1000);
    assert_eq!(count(&result, "verified"), 1000);
    assert!((170..340).contains(&count(&result, "aborted")), "{result}");
    let unharmed = [
        "wrongStatus",
        "malformed",
        "reconnects",
        "socketErrors.read",
        "socketErrors.timeout",
    ];
    for key in unharmed {
        assert_eq!(count(&result, key), 0, "{key}: {result}");
    }
}

#[test]
fn large_bodies_go_out_and_come_back() {
    let server = Server::start(|request| reply(200, &request.body));
    let body = "x".repeat(3_000_000);
    let result = run(
        &server,
        json!({ "connections": 2, "maxRequests": 6, "seconds": 20, "verifyEvery": 1,
                "requests": [{ "method": "POST", "path": "/", "body": body, "expect": { "body": body } }] }),
    );
    assert_clean(&result);
    assert_eq!(count(&result, "verified"), 6);
}

#[test]
fn a_closed_port_is_named_with_exit_status_1() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let output = load(&[&format!("http://{address}/")]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors.contains(&address.to_string()) && errors.contains("refused"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
}

#[test]
fn a_wrong_command_is_one_line_with_exit_status_2() {
    for (arguments, expected) in [
        (&[] as &[&str], "a URL or --spec FILE is needed"),
        (&["--conections", "3"], "unknown flag --conections"),
        (&["--connections"], "--connections needs a value"),
        (
            &["--connections", "many", "http://127.0.0.1:1/"],
            "is not a number",
        ),
        (
            &["--connections", "0", "http://127.0.0.1:1/"],
            "connections: 0 must be 1 to 65536",
        ),
        (
            &["--close=yes", "http://127.0.0.1:1/"],
            "--close takes no value",
        ),
        (&["https://127.0.0.1:1/"], "must begin with http://"),
        (&["http://192.0.2.1:80/"], "--allow-remote"),
        (
            &["http://127.0.0.1:1/", "http://127.0.0.1:2/"],
            "a second URL",
        ),
        (&["--header", "a", "http://127.0.0.1:1/"], "must look like"),
        (
            &["--header", "a: b\r\nc: d", "http://127.0.0.1:1/"],
            "must not hold line breaks",
        ),
        (&["--spec", "/does/not/exist.json"], "/does/not/exist.json"),
        (&["--spec", "x.json", "--rate", "5"], "no other flag"),
        (
            &["--duration", "4000", "http://127.0.0.1:1/"],
            "seconds: 4000 must be",
        ),
        (
            &["--duration", "NaN", "http://127.0.0.1:1/"],
            "seconds: NaN must be",
        ),
        (&["--rate", "-5", "http://127.0.0.1:1/"], "rate: -5 must be"),
        (
            &["--rate", "0.0005", "http://127.0.0.1:1/"],
            "rate: 0.0005 must be 0.001 to 10000000 requests/s",
        ),
        (
            &["--abort", "2", "http://127.0.0.1:1/"],
            "abortShare: 2 must be",
        ),
        (
            &["--close", "--pipelining", "2", "http://127.0.0.1:1/"],
            "pipelining: must be 1",
        ),
    ] {
        let output = load(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(
            errors.starts_with("load: ") && errors.contains(expected),
            "{arguments:?}: {errors}"
        );
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_wrong_spec_is_one_line_that_names_the_key() {
    let server = Server::start(|_| json_reply("{}"));
    let request = |request: Value| json!({ "requests": [request] });
    for (spec, expected) in [
        (json!({ "conections": 3 }), "unknown field `conections`"),
        (
            request(json!({ "path": "/", "headerz": {} })),
            "unknown field `headerz`",
        ),
        (
            request(json!({ "path": "/", "expect": { "state": 200 } })),
            "unknown field `state`",
        ),
        (request(json!({ "path": "x" })), "requests[0].path"),
        (request(json!({ "path": "/a b" })), "requests[0].path"),
        (
            request(json!({ "path": "/{nonse}" })),
            "{nonse} is no placeholder",
        ),
        (
            request(json!({ "path": "/{#1}" })),
            "{#1} is no placeholder",
        ),
        (
            request(json!({ "path": "/", "method": "G T" })),
            "requests[0].method",
        ),
        (
            request(json!({ "path": "/", "weight": 0 })),
            "requests[0].weight",
        ),
        (
            request(json!({ "path": "/", "body": "{bytes-67108864}." })),
            "requests[0].body: must not be longer",
        ),
        (
            request(json!({ "path": "/", "headers": { "content-length": "3" } })),
            "headers.content-length",
        ),
        (
            request(json!({ "path": "/", "expect": { "contains": "{1..3}" } })),
            "requests[0].expect.contains",
        ),
        (
            request(json!({ "path": "/", "expect": { "body": "ab", "length": 3 } })),
            "requests[0].expect.length",
        ),
        (
            request(json!({ "path": "/", "method": "HEAD", "expect": { "body": "a" } })),
            "requests[0].expect: a reply to HEAD",
        ),
        (json!({ "requests": [] }), "requests: 0 given"),
        (
            json!({ "connection": "keepalive" }),
            "unknown variant `keepalive`",
        ),
        (
            json!({ "rate": 10_000_000, "seconds": 3600 }),
            "rate: more than a billion",
        ),
        (json!({ "rate": 1e-300 }), "must be 0.001 to 10000000"),
        (json!({ "limitSeconds": 0 }), "limitSeconds: 0 must be"),
        (json!({ "verifyEvery": 0 }), "verifyEvery"),
        (json!({ "maxRequests": 0 }), "maxRequests"),
        (json!({ "address": "127.0.0.1" }), "address"),
    ] {
        let output = output(&server, spec.clone());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{spec}: {errors}");
        assert!(
            errors.contains(expected) && errors.lines().count() == 1,
            "{spec}: {errors}"
        );
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn help_shows_examples_and_every_flag_it_knows() {
    let output = load(&["--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("examples:"));
    assert!(text.lines().all(|line| line.len() <= 120));
    let flags = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("--")?.split(' ').next());
    let mut count = 0;
    for flag in flags {
        count += 1;
        let errors = String::from_utf8(load(&[&format!("--{flag}")]).stderr).unwrap();
        assert!(!errors.contains("unknown flag"), "{errors}");
    }
    assert_eq!(count, 15);
}

#[test]
fn hold_keeps_the_connections_until_a_line_comes() {
    let server = Server::start(|_| json_reply("{}"));
    let spec = json!({ "address": server.address.to_string(), "connections": 3, "seconds": 0.1, "hold": true,
                       "requests": [{ "path": "/" }] });
    let mut child = Command::new(env!("CARGO_BIN_EXE_load"))
        .args(["--spec", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{spec}").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = lines.next().unwrap().unwrap();
        if line == "{\"event\":\"measured\"}" {
            break;
        }
    }
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(server.open(), 3);
    writeln!(input).unwrap();
    assert!(
        lines
            .next()
            .unwrap()
            .unwrap()
            .contains("\"event\":\"result\"")
    );
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_signal_ends_the_window_with_a_result() {
    let server = Server::start(|_| json_reply("{}"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_load"))
        .args(["--duration", "60", &format!("http://{}/", server.address)])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().contains("warm") {}
    std::thread::sleep(Duration::from_millis(50));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(lines.next().unwrap().unwrap(), "{\"event\":\"measured\"}");
    let result: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert!(count(&result, "requests") > 0 && number(&result, "seconds") < 30.0);
    assert!(child.wait().unwrap().success());
}
