//! `service-manager PORT WATCHDOG-SECONDS COMMAND…`: what systemd does for a service of `Type=notify` with a socket of
//! its own, so that both can be tried where systemd does not run.
//!
//! It binds a port of 127.0.0.1 and keeps it for as long as it runs. A line on standard input starts the command, which
//! gets the socket (`sd_listen_fds(3)`), or sends it a signal. Standard output has a line of JSON for whatever happens:
//! `listening`, `started`, `notified` with the text of one datagram (`sd_notify(3)`), and `ended`.

#![forbid(unsafe_code)]

use std::io::{self, BufRead, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;

use serde_json::{Value, json};

/// The file descriptor of the first socket is 3, and `LISTEN_PID` must be that of the service itself: a shell knows its
/// own, and becomes the service. The socket comes as its standard input.
const AS_SERVICE: &str = "exec 3<&0 0</dev/null; LISTEN_PID=$$ WATCHDOG_PID=$$ exec \"$@\"";

/// A datagram of a service is shorter.
const DATAGRAM: usize = 4096;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [port, watchdog, command @ ..] = args.as_slice() else {
        return usage();
    };
    let (Ok(port), Ok(watchdog)) = (port.parse(), watchdog.parse()) else {
        return usage();
    };
    if command.is_empty() {
        return usage();
    }
    match Manager::bind(port, watchdog, command.to_vec()).and_then(Manager::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("service-manager: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: service-manager PORT WATCHDOG-SECONDS COMMAND…");
    ExitCode::from(2)
}

struct Manager {
    listener: TcpListener,
    /// The address of the socket that services notify.
    notify: PathBuf,
    watchdog_micros: u64,
    command: Vec<String>,
}

impl Manager {
    fn bind(port: u16, watchdog_seconds: u32, command: Vec<String>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let folder = std::env::var_os("SCRATCH").map_or_else(std::env::temp_dir, PathBuf::from);
        let notify = folder.join(format!("notify-{}", std::process::id()));
        let socket = UnixDatagram::bind(&notify)?;
        thread::spawn(move || follow(&socket));
        say(&json!({ "event": "listening", "port": listener.local_addr()?.port() }));
        Ok(Self {
            listener,
            notify,
            watchdog_micros: u64::from(watchdog_seconds) * 1_000_000,
            command,
        })
    }

    /// Obeys lines: `start`, or the name of a signal.
    fn run(self) -> io::Result<()> {
        let mut service = None;
        for line in io::stdin().lock().lines() {
            match (line?.as_str(), service) {
                ("start", _) => service = Some(self.start()?),
                (signal, Some(pid)) => {
                    Command::new("kill")
                        .args(["-s", signal, &pid.to_string()])
                        .status()?;
                }
                (_, None) => {}
            }
        }
        self.remove()
    }

    fn start(&self) -> io::Result<u32> {
        let socket = OwnedFd::from(self.listener.try_clone()?);
        let child = Command::new("/bin/sh")
            .args(["-c", AS_SERVICE, "sh"])
            .args(&self.command)
            .env("NOTIFY_SOCKET", &self.notify)
            .env("LISTEN_FDS", "1")
            .env("LISTEN_FDNAMES", "lab.socket")
            .env("WATCHDOG_USEC", self.watchdog_micros.to_string())
            .stdin(Stdio::from(socket))
            .stdout(Stdio::null())
            .spawn()?;
        let pid = child.id();
        say(&json!({ "event": "started", "pid": pid }));
        thread::spawn(move || wait(child));
        Ok(pid)
    }

    fn remove(&self) -> io::Result<()> {
        let path: &Path = &self.notify;
        std::fs::remove_file(path)
    }
}

/// Tells what services say: one line for each datagram.
fn follow(socket: &UnixDatagram) {
    let mut bytes = [0; DATAGRAM];
    while let Ok(length) = socket.recv(&mut bytes) {
        let text = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
        say(&json!({ "event": "notified", "text": text }));
    }
}

fn wait(mut child: Child) {
    let code = child.wait().ok().and_then(|status| status.code());
    say(&json!({ "event": "ended", "code": code }));
}

/// A reader that has gone needs no lines.
fn say(event: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}
