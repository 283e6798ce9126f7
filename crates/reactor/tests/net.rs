//! Listeners and sockets against the standard library's clients.

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use reactor::net::{
    ListenAddr, Listener, Peer, Recv, Send, Socket, connect_tcp, listen_tcp, listen_unix,
};
use reactor::{Events, Interest, Poller};

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

/// A path in a fresh folder, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("reactor-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("s")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn recv_soon(socket: &Socket, buffer: &mut [u8]) -> Recv {
    let poller = Poller::new().unwrap();
    poller.add(socket.fd(), 0, Interest::READ).unwrap();
    let mut events = Events::with_capacity(1);
    assert_eq!(poller.poll(&mut events, 60_000).unwrap(), 1, "a hang");
    socket.recv(buffer)
}

#[test]
fn accept_gives_the_peer_and_then_none() {
    let listener = localhost();
    assert!(listener.accept().unwrap().is_none());
    let client = TcpStream::connect((Ipv4Addr::LOCALHOST, port(&listener))).unwrap();
    let (_socket, peer) = listener.accept().unwrap().unwrap();
    assert_eq!(peer, Peer::Tcp(client.local_addr().unwrap()));
    assert!(listener.accept().unwrap().is_none());
}

#[test]
fn a_port_in_use_is_refused_unless_both_share_it() {
    let first = localhost();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port(&first)));
    let error = listen_tcp(address, 16, false, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(
        listen_tcp(address, 16, false, true).is_err(),
        "the first does not share"
    );

    let shared = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let first = listen_tcp(shared, 16, false, true).unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port(&first)));
    listen_tcp(address, 16, false, true).unwrap();
}

#[test]
fn a_dual_stack_listener_takes_ipv4_and_an_ipv6_only_one_does_not() {
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    let Ok(dual) = listen_tcp(any, 16, false, false) else {
        eprintln!("skipped: this machine has no IPv6");
        return;
    };
    let client = TcpStream::connect((Ipv4Addr::LOCALHOST, port(&dual))).unwrap();
    let (_socket, peer) = dual.accept().unwrap().unwrap();
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
    assert_eq!(
        peer,
        Peer::Tcp((mapped, client.local_addr().unwrap().port()).into())
    );

    let only = listen_tcp(any, 16, true, false).unwrap();
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port(&only))).is_err());
    TcpStream::connect((Ipv6Addr::LOCALHOST, port(&only))).unwrap();
}

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
    let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
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
fn a_unix_listener_serves_and_removes_its_file() {
    let folder = Folder::new("serve");
    let listener = listen_unix(&folder.file(), 16).unwrap();
    assert_eq!(
        listener.local_addr().unwrap(),
        ListenAddr::Unix(folder.file())
    );
    let mut client = UnixStream::connect(folder.file()).unwrap();
    let (socket, peer) = listener.accept().unwrap().unwrap();
    assert_eq!(peer, Peer::Unix);
    assert!(socket.set_nodelay(true).is_err());
    client.write_all(b"hi").unwrap();
    assert!(matches!(recv_soon(&socket, &mut [0; 8]), Recv::Data(2)));
    assert!(matches!(socket.send(b"ho"), Send::Sent(2)));
    drop(listener);
    assert!(!folder.file().exists());
}

#[test]
fn a_stale_socket_file_is_replaced() {
    let folder = Folder::new("stale");
    drop(UnixListener::bind(folder.file()).unwrap());
    assert!(folder.file().exists());
    let listener = listen_unix(&folder.file(), 16).unwrap();
    UnixStream::connect(folder.file()).unwrap();
    assert!(listener.accept().unwrap().is_some());
}

#[test]
fn a_live_socket_or_another_file_is_left_alone() {
    let folder = Folder::new("live");
    let live = UnixListener::bind(folder.file()).unwrap();
    assert_eq!(
        listen_unix(&folder.file(), 16).unwrap_err().kind(),
        ErrorKind::AddrInUse
    );
    drop(live);
    std::fs::remove_file(folder.file()).unwrap();

    let datagram = UnixDatagram::bind(folder.file()).unwrap();
    assert_eq!(
        listen_unix(&folder.file(), 16).unwrap_err().kind(),
        ErrorKind::AddrInUse
    );
    drop(datagram);
    std::fs::remove_file(folder.file()).unwrap();

    std::fs::write(folder.file(), "precious").unwrap();
    assert_eq!(
        listen_unix(&folder.file(), 16).unwrap_err().kind(),
        ErrorKind::AddrInUse
    );
    assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), "precious");
}

#[test]
fn a_successors_file_is_not_removed() {
    let folder = Folder::new("successor");
    let first = listen_unix(&folder.file(), 16).unwrap();
    std::fs::remove_file(folder.file()).unwrap();
    let _second = listen_unix(&folder.file(), 16).unwrap();
    drop(first);
    UnixStream::connect(folder.file()).unwrap();
}

#[test]
fn a_missing_folder_is_not_found() {
    let folder = Folder::new("missing");
    let error = listen_unix(&folder.0.join("no/s"), 16).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
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
