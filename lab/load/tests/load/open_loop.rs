//! Requests at a rate, whatever the server does, measured in real time.

use super::{assert_clean, count, number, run, run_until, run_watched};
use crate::server::{Answer, Server, json_reply};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;

/// A server of one thread that stands still for 200 ms at one of its requests, counted from 1.
fn stalling(at: u64) -> Server {
    let one = Mutex::new(());
    Server::start(move |request| {
        let _alone = one.lock().unwrap();
        if request.number == at {
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
    let server = stalling(300);
    let (result, stood_still) = run_watched(
        &server,
        json!({ "rate": 1000, "maxRequests": 1000, "seconds": 60, "connections": 8 }),
    );
    assert_clean(&result);
    let slowest = result["percentiles"]["99.9"].as_f64().unwrap();
    assert!(
        slowest >= 190_000.0 && number(&result, "maxMicroseconds") >= 199_000.0,
        "{slowest}"
    );
    // 200 requests were due while it stood still, and the first 100 of them waited 100 ms and more.
    let (slow, all) = above(&result, 100_000.0);
    // A standstill of the machine makes all slow that are due in it, and has a backlog after it.
    let most = 200 + 2 * stood_still.as_millis() as u64;
    assert!(
        (85..most).contains(&slow),
        "{slow} of {all}, {stood_still:?}"
    );
    assert!(
        count(&result, "longestQueue") >= 150 && count(&result, "lateSends") >= 150,
        "{result}"
    );
    assert!(number(&result, "stalledMicroseconds") >= 190_000.0);

    let server = stalling(500);
    let (result, stood_still) = run_watched(
        &server,
        json!({ "maxRequests": 2000, "seconds": 60, "connections": 8 }),
    );
    assert_clean(&result);
    let (slow, all) = above(&result, 100_000.0);
    assert_eq!(all, 2000);
    // Each 100 ms for which the machine stands still can make the 8 slow that are in flight.
    let most = 32 + 8 * (stood_still.as_millis() as u64 / 100);
    assert!(
        (1..=most).contains(&slow),
        "{slow} of {all}, {stood_still:?}"
    );
    assert!(result["percentiles"]["50"].as_f64().unwrap() < 100_000.0);
}

#[test]
fn an_overloaded_server_cannot_look_good() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(10));
        json_reply("{}")
    });
    let (result, stood_still) = run_watched(
        &server,
        json!({ "rate": 2000, "seconds": 0.5, "connections": 1, "limitSeconds": 0.1 }),
    );
    // From when they were due: the k-th waits for about k times 9.5 ms.
    assert!(count(&result, "withinLimit") <= 11, "{result}");
    let (requests, unfinished) = (count(&result, "requests"), count(&result, "unfinished"));
    let seconds = number(&result, "seconds");
    assert!(requests as f64 <= 100.0 * seconds + 2.0, "{result}");
    assert!(
        requests as f64 + 1.0 >= 10.0 * (seconds - stood_still.as_secs_f64()),
        "{stood_still:?} {result}"
    );
    let due = 2000.0 * seconds;
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
        json!({ "rate": 500, "maxRequests": 200, "seconds": 60, "timeoutSeconds": 3 }),
    );
    let lost = count(&result, "socketErrors.read") + count(&result, "socketErrors.timeout");
    assert!(count(&result, "socketErrors.read") >= 2, "{result}");
    assert!(
        result["percentiles"]["99.9"].as_f64().unwrap() >= 3_000_000.0,
        "{result}"
    );
    // The coarse cell that 3 s belongs to begins a little below.
    let (slow, all) = above(&result, 2_900_000.0);
    assert!(slow >= lost, "{slow} {result}");
    assert_eq!(
        all,
        count(&result, "requests") + count(&result, "unfinished") + lost
    );
    let server = Server::start(|_| Answer::raw("SMTP ready\r\n\r\n"));
    let result = run_until(&server, json!({ "rate": 100, "timeoutSeconds": 3 }), || {
        server.requests() >= 8
    });
    let malformed = count(&result, "malformed");
    assert!(
        malformed > 0 && above(&result, 2_900_000.0).0 >= malformed,
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
        json!({ "rate": 2000, "seconds": 20, "connections": 1, "maxRequests": 20, "limitSeconds": 0.1 }),
    );
    assert_clean(&result);
    assert_eq!(
        (count(&result, "requests"), count(&result, "unfinished")),
        (20, 0)
    );
    let (slow, all) = above(&result, 90_000.0);
    assert_eq!(all, 20);
    assert!(
        (20 - slow..=11).contains(&count(&result, "withinLimit")),
        "{result}"
    );
    assert!(
        (1..20).contains(&count(&result, "longestQueue")),
        "{result}"
    );
}

#[test]
fn an_open_loop_keeps_its_rate() {
    let server = Server::start(|_| json_reply("{}"));
    let (result, stood_still) = run_watched(&server, json!({ "rate": 500, "seconds": 1 }));
    assert_clean(&result);
    let due = 500.0 * number(&result, "seconds");
    let taken = count(&result, "requests") + count(&result, "unfinished");
    assert!((taken as f64 - due).abs() <= 10.0, "{result}");
    // Each that is due is sent and answered at once, unless the machine stands still.
    let held = 500.0 * (stood_still.as_secs_f64() + 0.05) + 10.0;
    assert!(
        (count(&result, "unfinished") as f64) < held,
        "{held} {result}"
    );
}
