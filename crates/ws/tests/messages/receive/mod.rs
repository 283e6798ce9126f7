//! What a receiver makes of frames, each case fed whole, byte by byte, and cut in two at each place.

mod faults;
mod limits;
mod messages;

use crate::client::{Event, LIMITS, Verdict, feed};
use ws::{Fault, Limits};

/// Feeds `bytes` whole, and checks that cuts change nothing.
fn verdict(bytes: &[u8], limits: &Limits) -> Verdict {
    let whole = feed(bytes, [], limits);
    let places = if bytes.len() < 1_000 { bytes.len() } else { 20 };
    for cut in 0..places {
        assert_eq!(feed(bytes, [cut], limits), whole, "cut at {cut}");
    }
    assert_eq!(feed(bytes, 0..bytes.len(), limits), whole, "byte by byte");
    whole
}

fn events(frames: &[Vec<u8>]) -> Vec<Event> {
    let verdict = verdict(&frames.concat(), &LIMITS);
    assert_eq!(verdict.fault, None);
    verdict.events
}

fn fault(frames: &[Vec<u8>]) -> Option<Fault> {
    let verdict = verdict(&frames.concat(), &LIMITS);
    assert_eq!(verdict.events, []);
    verdict.fault
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}
