//! A listening socket of the supervisor, and what clients are told that nobody takes.

use reactor::net::{Listener, Recv, Socket};

/// The reply to clients that no worker takes for a long time. None of their request is read.
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
Content-Type: application/problem+json\r\nContent-Length: 127\r\nRetry-After: 1\r\nConnection: close\r\n\r\n\
{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,\"code\":\"E_NO_WORKER\",\"detail\":\"No process is ready to serve.\"}";
/// The most that is read of a request that is refused, in parts: closing with unread input would reset the connection,
/// and the client might not see the reply.
const READ_PARTS: usize = 16;

/// A socket that listens for the workers.
pub struct Listening {
    pub listener: Listener,
    /// Clients speak TLS, so they cannot be told anything.
    pub encrypted: bool,
    /// It is not watched, since nobody takes what it would accept.
    pub paused: bool,
}

/// Refuses a client, and gives the connection to be closed some time later.
pub fn refuse(socket: Socket, encrypted: bool) -> Socket {
    if !encrypted {
        let _ = socket.send(REFUSAL);
    }
    socket.shutdown_write();
    let mut part = [0; 4096];
    for _ in 0..READ_PARTS {
        if !matches!(socket.recv(&mut part), Recv::Data(_)) {
            break;
        }
    }
    socket
}

#[cfg(test)]
mod tests {
    use super::REFUSAL;

    #[test]
    fn the_reply_is_as_long_as_it_says() {
        let text = std::str::from_utf8(REFUSAL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "the body has {} bytes",
            body.len()
        );
    }
}
