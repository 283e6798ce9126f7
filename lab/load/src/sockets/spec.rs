//! The command line and the spec: JSON in which unknown keys are refused by name, and what it says once it is checked.

use std::io;
use std::net::SocketAddr;

use reactor::process;
use serde::Deserialize;

pub const HELP: &str = include_str!("help.txt");

const MAX_SECONDS: f64 = 3600.0;
/// Ports of one address to one server: 28,232 by default.
const MAX_SOCKETS: u64 = 25_000;
/// What a subscriber has got is a bit for each publisher.
const MAX_PUBLISHERS: u64 = 64;
/// The part of a message that is its own.
pub const OWN: usize = 16;
const MAX_BYTES: u64 = 1 << 20;
/// Descriptors beside the sockets: standard streams, epoll, the one more, and some to spare.
const OTHER_FILES: u64 = 16;

#[derive(Debug)]
pub enum Command {
    Help,
    Run(Plan),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Echo,
    Publish,
    Held,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    #[default]
    Text,
    Binary,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Spec {
    address: String,
    mode: Option<Mode>,
    path: String,
    sockets: u64,
    publishers: u64,
    bytes: u64,
    r#type: Type,
    warmup_seconds: f64,
    seconds: f64,
    max_messages: Option<u64>,
    timeout_seconds: f64,
    seed: u64,
    hold: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            address: String::new(),
            mode: None,
            path: "/".into(),
            sockets: 1,
            publishers: 1,
            bytes: 128,
            r#type: Type::Text,
            warmup_seconds: 0.0,
            seconds: 1.0,
            max_messages: None,
            timeout_seconds: 5.0,
            seed: 1,
            hold: false,
        }
    }
}

/// A spec that has been checked. All times in ns.
#[derive(Debug)]
pub struct Plan {
    pub address: SocketAddr,
    pub mode: Mode,
    pub path: String,
    /// Without publishers, and without the one more.
    pub sockets: usize,
    pub publishers: usize,
    /// Of a message.
    pub bytes: usize,
    pub r#type: Type,
    pub warmup: u64,
    pub window: u64,
    pub max_messages: u64,
    pub timeout: u64,
    pub timeout_seconds: f64,
    pub seed: u64,
    pub hold: bool,
}

/// The error is one line that says what is wrong and what would do.
pub fn read(arguments: &[String]) -> Result<Command, String> {
    let file = match arguments {
        [help] if help == "--help" || help == "-h" => return Ok(Command::Help),
        [flag, file] if flag == "--spec" => file,
        _ => return Err("--spec FILE is needed, and nothing else: see sockets --help".into()),
    };
    let spec: Result<Spec, _> = if file == "-" {
        // Only the first line is read: what follows on standard input ends the hold.
        let mut line = String::new();
        io::stdin()
            .read_line(&mut line)
            .map_err(|error| format!("--spec -: {error}"))?;
        serde_json::from_str(&line)
    } else {
        let text = std::fs::read(file).map_err(|error| format!("--spec {file}: {error}"))?;
        serde_json::from_slice(&text)
    };
    let spec = spec.map_err(|error| format!("--spec {file}: {error}"))?;
    check(spec).map(Command::Run)
}

fn check(spec: Spec) -> Result<Plan, String> {
    let address: SocketAddr = spec.address.parse().map_err(|_| {
        format!(
            "address: {:?} is no address with a port, such as 127.0.0.1:3000",
            spec.address
        )
    })?;
    if !address.ip().is_loopback() || address.port() == 0 {
        return Err(format!(
            "address: {address} must be of this machine and have a port, such as 127.0.0.1:3000"
        ));
    }
    let mode = spec
        .mode
        .ok_or("mode: echo, publish or held must be given")?;
    if !spec.path.starts_with('/') || spec.path.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err(format!(
            "path: {:?} must begin with / and be visible ASCII",
            spec.path
        ));
    }
    within("sockets", spec.sockets, 1, MAX_SOCKETS)?;
    within("publishers", spec.publishers, 1, MAX_PUBLISHERS)?;
    within("bytes", spec.bytes, OWN as u64, MAX_BYTES)?;
    seconds("warmupSeconds", spec.warmup_seconds, 0.0)?;
    seconds("seconds", spec.seconds, 0.001)?;
    seconds("timeoutSeconds", spec.timeout_seconds, 0.001)?;
    if spec.max_messages == Some(0) {
        return Err("maxMessages: must be at least 1, or null for no limit".into());
    }
    let files = process::raise_open_file_limit();
    if spec.sockets + spec.publishers + OTHER_FILES > files {
        return Err(format!(
            "sockets: {} need more open files than the {files} this process may have: raise it with ulimit -n",
            spec.sockets
        ));
    }
    Ok(Plan {
        address,
        mode,
        path: spec.path,
        sockets: spec.sockets as usize,
        publishers: spec.publishers as usize,
        bytes: spec.bytes as usize,
        r#type: spec.r#type,
        warmup: nanoseconds(spec.warmup_seconds),
        window: nanoseconds(spec.seconds),
        max_messages: spec.max_messages.unwrap_or(u64::MAX),
        timeout: nanoseconds(spec.timeout_seconds),
        timeout_seconds: spec.timeout_seconds,
        seed: spec.seed,
        hold: spec.hold,
    })
}

fn within(key: &str, value: u64, least: u64, most: u64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("{key}: {value} must be {least} to {most}"))
}

fn seconds(key: &str, value: f64, least: f64) -> Result<(), String> {
    if (least..=MAX_SECONDS).contains(&value) {
        return Ok(());
    }
    Err(format!("{key}: {value} must be {least} to {MAX_SECONDS} s"))
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
