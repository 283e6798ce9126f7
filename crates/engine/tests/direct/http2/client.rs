//! A client of HTTP/2 that reads and writes frames itself, over a non-blocking socket.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use h2::hpack::Decoder;

use crate::driver::http2::{
    DATA, END_STREAM, Frame, GOAWAY, HEADERS, PREFACE, RST_STREAM, block, data, headers, settings,
};
use crate::driver::{Driver, send, text};

pub struct Client {
    pub stream: TcpStream,
    received: Vec<u8>,
    /// Every received frame, in order.
    pub frames: Vec<Frame>,
    pub ended: bool,
    next: u32,
}

/// The received reply of one stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// The fields, without Date and Content-Type, which every reply has.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, String)>,
    /// The statuses of interim replies.
    pub interim: Vec<u16>,
    pub whole: bool,
    /// The code of `RST_STREAM`.
    pub reset: Option<u32>,
}

/// Starts a server of `ROUTES` that takes HTTP/2 on its plain port.
pub fn server(values: &[f64]) -> Driver {
    let mut driver = Driver::new(values);
    driver.engine.set_http2(driver.server, true);
    driver
}

impl Client {
    pub fn new(driver: &Driver) -> Self {
        Self::with(driver, &[])
    }

    /// Connects with these settings.
    pub fn with(driver: &Driver, pairs: &[(u16, u32)]) -> Self {
        let mut client = Self::silent(driver);
        client.send(&[PREFACE, &settings(pairs)].concat());
        client
    }

    /// Connects without sending anything.
    pub fn silent(driver: &Driver) -> Self {
        Self {
            stream: driver.client(),
            received: Vec::new(),
            frames: Vec::new(),
            ended: false,
            next: 1,
        }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        send(&mut self.stream, bytes);
    }

    /// Gives the id of the next request.
    pub fn id(&mut self) -> u32 {
        self.next += 2;
        self.next - 2
    }

    pub fn get(&mut self, path: &str) -> u32 {
        let id = self.id();
        self.send(&headers(id, &block("GET", path, &[]), true));
        id
    }

    pub fn post(&mut self, path: &str, body: &[u8]) -> u32 {
        let id = self.id();
        let head = headers(id, &block("POST", path, &[]), false);
        self.send(&[head, data(id, body, true)].concat());
        id
    }

    pub fn receive(&mut self) {
        let mut buffer = [0; 16_384];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(count) => self.received.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.ended = true,
        }
        while let Some(frame) = Frame::take(&mut self.received) {
            self.frames.push(frame);
        }
    }

    /// Runs turns of the engine until `done`.
    pub fn until(&mut self, driver: &mut Driver, done: impl Fn(&Self) -> bool) {
        driver.until(|_| {
            self.receive();
            done(self)
        });
    }

    /// Runs turns until a frame of this kind has arrived, and gives the first one.
    pub fn await_frame(&mut self, driver: &mut Driver, kind: u8) -> Frame {
        self.until(driver, |client| client.ended || client.has(kind));
        let found = self.frames.iter().find(|frame| frame.kind == kind);
        found.expect("the connection ended before").clone()
    }

    pub fn has(&self, kind: u8) -> bool {
        self.frames.iter().any(|frame| frame.kind == kind)
    }

    pub fn frames_of(&self, id: u32) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.stream == id)
    }

    pub fn is_over(&self, id: u32) -> bool {
        self.ended
            || self.frames_of(id).any(|frame| {
                frame.kind == RST_STREAM
                    || (matches!(frame.kind, DATA | HEADERS) && frame.has(END_STREAM))
            })
    }

    /// Runs turns until a stream is over, and gives its reply.
    pub fn reply(&mut self, driver: &mut Driver, id: u32) -> Reply {
        self.until(driver, |client| client.is_over(id));
        self.reply_so_far(id)
    }

    pub fn reply_so_far(&self, id: u32) -> Reply {
        let mut reply = Reply::default();
        // The server uses no dynamic table, so a new decoder can read any block.
        let mut decoder = Decoder::new(4096);
        for frame in self.frames_of(id) {
            match frame.kind {
                DATA => reply.body.extend(&frame.payload),
                HEADERS => {
                    let mut fields = Vec::new();
                    let mut status = None;
                    let result =
                        decoder.decode(&frame.payload, &mut |field: h2::hpack::Field<'_>| {
                            let (name, value) = (text(field.name), text(field.value));
                            match name.as_str() {
                                ":status" => status = value.parse().ok(),
                                "date" | "content-type" => {}
                                _ => fields.push((name, value)),
                            }
                        });
                    result.unwrap();
                    match status {
                        Some(status @ 100..200) => reply.interim.push(status),
                        Some(status) => (reply.status, reply.fields) = (status, fields),
                        None => reply.trailers = fields,
                    }
                }
                RST_STREAM => reply.reset = Some(frame.code()),
                _ => {}
            }
            reply.whole |= matches!(frame.kind, DATA | HEADERS) && frame.has(END_STREAM);
        }
        reply
    }

    /// Gives the code of GOAWAY, once the connection has ended.
    pub fn end(&mut self, driver: &mut Driver) -> Option<u32> {
        self.until(driver, |client| client.ended);
        let last = self.frames.iter().rfind(|frame| frame.kind == GOAWAY);
        last.map(Frame::code)
    }

    /// Runs turns until the server has read everything. It answers a request that JavaScript never sees.
    pub fn settle(&mut self, driver: &mut Driver) {
        let id = self.id();
        self.send(&headers(id, &block("HEAD", "/a/../b", &[]), true));
        self.until(driver, |client| client.is_over(id));
    }
}
