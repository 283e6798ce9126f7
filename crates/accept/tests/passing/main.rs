//! An acceptor and the intakes of workers, which here are in one process.

mod crowds;
mod listeners;
mod returned;
mod spreading;

use accept::{Acceptor, Intake, Origin};
use reactor::net::{ListenAddr, Socket, pair};
use std::net::{SocketAddr, TcpStream};

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
