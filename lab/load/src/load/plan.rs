//! A spec that has been checked: whatever is wrong in it is said before the first connection.

use std::net::{SocketAddr, ToSocketAddrs};

use reactor::process;

use crate::request::Request;
use crate::spec::{Lifetime, Order, Spec};

const MAX_SECONDS: f64 = 3600.0;
const MAX_CONNECTIONS: u64 = 65_536;
const MAX_PIPELINING: u64 = 1024;
const MAX_REQUESTS_IN_MIX: usize = 10_000;
/// In requests/s; the lowest is some requests in an hour.
const MIN_RATE: f64 = 0.001;
const MAX_RATE: f64 = 10_000_000.0;
/// Those of an open loop that are never sent enter the histogram one by one at the end: 10^9 of them take seconds.
const MAX_DUE: f64 = 1e9;
/// Descriptors beside the connections: standard streams, epoll, and some to spare.
const OTHER_FILES: u64 = 16;

/// All times in ns.
#[derive(Debug)]
pub struct Plan {
    pub address: SocketAddr,
    pub connections: usize,
    pub pipelining: usize,
    pub close: bool,
    /// Requests/s; `None` in a closed loop.
    pub rate: Option<f64>,
    pub warmup: u64,
    pub window: u64,
    pub max_requests: u64,
    pub timeout: u64,
    pub timeout_seconds: f64,
    pub limit: Option<u64>,
    pub requests: Vec<Request>,
    pub order: Order,
    pub verify_every: u64,
    pub abort_share: f64,
    pub seed: u64,
    pub expect_status_always: bool,
    pub hold: bool,
}

impl Plan {
    /// The error is one line that names the key and says what would do.
    pub fn new(spec: &Spec, allow_remote: bool) -> Result<Self, String> {
        let address = address(&spec.address, allow_remote)?;
        whole("connections", spec.connections, MAX_CONNECTIONS)?;
        whole("pipelining", spec.pipelining, MAX_PIPELINING)?;
        whole("verifyEvery", spec.verify_every, u64::MAX)?;
        let files = process::open_file_limit();
        if spec.connections.saturating_add(OTHER_FILES) > files {
            return Err(format!(
                "connections: {} need more open files than the {files} this process may have: raise it with ulimit -n",
                spec.connections
            ));
        }
        let close = spec.connection == Lifetime::Close;
        if close && spec.pipelining > 1 {
            return Err("pipelining: must be 1 with \"connection\": \"close\", where a connection has one request".into());
        }
        seconds("seconds", spec.seconds, 0.001)?;
        seconds("warmupSeconds", spec.warmup_seconds, 0.0)?;
        seconds("timeoutSeconds", spec.timeout_seconds, 0.001)?;
        if let Some(limit) = spec.limit_seconds {
            seconds("limitSeconds", limit, 0.000_001)?;
        }
        if let Some(rate) = spec.rate {
            if !(MIN_RATE..=MAX_RATE).contains(&rate) {
                return Err(format!(
                    "rate: {rate} must be {MIN_RATE} to {MAX_RATE} requests/s, or null for a closed loop"
                ));
            }
            if rate * (spec.seconds + spec.warmup_seconds) > MAX_DUE {
                return Err(
                    "rate: more than a billion requests in all: lower rate or seconds".into(),
                );
            }
        }
        if spec.max_requests == Some(0) {
            return Err("maxRequests: must be at least 1, or null for no limit".into());
        }
        if !(0.0..=1.0).contains(&spec.abort_share) {
            return Err(format!(
                "abortShare: {} must be from 0 to 1",
                spec.abort_share
            ));
        }
        if spec.requests.is_empty() || spec.requests.len() > MAX_REQUESTS_IN_MIX {
            return Err(format!(
                "requests: {} given, must be 1 to {MAX_REQUESTS_IN_MIX}",
                spec.requests.len()
            ));
        }
        let requests = spec
            .requests
            .iter()
            .enumerate()
            .map(|(index, request)| {
                Request::new(request, &spec.address, close)
                    .map_err(|fault| format!("requests[{index}].{fault}"))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            address,
            connections: spec.connections as usize,
            pipelining: spec.pipelining as usize,
            close,
            rate: spec.rate,
            warmup: nanoseconds(spec.warmup_seconds),
            window: nanoseconds(spec.seconds),
            max_requests: spec.max_requests.unwrap_or(u64::MAX),
            timeout: nanoseconds(spec.timeout_seconds),
            timeout_seconds: spec.timeout_seconds,
            limit: spec.limit_seconds.map(nanoseconds),
            requests,
            order: spec.order,
            verify_every: spec.verify_every,
            abort_share: spec.abort_share,
            seed: spec.seed,
            expect_status_always: spec.expect_status_always,
            hold: spec.hold,
        })
    }
}

fn address(text: &str, allow_remote: bool) -> Result<SocketAddr, String> {
    let found = match text.parse() {
        Ok(address) => Some(address),
        // A name may have both kinds of address; servers listen on IPv4 more often.
        Err(_) => text.to_socket_addrs().ok().and_then(|found| {
            let found: Vec<SocketAddr> = found.collect();
            found
                .iter()
                .find(|address| address.is_ipv4())
                .or(found.first())
                .copied()
        }),
    };
    let Some(address) = found else {
        return Err(format!(
            "address: {text:?} is no host with a port, such as 127.0.0.1:3000"
        ));
    };
    if address.port() == 0 {
        return Err("address: the port must not be 0".into());
    }
    if !allow_remote && !address.ip().is_loopback() {
        return Err(format!(
            "address: {address} is another machine's: use 127.0.0.1, or --allow-remote if that machine is yours to load"
        ));
    }
    Ok(address)
}

fn whole(key: &str, value: u64, most: u64) -> Result<(), String> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    if most == u64::MAX {
        return Err(format!("{key}: must be at least 1"));
    }
    Err(format!("{key}: {value} must be 1 to {most}"))
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
