//! Readiness of real sockets.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use reactor::net::{ListenAddr, Recv, Send, Socket, listen_tcp};
use reactor::{Event, Events, Interest, Poller};

const TOKEN: u64 = 0xFEDC_BA98_7654_3210;

fn pair() -> (Socket, TcpStream) {
    let listener = listen_tcp(SocketAddr::from(([127, 0, 0, 1], 0)), 16, false, false).unwrap();
    let ListenAddr::Tcp(address) = listener.local_addr().unwrap() else {
        panic!("not TCP")
    };
    let client = TcpStream::connect(address).unwrap();
    let (socket, _) = listener
        .accept()
        .unwrap()
        .expect("the connection is waiting");
    (socket, client)
}

/// The union of what one poll says of `TOKEN`, since kqueue may use two events.
fn poll(poller: &Poller, timeout_ms: i32) -> Option<Event> {
    let mut events = Events::with_capacity(8);
    let count = poller.poll(&mut events, timeout_ms).unwrap();
    assert_eq!(count, events.len());
    (0..count)
        .map(|index| events.get(index))
        .reduce(|all, event| Event {
            token: event.token,
            readable: all.readable || event.readable,
            writable: all.writable || event.writable,
            hangup: all.hangup || event.hangup,
            error: all.error || event.error,
        })
}

#[test]
fn bytes_are_reported_until_they_are_received() {
    let (socket, mut client) = pair();
    let poller = Poller::new().unwrap();
    poller.add(socket.fd(), TOKEN, Interest::READ).unwrap();
    assert_eq!(poll(&poller, 0), None);
    client.write_all(b"abc").unwrap();
    for _ in 0..2 {
        let event = poll(&poller, 60_000).expect("readable");
        assert_eq!(
            (event.token, event.readable, event.writable),
            (TOKEN, true, false)
        );
        assert!(!event.hangup && !event.error);
    }
    let mut buffer = [0; 8];
    assert!(matches!(socket.recv(&mut buffer), Recv::Data(3)));
    assert_eq!(&buffer[..3], b"abc");
    assert_eq!(poll(&poller, 0), None);
}

#[test]
fn a_full_socket_becomes_writable_once_the_peer_reads() {
    let (socket, mut client) = pair();
    let poller = Poller::new().unwrap();
    poller.add(socket.fd(), TOKEN, Interest::NONE).unwrap();
    let block = vec![7; 1 << 16];
    let mut queued = 0;
    loop {
        match socket.send(&block) {
            Send::Sent(count) => queued += count,
            Send::WouldBlock => break,
            Send::Failed(error) => panic!("{error}"),
        }
    }
    poller
        .modify(socket.fd(), TOKEN, Interest::NONE, Interest::WRITE)
        .unwrap();
    assert_eq!(poll(&poller, 0), None);
    let mut taken = vec![0; queued];
    client.read_exact(&mut taken).unwrap();
    assert!(taken.iter().all(|byte| *byte == 7));
    let event = poll(&poller, 60_000).expect("writable");
    assert!(event.writable && !event.readable);
    poller
        .modify(socket.fd(), TOKEN, Interest::WRITE, Interest::NONE)
        .unwrap();
    assert_eq!(poll(&poller, 0), None);
}

#[test]
fn the_end_of_input_is_a_hangup_even_while_reading_is_paused() {
    let (socket, client) = pair();
    let poller = Poller::new().unwrap();
    poller.add(socket.fd(), TOKEN, Interest::HANGUP).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let event = poll(&poller, 60_000).expect("hangup");
    assert!(event.hangup && !event.readable && !event.error);
    poller
        .modify(socket.fd(), TOKEN, Interest::HANGUP, Interest::NONE)
        .unwrap();
    assert_eq!(poll(&poller, 0), None, "a disarmed hangup does not spin");
    poller
        .modify(socket.fd(), TOKEN, Interest::NONE, Interest::READ_HANGUP)
        .unwrap();
    let event = poll(&poller, 60_000).expect("end of input");
    assert!(event.readable && event.hangup);
    assert!(matches!(socket.recv(&mut [0; 8]), Recv::End));
}

#[cfg(target_os = "linux")]
#[test]
fn a_reset_is_an_error_without_any_interest() {
    let (socket, client) = pair();
    let poller = Poller::new().unwrap();
    poller.add(socket.fd(), TOKEN, Interest::NONE).unwrap();
    // Closing with bytes unread makes the kernel send a reset.
    assert!(matches!(socket.send(b"unread"), Send::Sent(6)));
    client
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    client.peek(&mut [0; 1]).unwrap();
    drop(client);
    let event = poll(&poller, 60_000).expect("error");
    assert!(event.error);
    let Recv::Failed(error) = socket.recv(&mut [0; 8]) else {
        panic!("not reset")
    };
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn removed_and_closed_sockets_are_silent() {
    let (first, mut client) = pair();
    let (second, mut other) = pair();
    let poller = Poller::new().unwrap();
    poller.add(first.fd(), 1, Interest::READ).unwrap();
    poller.add(second.fd(), 2, Interest::READ).unwrap();
    assert!(poller.add(first.fd(), 1, Interest::READ).is_err() || cfg!(target_os = "macos"));
    client.write_all(b"x").unwrap();
    other.write_all(b"x").unwrap();
    poller.remove(first.fd()).unwrap();
    drop(second);
    // What comes later is reported alone.
    let (third, mut last) = pair();
    poller.add(third.fd(), 3, Interest::READ).unwrap();
    last.write_all(b"x").unwrap();
    assert_eq!(poll(&poller, 60_000).map(|event| event.token), Some(3));
    assert_eq!(poll(&poller, 0).map(|event| event.token), Some(3));
}

#[test]
fn a_poll_reports_at_most_its_capacity_and_the_rest_next_time() {
    let poller = Poller::new().unwrap();
    let sockets: Vec<_> = (0..5).map(|_| pair()).collect();
    for (index, (socket, client)) in sockets.iter().enumerate() {
        poller
            .add(socket.fd(), index as u64, Interest::READ)
            .unwrap();
        (&*client).write_all(b"x").unwrap();
    }
    let mut events = Events::with_capacity(2);
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 5 {
        let count = poller.poll(&mut events, 60_000).unwrap();
        assert!(count >= 1 && count <= events.capacity());
        for index in 0..count {
            let token = events.get(index).token;
            assert!(matches!(
                sockets[token as usize].0.recv(&mut [0; 4]),
                Recv::Data(1)
            ));
            assert!(seen.insert(token));
        }
    }
    assert_eq!(poller.poll(&mut events, 0).unwrap(), 0);
}

#[test]
fn the_timeout_is_in_milliseconds() {
    let poller = Poller::new().unwrap();
    let start = Instant::now();
    assert_eq!(poll(&poller, 40), None);
    assert!(start.elapsed() >= Duration::from_millis(38));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_poller_can_be_watched_by_another() {
    let (socket, mut client) = pair();
    let inner = Poller::new().unwrap();
    let outer = Poller::new().unwrap();
    inner.add(socket.fd(), 1, Interest::READ).unwrap();
    outer.add(inner.as_raw_fd(), TOKEN, Interest::READ).unwrap();
    assert_eq!(poll(&outer, 0), None);
    client.write_all(b"x").unwrap();
    assert_eq!(poll(&outer, 60_000).map(|event| event.readable), Some(true));
}
