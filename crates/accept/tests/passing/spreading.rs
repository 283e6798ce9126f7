//! Who gets which connection.

use super::{Worker, connect, listening, settle};
use accept::Figures;
use reactor::net::{ListenAddr, Peer, Recv};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

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
