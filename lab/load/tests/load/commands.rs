//! Commands and specs that are wrong, and the help.

use super::{load, output};
use crate::server::{Server, json_reply};
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};

#[test]
fn a_closed_port_is_named_with_exit_status_1() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // Its own port is taken as long as it is connected, so that no one listens there.
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = client.local_addr().unwrap();
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
