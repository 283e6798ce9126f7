//! The null server over real sockets.

#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};

struct Running {
    child: Child,
    port: u16,
}

impl Running {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_null-server"))
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let port = line
            .trim()
            .strip_prefix("listening on ")
            .unwrap()
            .parse()
            .unwrap();
        Self { child, port }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Whole replies in `bytes`.
fn replies(bytes: &[u8]) -> usize {
    let count = |needle: &[u8]| memchr::memmem::find_iter(bytes, needle).count();
    let bodies = count(b"\r\n\r\n{\"message\":\"Hello World\"}");
    assert_eq!(count(b"HTTP/1.1 200 OK\r\n"), bodies);
    assert_eq!(count(b"\r\nContent-Length: 25\r\n"), bodies);
    bodies
}

#[test]
fn every_head_gets_one_reply() {
    let server = Running::start();
    // With 0, the first part is an unfinished head and nothing else.
    for count in [0, 1, 10, 1000] {
        let mut stream = server.connect();
        let batch = "GET /json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count + 1);
        // In two parts, cut inside the last blank line. The server has the first when it has answered what is whole of it.
        let cut = batch.len() - 2;
        for (part, count) in [(&batch[..cut], count), (&batch[cut..], 1)] {
            stream.write_all(part.as_bytes()).unwrap();
            let mut body = vec![0; size_of_replies(count)];
            stream.read_exact(&mut body).unwrap();
            assert_eq!(replies(&body), count);
        }
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(
            stream.read(&mut [0; 1]).unwrap(),
            0,
            "nothing more than asked for"
        );
    }
}

fn size_of_replies(count: usize) -> usize {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 25\r\n\
                Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";
    count * (head.len() + 25)
}

#[test]
fn a_slow_reader_gets_everything() {
    let server = Running::start();
    let mut stream = server.connect();
    let mut writer = stream.try_clone().unwrap();
    let batch = "GET / HTTP/1.1\r\n\r\n".repeat(100_000);
    let sender = std::thread::spawn(move || writer.write_all(batch.as_bytes()).unwrap());
    let mut bytes = vec![0; size_of_replies(100_000)];
    // Nothing is read until no more comes: the buffers of the system are full, and the server waits.
    let (mut waiting, mut looks) = (0, 0);
    while looks < 500 {
        let now = stream.peek(&mut bytes).unwrap();
        looks = if now == waiting { looks + 1 } else { 0 };
        waiting = now;
        std::thread::yield_now();
    }
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(replies(&bytes), 100_000);
    sender.join().unwrap();
}

#[test]
fn wrong_arguments_are_refused() {
    for args in [
        &["--port"][..],
        &["--port", "x"],
        &["--port", "65536"],
        &["8080"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_null-server"))
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stderr.starts_with(b"usage: "));
    }
}
