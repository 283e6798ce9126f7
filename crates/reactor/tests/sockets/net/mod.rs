//! Listeners and sockets against the standard library's clients.

mod connections;
mod listeners;

use reactor::net::{ListenAddr, Listener, Recv, Socket, listen_tcp};
use reactor::{Events, Interest, Poller};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

fn localhost() -> Listener {
    listen_tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), 16, false, false).unwrap()
}

fn port(listener: &Listener) -> u16 {
    match listener.local_addr().unwrap() {
        ListenAddr::Tcp(address) => address.port(),
        ListenAddr::Unix(path) => panic!("{}", path.display()),
    }
}

fn pair() -> (Socket, TcpStream) {
    let listener = localhost();
    let client = TcpStream::connect((Ipv4Addr::LOCALHOST, port(&listener))).unwrap();
    let (socket, _) = listener.accept().unwrap().unwrap();
    (socket, client)
}

fn recv_soon(socket: &Socket, buffer: &mut [u8]) -> Recv {
    let poller = Poller::new().unwrap();
    poller.add(socket.fd(), 0, Interest::READ).unwrap();
    let mut events = Events::with_capacity(1);
    assert_eq!(poller.poll(&mut events, 60_000).unwrap(), 1, "a hang");
    socket.recv(buffer)
}
