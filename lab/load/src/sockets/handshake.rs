//! The opening handshake (RFC 6455 §4).

use std::net::SocketAddr;

/// That of the RFC's own example, for every socket, so that its digest is known without SHA-1.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const LONGEST: usize = 8192;

pub fn request(address: SocketAddr, path: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    .into_bytes()
}

/// How long the reply's head is; `None` while it is not whole. The error says what is wrong with it.
pub fn check(reply: &[u8]) -> Result<Option<usize>, String> {
    let Some(end) = memchr::memmem::find(reply, b"\r\n\r\n") else {
        return if reply.len() > LONGEST {
            Err("its head does not end".into())
        } else {
            Ok(None)
        };
    };
    let head = String::from_utf8_lossy(&reply[..end]);
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 101 ") {
        return Err(format!("it was answered with {status:?}"));
    }
    let fields: Vec<(&str, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name, value.trim()))
        .collect();
    let of = |wanted: &str| {
        fields
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| *value)
    };
    if !of("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket")) {
        return Err("the field Upgrade is not websocket".into());
    }
    let upgrades = |value: &str| {
        value
            .split(',')
            .any(|one| one.trim().eq_ignore_ascii_case("upgrade"))
    };
    if !of("connection").is_some_and(upgrades) {
        return Err("the field Connection has no upgrade".into());
    }
    if of("sec-websocket-accept") != Some(ACCEPT) {
        return Err("the field Sec-WebSocket-Accept is not that of the key".into());
    }
    for field in ["sec-websocket-extensions", "sec-websocket-protocol"] {
        if let Some(value) = of(field)
            && !value.is_empty()
        {
            return Err(format!("{field} is {value:?}, which nobody asked for"));
        }
    }
    Ok(Some(end + 4))
}
