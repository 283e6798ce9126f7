//! Crowds, for which the acceptor waits.

use super::{Worker, connect, listening, settle};
use accept::Acceptor;
use std::time::Duration;

#[test]
fn four_connections_at_once_are_a_crowd_and_three_are_not() {
    let (mut acceptor, listener, address) = listening();
    let mut worker = Worker::new(&mut acceptor, &[listener]);
    let _three = connect(3, address);
    acceptor.turn();
    assert!(!acceptor.is_crowded());
    let _four = connect(4, address);
    acceptor.turn();
    assert!(acceptor.is_crowded());
    settle(&mut acceptor, std::slice::from_mut(&mut worker));
    assert!(!acceptor.is_crowded());
    let _again = connect(4, address);
    acceptor.turn();
    acceptor.clock().advance(Duration::from_nanos(999_999));
    assert!(acceptor.is_crowded(), "a crowd lasts a millisecond");
    acceptor.clock().advance(Duration::from_nanos(1));
    assert!(!acceptor.is_crowded());
}

#[test]
fn the_turn_after_a_crowd_waits_and_the_turn_after_a_full_one_does_not() {
    let (mut acceptor, listener, address) = listening();
    let mut worker = Worker::new(&mut acceptor, &[listener]);
    // It waits by the clock, which is held: the wait moves it on.
    let waited = |acceptor: &mut Acceptor| {
        let began = acceptor.clock().ns();
        acceptor.turn();
        acceptor.clock().ns() - began
    };
    let _few = connect(4, address);
    assert_eq!(waited(&mut acceptor), 0);
    assert_eq!(waited(&mut acceptor), 100_000);
    settle(&mut acceptor, std::slice::from_mut(&mut worker));
    let _many = connect(64, address);
    assert_eq!(waited(&mut acceptor), 0);
    assert!(!acceptor.is_crowded());
    assert_eq!(waited(&mut acceptor), 0);
}
