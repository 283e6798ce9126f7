//! Connections: how they begin, what they carry, and how they end.

use super::{pair, recv_soon};
use reactor::net::{Recv, Send, Socket, connect_tcp};
use reactor::{Events, Interest, Poller};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::Ipv4Addr;
use std::thread::yield_now;
use std::time::{Duration, Instant};

#[test]
fn recv_tells_data_from_nothing_and_from_the_end() {
    let (socket, mut client) = pair();
    let mut buffer = [0; 4];
    assert!(matches!(socket.recv(&mut buffer), Recv::WouldBlock));
    client.write_all(b"abcdef").unwrap();
    assert!(matches!(recv_soon(&socket, &mut buffer), Recv::Data(4)));
    assert!(matches!(socket.recv(&mut []), Recv::WouldBlock));
    assert!(matches!(recv_soon(&socket, &mut buffer), Recv::Data(2)));
    assert_eq!(&buffer, b"efcd");
    drop(client);
    assert!(matches!(recv_soon(&socket, &mut buffer), Recv::End));
}

/// Waits until `socket` is writable, or has failed.
fn settled(socket: &Socket) {
    let poller = Poller::new().unwrap();
    poller.add(socket.fd(), 1, Interest::WRITE).unwrap();
    let mut events = Events::with_capacity(1);
    assert_eq!(poller.poll(&mut events, 5000).unwrap(), 1);
}

#[test]
fn a_connection_is_made_without_waiting() {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let socket = connect_tcp(listener.local_addr().unwrap()).unwrap();
    settled(&socket);
    assert!(socket.take_error().is_none());
    let (mut server, _) = listener.accept().unwrap();
    assert!(matches!(socket.send(b"hi"), Send::Sent(2)));
    let mut bytes = [0; 2];
    server.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"hi");
    assert!(matches!(socket.recv(&mut bytes), Recv::WouldBlock));
}

#[test]
fn a_refused_connection_tells_its_error_once() {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    // Its own port is taken as long as it is connected, so that no one listens there.
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = client.local_addr().unwrap();
    // Loopback may refuse within the call.
    let error = match connect_tcp(address) {
        Err(error) => error,
        Ok(socket) => {
            settled(&socket);
            let error = socket.take_error().unwrap();
            assert!(socket.take_error().is_none());
            error
        }
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn vectored_sends_keep_the_order() {
    let (socket, mut client) = pair();
    let slices = [
        IoSlice::new(b"one"),
        IoSlice::new(b""),
        IoSlice::new(b"two"),
    ];
    assert!(matches!(socket.send_vectored(&slices), Send::Sent(6)));
    assert!(matches!(socket.send_vectored(&[]), Send::Sent(0)));
    let many: Vec<_> = (0..1500).map(|_| IoSlice::new(b"x")).collect();
    assert!(matches!(socket.send_vectored(&many), Send::Sent(1024)));
    socket.shutdown_write();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    assert_eq!(text, format!("onetwo{}", "x".repeat(1024)));
}

#[test]
fn a_half_closed_socket_still_receives() {
    let (socket, mut client) = pair();
    socket.shutdown_write();
    assert_eq!(client.read(&mut [0; 4]).unwrap(), 0);
    client.write_all(b"late").unwrap();
    assert!(matches!(recv_soon(&socket, &mut [0; 8]), Recv::Data(4)));
}

#[test]
fn sending_to_a_closed_peer_fails_without_a_signal() {
    let (socket, client) = pair();
    drop(client);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        if let Send::Failed(error) = socket.send(b"x") {
            assert!(matches!(
                error.kind(),
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
            ));
            assert!(matches!(
                socket.send_vectored(&[IoSlice::new(b"x")]),
                Send::Failed(_)
            ));
            return;
        }
        yield_now();
    }
    panic!("the peer's close was never noticed");
}

#[test]
fn reset_is_seen_as_a_reset() {
    let (socket, mut client) = pair();
    socket.set_nodelay(true).unwrap();
    socket.reset();
    assert_eq!(
        client.read(&mut [0; 4]).unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
}

#[test]
fn dropping_a_socket_closes_it() {
    let (socket, mut client) = pair();
    drop(socket);
    assert_eq!(client.read(&mut [0; 4]).unwrap(), 0);
}

#[test]
fn a_passed_socket_that_is_given_away_goes_on() {
    let (socket, mut client) = pair();
    let passed = Socket::from_passed(socket.into_owned());
    let again = Socket::from_owned(passed.into_owned());
    assert!(matches!(again.send(b"x"), Send::Sent(1)));
    client
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut byte = [0; 1];
    client.read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"x");
}
