//! Requests at a rate, whatever the server does, measured in real time.

use super::{assert_clean, count, number, run};
use crate::server::{Answer, Server, json_reply};
use crate::standstill::measured;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::{Duration, Instant};

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
    measured(
        "open_loop::a_stall_shows_in_an_open_loop_as_it_must_and_hides_in_a_closed_one",
        || {
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
            // 200 requests were due while it stood still, and the first 100 of them waited 100 ms and more.
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
        },
    );
}

#[test]
fn an_overloaded_server_cannot_look_good() {
    measured("open_loop::an_overloaded_server_cannot_look_good", || {
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
    });
}

#[test]
fn lost_requests_do_not_look_quick_in_an_open_loop() {
    measured(
        "open_loop::lost_requests_do_not_look_quick_in_an_open_loop",
        || {
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
        },
    );
}

#[test]
fn an_open_loop_does_not_count_what_it_holds_back_itself() {
    measured(
        "open_loop::an_open_loop_does_not_count_what_it_holds_back_itself",
        || {
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
        },
    );
}

#[test]
fn an_open_loop_keeps_its_rate() {
    measured("open_loop::an_open_loop_keeps_its_rate", || {
        let server = Server::start(|_| json_reply("{}"));
        let result = run(&server, json!({ "rate": 500, "seconds": 1 }));
        assert_clean(&result);
        let due = 500.0 * number(&result, "seconds");
        let taken = count(&result, "requests") + count(&result, "unfinished");
        assert!((taken as f64 - due).abs() <= 10.0, "{result}");
        assert!(count(&result, "requests") >= 300, "{result}");
    });
}
