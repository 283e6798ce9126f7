//! Clients that are silent.

use std::io::Write;

use engine::SocketSpec;

use super::client::{Client, spec};
use super::driver::frames::{frame, take};
use super::driver::{Driver, limits};

#[test]
fn a_silent_client_is_asked_and_then_reset() {
    // Half of the time is what an answer may take: a busy machine may need another attempt with a longer one.
    let mut attempts = [400, 4_000, 20_000].into_iter();
    assert!(attempts.any(one_that_answers_outlives_a_silent_one));
}

fn one_that_answers_outlives_a_silent_one(idle_timeout: u64) -> bool {
    let spec = SocketSpec {
        idle_timeout,
        ..spec()
    };
    let mut driver = Driver::sockets(&limits(), spec);
    let mut silent = Client::open(&mut driver, b"");
    let mut lively = Client::open(&mut driver, b"");
    driver.until(|driver| {
        driver.engine.sweep();
        lively.receive();
        while let Some((first, payload)) = take(&mut lively.received) {
            assert_eq!((first, payload.as_slice()), (0x89, &b""[..]));
            // It fails where the connection was reset meanwhile.
            let _ = lively.stream.write(&frame(0x8a, b""));
        }
        silent.receive();
        silent.ended
    });
    let is_asked = take(&mut silent.received) == Some((0x89, Vec::new()));
    assert_eq!(silent.told(&mut driver), (1006, String::new()));
    is_asked && !lively.ended
}
