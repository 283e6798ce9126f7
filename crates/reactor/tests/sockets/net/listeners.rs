//! Listeners, of TCP and of Unix sockets.

use super::{localhost, port, recv_soon};
use reactor::net::{ListenAddr, Peer, Recv, Send, listen_tcp, listen_unix};
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::PathBuf;

/// A path in a fresh folder, removed with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

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
