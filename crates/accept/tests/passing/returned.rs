//! Connections that a worker does not take.

use super::{Worker, connect, listening, settle};
use accept::Acknowledgement;
use reactor::net::{Socket, pair, send_with};
use std::os::fd::AsRawFd;

#[test]
fn what_a_dead_worker_has_not_acknowledged_goes_to_others() {
    let (mut acceptor, listener, address) = listening();
    let dying = Worker::new(&mut acceptor, &[listener]);
    let clients = connect(100, address);
    for _ in 0..10 {
        acceptor.turn();
    }
    let before = acceptor.figures(dying.id).unwrap();
    assert_eq!(before.unacknowledged, 100);
    let id = dying.id;
    drop(dying);
    acceptor.turn();
    acceptor.remove_worker(id);
    assert_eq!(acceptor.waiting(), 100);
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), clients.len());
    assert_eq!(acceptor.waiting(), 0);
}

#[test]
fn what_was_acknowledged_in_the_last_moment_is_not_passed_twice() {
    let (mut acceptor, listener, address) = listening();
    let mut dying = Worker::new(&mut acceptor, &[listener]);
    let _clients = connect(10, address);
    for _ in 0..10 {
        acceptor.turn();
    }
    dying.take();
    let id = dying.id;
    drop(dying);
    // The acceptor learns of the death before it has read the acknowledgement.
    acceptor.remove_worker(id);
    assert_eq!(acceptor.waiting(), 0);
}

#[test]
fn a_worker_that_reads_nothing_gets_256_and_the_rest_waits() {
    let (mut acceptor, listener, address) = listening();
    let mut stuck = Worker::new(&mut acceptor, &[listener]);
    let clients = connect(400, address);
    for _ in 0..20 {
        acceptor.turn();
    }
    assert_eq!(acceptor.figures(stuck.id).unwrap().unacknowledged, 256);
    for _ in 0..20 {
        stuck.take();
        acceptor.turn();
    }
    assert_eq!(stuck.connections.len(), clients.len());
}

#[test]
fn what_a_worker_was_not_sent_when_it_leaves_goes_to_others() {
    let (mut acceptor, listener, address) = listening();
    let (ours, theirs) = pair().unwrap();
    // The pair takes nothing more, as when the worker is stopped.
    let socket = Socket::from_owned(ours);
    while matches!(socket.send(&[0; 4096]), reactor::net::Send::Sent(_)) {}
    let leaving = acceptor.add_worker(socket.into_owned()).unwrap();
    acceptor.attach(leaving, listener);
    acceptor.set_takes(leaving, true);
    let clients = connect(10, address);
    acceptor.turn();
    let before = acceptor.figures(leaving).unwrap();
    assert!(before.unacknowledged > 0);
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    acceptor.detach(leaving, listener);
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), clients.len());
    drop(theirs);
}

#[test]
fn a_connection_that_a_worker_has_no_descriptor_for_goes_to_another() {
    let (mut acceptor, listener, address) = listening();
    let (ours, theirs) = pair().unwrap();
    let poor = acceptor.add_worker(ours).unwrap();
    acceptor.attach(poor, listener);
    acceptor.set_takes(poor, true);
    let _clients = connect(2, address);
    for _ in 0..5 {
        acceptor.turn();
    }
    assert_eq!(acceptor.figures(poor).unwrap().unacknowledged, 2);
    // Both numbers count from the start: the second connection is not lost.
    for (received, open) in [(1, 0), (2, 1)] {
        let said = Acknowledgement {
            received,
            lost: 1,
            open,
        };
        send_with(theirs.as_raw_fd(), &said.to_bytes(), &[]);
        acceptor.turn();
        assert_eq!(
            acceptor.waiting(),
            1,
            "the poor worker does not get it again"
        );
    }
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), 1);
}
