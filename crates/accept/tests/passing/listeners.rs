//! Listeners: adopted, closed, and without a worker.

use super::{Worker, connect, listening, settle};
use accept::Acceptor;
use reactor::net::{ListenAddr, pair};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::Duration;

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
