//! The generator against small servers, right and wrong ones.

#![forbid(unsafe_code)]

mod commands;
mod connections;
mod latency;
mod open_loop;
mod server;
mod standstill;
mod verification;

use serde_json::{Value, json};
use server::Server;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn load(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_load"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs `spec` and gives its result; the keys a test does not care about are filled in.
fn run(server: &Server, spec: Value) -> Value {
    result_of(output(server, spec))
}

/// Does what `run` does, and also returns for how long the machine kept the server or the generator from running.
fn run_watched(server: &Server, spec: Value) -> (Value, Duration) {
    let (output, stood_still) = standstill::watched(start(&completed(server, spec)), server);
    (result_of(output), stood_still)
}

/// Does what `run` does, and ends the window when `done`, so that a slow machine has time for what has to happen in it.
fn run_until(server: &Server, spec: Value, done: impl Fn() -> bool) -> Value {
    let mut whole = completed(server, spec);
    // Longer than `wait_until` waits.
    whole["seconds"] = json!(90);
    let mut child = start(&whole);
    let mut has_ended = false;
    wait_until(|| {
        has_ended = child.try_wait().unwrap().is_some();
        has_ended || done()
    });
    if !has_ended {
        interrupt(&child);
    }
    result_of(child.wait_with_output().unwrap())
}

fn result_of(output: Output) -> Value {
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
    output_of(&completed(server, spec))
}

fn completed(server: &Server, spec: Value) -> Value {
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
    whole
}

fn output_of(spec: &Value) -> Output {
    start(spec).wait_with_output().unwrap()
}

fn start(spec: &Value) -> Child {
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
    child
}

fn interrupt(generator: &Child) {
    let killed = Command::new("kill")
        .args(["-INT", &generator.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
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

/// The limit is for hangs.
fn wait_until(mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "a hang");
        std::thread::sleep(Duration::from_millis(1));
    }
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
