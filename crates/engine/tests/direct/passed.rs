//! Connections that a supervisor passes to the engine of a worker.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};

use crate::driver::{Driver, answer, limits, send, text};
use accept::{Acceptor, Figures};
use reactor::net::{ListenAddr, pair};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const LAST: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

struct Worker {
    driver: Driver,
    acceptor: Acceptor,
    /// Its number in the acceptor.
    id: usize,
    address: SocketAddr,
}

impl Worker {
    fn new() -> Self {
        let mut driver = Driver::new(&limits());
        let mut acceptor = Acceptor::new().unwrap();
        let local = "127.0.0.1:0".parse().unwrap();
        let (listener, address) = acceptor.listen_tcp(local, 511, false).unwrap();
        let ListenAddr::Tcp(address) = address else {
            panic!("not TCP");
        };
        let (ours, theirs) = pair().unwrap();
        driver.engine.attach(theirs).unwrap();
        driver
            .engine
            .listen_passed(driver.server, listener)
            .unwrap();
        let id = acceptor.add_worker(ours).unwrap();
        acceptor.attach(id, listener);
        acceptor.set_takes(id, true);
        Self {
            driver,
            acceptor,
            id,
            address,
        }
    }

    fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_nonblocking(true).unwrap();
        client
    }

    /// Lets both sides work until `done`.
    fn until(&mut self, mut done: impl FnMut(&mut Acceptor) -> bool) {
        let acceptor = &mut self.acceptor;
        let engine_turns = |driver: &mut Driver| {
            acceptor.turn();
            driver.engine.report_connections();
            done(acceptor)
        };
        self.driver.serve_until(answer, engine_turns);
    }

    fn figures(&self) -> Figures {
        self.acceptor.figures(self.id).unwrap()
    }

    /// Serves until the client has a reply, or its connection has ended.
    fn reply(&mut self, client: &mut TcpStream, until_end: bool) -> String {
        let mut received = Vec::new();
        self.until(|_| {
            let mut part = [0; 4096];
            match client.read(&mut part) {
                Ok(0) => return true,
                Ok(count) => received.extend_from_slice(&part[..count]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            !until_end && received.ends_with(b"!")
        });
        text(&received)
    }
}

#[test]
fn requests_of_passed_connections_are_answered_and_the_supervisor_knows_how_many_are_open() {
    let mut worker = Worker::new();
    let mut clients: Vec<TcpStream> = (0..100).map(|_| worker.client()).collect();
    for client in &mut clients {
        send(client, GET);
    }
    for client in &mut clients {
        let reply = worker.reply(client, false);
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
    }
    let all = Figures {
        open: 100,
        unacknowledged: 0,
    };
    assert_eq!(worker.figures(), all);
    drop(clients);
    worker.until(|acceptor| acceptor.figures(0).is_some_and(|figures| figures.open == 0));
}

#[test]
fn a_connection_that_the_worker_closes_ends_for_its_client() {
    let mut worker = Worker::new();
    let mut client = worker.client();
    send(&mut client, LAST);
    let reply = worker.reply(&mut client, true);
    assert!(reply.contains("Connection: close"), "{reply}");
}

#[test]
fn what_was_passed_before_the_close_is_answered() {
    let mut worker = Worker::new();
    let mut clients: Vec<TcpStream> = (0..50).map(|_| worker.client()).collect();
    for client in &mut clients {
        send(client, GET);
    }
    // The supervisor passes all of them, and then no more. The worker has not looked yet.
    for _ in 0..5 {
        worker.acceptor.turn();
    }
    assert_eq!(worker.figures().unacknowledged, 50);
    worker.acceptor.set_takes(worker.id, false);
    worker.driver.engine.close(worker.driver.server);
    for client in &mut clients {
        let reply = worker.reply(client, true);
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
        assert!(reply.contains("Connection: close"), "{reply}");
    }
}

#[test]
fn an_engine_without_a_supervisor_cannot_serve_its_listeners_and_has_one_at_most() {
    let mut driver = Driver::new(&limits());
    assert!(driver.engine.listen_passed(driver.server, 0).is_err());
    let ((_a, first), (_b, second)) = (pair().unwrap(), pair().unwrap());
    driver.engine.attach(first).unwrap();
    assert!(driver.engine.attach(second).is_err());
}

#[test]
fn a_supervisor_that_is_gone_changes_nothing_for_open_connections() {
    let mut worker = Worker::new();
    let mut client = worker.client();
    send(&mut client, GET);
    worker.reply(&mut client, false);
    let Worker { mut driver, .. } = worker;
    for _ in 0..5 {
        driver.turn(|_, _| {});
    }
    send(&mut client, GET);
    let mut received = Vec::new();
    driver.serve_until(answer, |_| {
        let mut part = [0; 4096];
        if let Ok(count) = client.read(&mut part) {
            received.extend_from_slice(&part[..count]);
        }
        received.ends_with(b"!")
    });
}
