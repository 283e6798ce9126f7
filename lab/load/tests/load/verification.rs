//! What is checked of a reply, and what is expected of it.

use super::{assert_clean, count, run};
use crate::server::{Answer, Server, json_reply, reply};
use serde_json::{Value, json};
use std::sync::Mutex;

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
