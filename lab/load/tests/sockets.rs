//! The generator of sockets against small servers of a thread, and wrong specs. `lab/test` has the servers that cheat.

#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

fn sockets(spec: &Value) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sockets"))
        .args(["--spec", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{spec}").unwrap();
    drop(input);
    child.wait_with_output().unwrap()
}

/// Serves one connection by `answer` once its handshake is done; the address.
fn server(answer: impl Fn(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        // The reply and the first frame may come together.
        stream
            .write_all(
                b"HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n\
                  sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\x89\x02hi",
            )
            .unwrap();
        answer(stream);
    });
    address
}

/// The payload of the next frame, without its mask, and its opcode.
fn frame(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let mut length = usize::from(head[1] & 127);
    if length == 126 {
        let mut more = [0; 2];
        stream.read_exact(&mut more).ok()?;
        length = usize::from(u16::from_be_bytes(more));
    }
    let mut key = [0; 4];
    stream.read_exact(&mut key).ok()?;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).ok()?;
    for (byte, key) in payload.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
    Some((head[0] & 15, payload))
}

#[test]
fn echoes_are_counted_and_pings_are_answered() {
    let (tell, told) = mpsc::channel();
    let address = server(move |mut stream| {
        while let Some((opcode, payload)) = frame(&mut stream) {
            if opcode == 10 {
                tell.send(payload).unwrap();
                continue;
            }
            // In two frames, which is as good as one.
            let (first, rest) = payload.split_at(10);
            stream.write_all(&[opcode, first.len() as u8]).unwrap();
            stream.write_all(first).unwrap();
            stream.write_all(&[0x80, 126, 0, rest.len() as u8]).unwrap();
            stream.write_all(rest).unwrap();
        }
    });
    let output = sockets(&json!({
        "address": address, "mode": "echo", "bytes": 140, "seconds": 60, "maxMessages": 20
    }));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<_> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["connected", "warm", "measured", "result"]);
    let result = &lines[3];
    assert_eq!(result["messages"], 20, "{result}");
    // One before the warm-up, and one that was in flight at the end of it.
    assert!(result["totalMessages"].as_u64().unwrap() >= 21, "{result}");
    assert_eq!(result["firstFault"], Value::Null, "{result}");
    assert_eq!(result["pings"], 1);
    assert_eq!(told.recv().unwrap(), b"hi");
}

#[test]
fn a_handshake_that_is_not_right_is_a_fault() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let output = sockets(&json!({ "address": address, "mode": "echo" }));
    let text = String::from_utf8(output.stdout).unwrap();
    let result: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(result["faults"], json!({ "refused": 1 }));
    assert!(
        result["firstFault"]
            .as_str()
            .unwrap()
            .contains("404 Not Found"),
        "{result}"
    );
}

#[test]
fn nobody_listening_is_said_with_the_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // Its own port is taken as long as it is connected, so that no one listens there.
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = client.local_addr().unwrap().to_string();
    let output = sockets(&json!({ "address": address, "mode": "echo" }));
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("is the server listening there?"),
        "{errors}"
    );
}

#[test]
fn a_wrong_spec_is_refused_with_its_key() {
    let right = json!({ "address": "127.0.0.1:1", "mode": "echo" });
    for (key, value, wanted) in [
        ("address", json!("192.0.2.1:80"), "must be of this machine"),
        ("address", json!("localhost"), "no address with a port"),
        ("mode", Value::Null, "mode: echo, publish or held"),
        ("bytes", json!(15), "bytes: 15 must be 16 to 1048576"),
        (
            "sockets",
            json!(25_001),
            "sockets: 25001 must be 1 to 25000",
        ),
        ("publishers", json!(0), "publishers: 0 must be 1 to 64"),
        ("path", json!("chat"), "must begin with /"),
        ("seconds", json!(0), "seconds: 0 must be 0.001 to 3600 s"),
        ("socket", json!(1), "unknown field `socket`"),
    ] {
        let mut spec = right.clone();
        spec[key] = value;
        let output = sockets(&spec);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(wanted), "{errors}");
    }
}
