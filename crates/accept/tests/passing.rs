//! An acceptor and the intakes of workers, which here are in one process.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use accept::{Acceptor, Acknowledgement, Figures, Intake, Origin};
use reactor::net::{ListenAddr, Peer, Recv, Socket, pair, send_with};

struct Worker {
    id: usize,
    intake: Intake,
    connections: Vec<(Origin, Socket)>,
}

impl Worker {
    fn new(acceptor: &mut Acceptor, listeners: &[u16]) -> Self {
        let (ours, theirs) = pair().unwrap();
        let id = acceptor.add_worker(ours).unwrap();
        for &listener in listeners {
            acceptor.attach(id, listener);
        }
        acceptor.set_takes(id, true);
        Self {
            id,
            intake: Intake::new(theirs),
            connections: Vec::new(),
        }
    }

    fn take(&mut self) {
        while self.intake.receive(&mut self.connections) {}
        self.intake.acknowledge(self.connections.len() as u32);
    }
}

fn listening() -> (Acceptor, u16, SocketAddr) {
    let mut acceptor = Acceptor::new().unwrap();
    acceptor.clock().hold();
    let local = "127.0.0.1:0".parse().unwrap();
    let (listener, address) = acceptor.listen_tcp(local, 511, false).unwrap();
    let ListenAddr::Tcp(address) = address else {
        panic!("not TCP");
    };
    (acceptor, listener, address)
}

fn connect(count: usize, to: SocketAddr) -> Vec<TcpStream> {
    (0..count)
        .map(|_| TcpStream::connect(to).unwrap())
        .collect()
}

/// Lets all sides do what is due until nothing changes. The clock stands still, but for the pauses in a crowd.
fn settle(acceptor: &mut Acceptor, workers: &mut [Worker]) {
    for _ in 0..20 {
        acceptor.turn();
        for worker in &mut *workers {
            worker.take();
        }
    }
}

#[test]
fn connections_are_spread_evenly_and_carry_their_peer() {
    let (mut acceptor, listener, address) = listening();
    let mut workers: Vec<Worker> = (0..4)
        .map(|_| Worker::new(&mut acceptor, &[listener]))
        .collect();
    for (round, count) in [10, 64, 429].into_iter().enumerate() {
        let clients = connect(count, address);
        settle(&mut acceptor, &mut workers);
        let loads: Vec<usize> = workers.iter().map(|w| w.connections.len()).collect();
        assert_eq!(loads.iter().sum::<usize>(), count, "round {round}");
        let spread = loads.iter().max().unwrap() - loads.iter().min().unwrap();
        assert!(spread <= 1, "{loads:?}");
        let mut peers: Vec<SocketAddr> = workers
            .iter()
            .flat_map(|w| &w.connections)
            .map(|(origin, _)| {
                assert_eq!(origin.listener, listener);
                let Peer::Tcp(peer) = origin.peer else {
                    panic!("not TCP");
                };
                peer
            })
            .collect();
        let mut expected: Vec<SocketAddr> =
            clients.iter().map(|c| c.local_addr().unwrap()).collect();
        peers.sort();
        expected.sort();
        assert_eq!(peers, expected);
        for worker in &mut workers {
            worker.connections.clear();
        }
        settle(&mut acceptor, &mut workers);
        for worker in &workers {
            let idle = Figures {
                open: 0,
                unacknowledged: 0,
            };
            assert_eq!(acceptor.figures(worker.id), Some(idle));
        }
    }
}

#[test]
fn a_connection_works_in_both_directions_and_ends_with_its_worker_alone() {
    let (mut acceptor, listener, address) = listening();
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"ping").unwrap();
    settle(&mut acceptor, &mut workers);
    let (_, socket) = workers[0].connections.pop().unwrap();
    let mut bytes = [0; 8];
    assert!(matches!(socket.recv(&mut bytes), Recv::Data(4)));
    socket.send(b"pong");
    drop(socket);
    let mut reply = Vec::new();
    // The end comes only if the acceptor has closed its copy.
    client
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    client.read_to_end(&mut reply).unwrap();
    assert_eq!(reply, b"pong");
}

#[test]
fn the_end_of_a_connection_does_not_wait_for_the_acceptor() {
    let (mut acceptor, listener, address) = listening();
    let mut worker = Worker::new(&mut acceptor, &[listener]);
    let mut client = TcpStream::connect(address).unwrap();
    for _ in 0..5 {
        acceptor.turn();
    }
    worker.take();
    assert!(acceptor.holds(), "the acceptor has its copy");
    worker.connections.clear();
    client
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
    acceptor.release();
    assert!(!acceptor.holds());
}

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
fn clients_wait_while_nobody_is_ready_and_are_refused_when_told_so() {
    let (mut acceptor, listener, address) = listening();
    let mut client = TcpStream::connect(address).unwrap();
    client
        .write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    for _ in 0..5 {
        acceptor.turn();
    }
    client.set_nonblocking(true).unwrap();
    assert!(client.read(&mut [0; 1]).is_err(), "nobody has answered");
    client.set_nonblocking(false).unwrap();
    acceptor.set_refusing(true);
    acceptor.turn();
    client
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut reply = String::new();
    client.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 503 "), "{reply}");
    assert!(reply.contains("E_NO_WORKER"), "{reply}");
    acceptor.set_refusing(false);
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    let _later = TcpStream::connect(address).unwrap();
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), 1);
}

#[test]
fn a_new_worker_gets_at_most_twice_its_share_of_what_comes_next() {
    // Where the others are new, too, it gets all until it has as many.
    for (age, expected) in [(4_999, 100..=100), (5_000, 40..=52), (5_001, 40..=52)] {
        let (mut acceptor, listener, address) = listening();
        let mut workers: Vec<Worker> = (0..3)
            .map(|_| Worker::new(&mut acceptor, &[listener]))
            .collect();
        let began = acceptor.clock().ms();
        let _old = connect(300, address);
        settle(&mut acceptor, &mut workers);
        let since = acceptor.clock().ms() - began;
        let rest = Duration::from_millis(age - since);
        acceptor.clock().advance(rest);
        workers.push(Worker::new(&mut acceptor, &[listener]));
        let _next = connect(100, address);
        settle(&mut acceptor, &mut workers);
        let new = workers[3].connections.len();
        assert!(
            expected.contains(&new),
            "{new} of 100 after {age} ms, where 25 are its share"
        );
    }
}

#[test]
fn workers_that_start_one_after_the_other_are_even_at_once() {
    let (mut acceptor, listener, address) = listening();
    let mut workers = vec![Worker::new(&mut acceptor, &[listener])];
    let _first = connect(10, address);
    settle(&mut acceptor, &mut workers);
    for _ in 0..3 {
        workers.push(Worker::new(&mut acceptor, &[listener]));
    }
    let _next = connect(30, address);
    settle(&mut acceptor, &mut workers);
    let loads: Vec<usize> = workers.iter().map(|w| w.connections.len()).collect();
    assert_eq!(loads, [10; 4]);
}

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
    let mut waited = |acceptor: &mut Acceptor| {
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

#[test]
fn closing_the_listeners_passes_on_what_waits() {
    let (mut acceptor, listener, address) = listening();
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    let clients = connect(100, address);
    acceptor.stop_listening();
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), clients.len());
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn closing_the_listeners_passes_on_more_than_a_worker_usually_has_on_the_way() {
    let (mut acceptor, listener, address) = listening();
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    let clients = connect(500, address);
    acceptor.stop_listening();
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), clients.len());
}

#[test]
fn a_connection_that_a_worker_has_no_descriptor_for_goes_to_another() {
    let (mut acceptor, listener, address) = listening();
    let (ours, theirs) = pair().unwrap();
    let poor = acceptor.add_worker(ours).unwrap();
    acceptor.attach(poor, listener);
    acceptor.set_takes(poor, true);
    let _client = TcpStream::connect(address).unwrap();
    for _ in 0..5 {
        acceptor.turn();
    }
    assert_eq!(acceptor.figures(poor).unwrap().unacknowledged, 1);
    let said = Acknowledgement {
        received: 1,
        lost: 1,
        open: 0,
    };
    send_with(theirs.as_raw_fd(), &said.to_bytes(), &[]);
    acceptor.turn();
    assert_eq!(
        acceptor.waiting(),
        1,
        "the poor worker does not get it again"
    );
    let mut workers = [Worker::new(&mut acceptor, &[listener])];
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), 1);
}

#[test]
fn a_worker_gets_connections_of_its_listeners_alone() {
    let (mut acceptor, first, one) = listening();
    let local = "127.0.0.1:0".parse().unwrap();
    let (second, address) = acceptor.listen_tcp(local, 511, false).unwrap();
    let ListenAddr::Tcp(two) = address else {
        panic!("not TCP");
    };
    let mut workers = [
        Worker::new(&mut acceptor, &[first]),
        Worker::new(&mut acceptor, &[first, second]),
    ];
    let _clients = (connect(10, one), connect(10, two));
    settle(&mut acceptor, &mut workers);
    assert!(
        workers[0]
            .connections
            .iter()
            .all(|(origin, _)| origin.listener == first)
    );
    let all: usize = workers.iter().map(|worker| worker.connections.len()).sum();
    assert_eq!(all, 20);
}

#[test]
fn a_socket_that_listens_is_adopted_and_another_is_not() {
    let mut acceptor = Acceptor::new().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (number, adopted) = acceptor.adopt(OwnedFd::from(listener)).unwrap();
    assert_eq!(adopted, ListenAddr::Tcp(address));
    let mut workers = [Worker::new(&mut acceptor, &[number])];
    let _client = TcpStream::connect(address).unwrap();
    settle(&mut acceptor, &mut workers);
    assert_eq!(workers[0].connections.len(), 1);
    let (end, _other) = pair().unwrap();
    assert!(acceptor.adopt(end).is_err());
}
