//! Connections that are kept, closed, and broken.

use super::{assert_clean, count, interrupt, number, run, run_until, wait_until};
use crate::server::{Answer, Server, json_reply};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

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
        // Bytes that are not read turn the close into a reset.
        if stream.peek(&mut [0]).is_ok() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nwiki");
        }
    });
    let result = run_until(&server, json!({}), || server.connections() >= 8);
    assert!(count(&result, "socketErrors.read") >= 4, "{result}");
    assert_eq!(count(&result, "requests"), 0);
}

#[test]
fn what_is_no_http_is_malformed() {
    let server = Server::start(|_| Answer::raw("SMTP ready\r\n\r\n"));
    let result = run_until(&server, json!({}), || server.requests() >= 8);
    assert!(count(&result, "malformed") > 0);
    assert_eq!(count(&result, "requests"), 0);
    assert!(
        result["firstFault"]
            .as_str()
            .unwrap()
            .contains("SMTP ready")
    );
    let server = Server::start(|_| Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore"));
    let result = run_until(&server, json!({}), || server.requests() >= 8);
    assert!(count(&result, "malformed") > 0);
}

#[test]
fn a_server_that_dies_is_told_by_errors() {
    let server = Server::start(|request| Answer {
        die: request.number >= 100,
        ..json_reply("{}")
    });
    let result = run(
        &server,
        json!({ "connections": 1, "seconds": 60, "timeoutSeconds": 3, "maxRequests": 1000 }),
    );
    assert!(count(&result, "socketErrors.read") >= 1, "{result}");
    assert_eq!(result["gaveUp"], "no reply for 3 s");
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
    // They stay while others come and go.
    assert_clean(&run(&server, json!({ "maxRequests": 100, "seconds": 20 })));
    wait_until(|| server.open().iter().all(|&number| number <= 3));
    assert_eq!(server.open(), [1, 2, 3]);
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
    let before = server.requests();
    wait_until(|| server.requests() >= before + 10);
    interrupt(&child);
    assert_eq!(lines.next().unwrap().unwrap(), "{\"event\":\"measured\"}");
    let result: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert!(count(&result, "requests") > 0 && number(&result, "seconds") < 30.0);
    assert!(child.wait().unwrap().success());
}
