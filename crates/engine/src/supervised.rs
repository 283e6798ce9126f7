//! The worker's side of a supervisor: takes the connections that it passes, and says how many are open.

use std::io;
use std::os::fd::OwnedFd;

use accept::Intake;

use crate::engine::{Core, Engine};
use crate::server::Phase;

impl Engine {
    /// Takes the end of the pair by which the supervisor passes connections.
    ///
    /// # Errors
    /// When the kernel refuses to watch it, or there is one already.
    pub fn attach(&mut self, pair: OwnedFd) -> io::Result<()> {
        if self.core.intake.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let intake = Intake::new(pair);
        self.core.polling.take_in(intake.fd())?;
        self.core.intake = Some(intake);
        Ok(())
    }

    /// Has a server serve the connections of a listener of the supervisor.
    ///
    /// # Errors
    /// When there is no such server, it is closing, or this engine is attached to no supervisor.
    pub fn listen_passed(&mut self, id: u16, listener: u16) -> io::Result<()> {
        if self.core.intake.is_none() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let server = self.core.servers.get_mut(id);
        let Some(server) = server.filter(|server| server.phase == Phase::Open) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        server.passed = Some(listener);
        Ok(())
    }

    /// Tells the supervisor how many connections are open, if that has changed.
    pub fn report_connections(&mut self) {
        self.core.report_connections();
    }
}

impl Core {
    /// Takes connections that the supervisor has passed. Gives whether there may be more.
    pub fn take_in(&mut self) -> bool {
        let Some(intake) = &mut self.intake else {
            return false;
        };
        let mut passed = Vec::new();
        let has_more = intake.receive(&mut passed);
        if intake.has_ended() {
            // The poller would report it again and again.
            let fd = intake.fd();
            self.polling.remove(fd);
        }
        for (origin, socket) in passed {
            let server = self.servers.ids().find(|&id| {
                let server = self.servers.get(id);
                server.is_some_and(|server| server.passed == Some(origin.listener))
            });
            if let Some(server) = server {
                self.open(server, socket, origin.peer);
            }
        }
        // Before anything is received from them: while the supervisor has its copy of a connection, closing ours does
        // not end it.
        self.report_connections();
        has_more
    }

    fn report_connections(&mut self) {
        let Some(intake) = &mut self.intake else {
            return;
        };
        let open = self.servers.iter().map(|server| server.stats.connections);
        let open = open.sum::<u64>() as u32;
        if intake.has_news(open) {
            intake.acknowledge(open);
        }
    }
}
