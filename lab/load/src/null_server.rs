//! `null-server --port N`: the least an HTTP server can do, as the limit every other server is measured against.
//!
//! It counts the blank lines that end a request head and sends as many copies of one reply; it looks at nothing else.
//! Prints `listening on PORT` once it accepts connections on 127.0.0.1; port 0, the default, takes a free one.

#![forbid(unsafe_code)]

mod heads;
mod reply;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use heads::Heads;
use reactor::net::{ListenAddr, Listener, Recv, Send, Socket, listen_tcp};
use reactor::{Event, Events, Interest, Poller, clock};
use reply::Replies;

const LISTENER: u64 = u64::MAX;
const EVENTS: usize = 1024;
/// One receive takes a pipelined batch of wrk (100 requests of about 50 bytes) with room to spare.
const RECEIVE: usize = 16 * 1024;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(port) = parse_port(&args) else {
        eprintln!("usage: null-server [--port N]");
        return ExitCode::from(2);
    };
    match Server::start(port).and_then(|mut server| server.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("null-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse_port(args: &[String]) -> Option<u16> {
    match args {
        [] => Some(0),
        [flag, port] if flag == "--port" => port.parse().ok(),
        _ => None,
    }
}

struct Server {
    poller: Poller,
    listener: Listener,
    /// False while the process is out of file descriptors.
    accepting: bool,
    /// The index is the token.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    replies: Replies,
}

struct Connection {
    socket: Socket,
    heads: Heads,
    /// Bytes of replies not yet sent; nothing is received until there are none.
    owed: usize,
}

impl Server {
    fn start(port: u16) -> io::Result<Self> {
        let listener = listen_tcp(
            SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            511,
            false,
            false,
        )?;
        let poller = Poller::new()?;
        poller.add(listener.fd(), LISTENER, Interest::READ)?;
        if let ListenAddr::Tcp(address) = listener.local_addr()? {
            println!("listening on {}", address.port());
        }
        let replies = Replies::new(clock::unix_seconds());
        Ok(Self {
            poller,
            listener,
            accepting: true,
            connections: Vec::new(),
            free: Vec::new(),
            replies,
        })
    }

    fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        let mut buffer = vec![0; RECEIVE];
        loop {
            let count = self.poller.poll(&mut events, -1)?;
            self.replies.update(clock::unix_seconds());
            for index in 0..count {
                let event = events.get(index);
                if event.token == LISTENER {
                    self.accept()?;
                } else {
                    self.serve(event, &mut buffer)?;
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let socket = match self.listener.accept() {
                Ok(Some((socket, _))) => socket,
                Ok(None) => return Ok(()),
                Err(error) if self.free.len() == self.connections.len() => return Err(error),
                // Out of descriptors: the listener stays readable, so it must not be watched until one is free.
                Err(_) => {
                    self.accepting = false;
                    return self.poller.remove(self.listener.fd());
                }
            };
            // Fails only when the client is already gone.
            if socket.set_nodelay(true).is_err() {
                continue;
            }
            let index = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            self.poller.add(socket.fd(), index as u64, Interest::READ)?;
            self.connections[index] = Some(Connection {
                socket,
                heads: Heads::default(),
                owed: 0,
            });
        }
    }

    /// One receive and one send; what is left makes the socket ready again at once, since polling is level-triggered.
    fn serve(&mut self, event: Event, buffer: &mut [u8]) -> io::Result<()> {
        let index = event.token as usize;
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else {
            return Ok(());
        };
        let before = connection.interest();
        if connection.owed == 0 {
            match connection.socket.recv(buffer) {
                Recv::Data(len) => {
                    connection.owed = connection.heads.count(&buffer[..len]) * self.replies.len();
                }
                Recv::WouldBlock => {}
                Recv::End | Recv::Failed(_) => return self.close(index),
            }
        }
        if connection.owed > 0 {
            match connection.socket.send(self.replies.last(connection.owed)) {
                Send::Sent(len) => connection.owed -= len,
                Send::WouldBlock => {}
                Send::Failed(_) => return self.close(index),
            }
        }
        self.poller.modify(
            connection.socket.fd(),
            event.token,
            before,
            connection.interest(),
        )
    }

    fn close(&mut self, index: usize) -> io::Result<()> {
        self.connections[index] = None;
        self.free.push(index);
        if !self.accepting {
            self.accepting = true;
            self.poller
                .add(self.listener.fd(), LISTENER, Interest::READ)?;
        }
        Ok(())
    }
}

impl Connection {
    fn interest(&self) -> Interest {
        if self.owed > 0 {
            Interest::WRITE
        } else {
            Interest::READ
        }
    }
}
