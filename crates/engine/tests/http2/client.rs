//! A client of HTTP/2 that knows the frames by itself, over a socket whose reads do not wait.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use h2::hpack::Decoder;

use super::driver::http2::{
    DATA, END_STREAM, Frame, GOAWAY, HEADERS, PREFACE, RST_STREAM, block, data, headers, settings,
};
use super::driver::{Driver, send, text};

pub struct Client {
    pub stream: TcpStream,
    received: Vec<u8>,
    /// Every frame that came, in order.
    pub frames: Vec<Frame>,
    pub ended: bool,
    next: u32,
}

/// What came of one stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// Without those of every reply: Date and Content-Type.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, String)>,
    /// The statuses of interim replies.
    pub interim: Vec<u16>,
    pub whole: bool,
    /// The code of `RST_STREAM`.
    pub reset: Option<u32>,
}

/// A server of `ROUTES` that takes HTTP/2 on its plain port.
pub fn server(values: &[f64]) -> Driver {
    let mut driver = Driver::new(values);
    driver.engine.set_http2(driver.server, true);
    driver
}

impl Client {
    pub fn new(driver: &Driver) -> Self {
        Self::with(driver, &[])
    }

    /// A client with these settings.
    pub fn with(driver: &Driver, pairs: &[(u16, u32)]) -> Self {
        let mut client = Self::silent(driver);
        client.send(&[PREFACE, &settings(pairs)].concat());
        client
    }

    /// A client that has sent nothing.
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

    /// The id of the next request.
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

    /// Turns until `done`.
    pub fn until(&mut self, driver: &mut Driver, done: impl Fn(&Self) -> bool) {
        driver.until(|_| {
            self.receive();
            done(self)
        });
    }

    /// Turns until a frame of this kind has come, and gives the first.
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

    /// Turns until a stream is over, and gives what came of it.
    pub fn reply(&mut self, driver: &mut Driver, id: u32) -> Reply {
        self.until(driver, |client| client.is_over(id));
        self.reply_so_far(id)
    }

    pub fn reply_so_far(&self, id: u32) -> Reply {
        let mut reply = Reply::default();
        // The server uses no dynamic table.
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

    /// The code of GOAWAY, once the connection has ended.
    pub fn end(&mut self, driver: &mut Driver) -> Option<u32> {
        self.until(driver, |client| client.ended);
        let last = self.frames.iter().rfind(|frame| frame.kind == GOAWAY);
        last.map(Frame::code)
    }

    /// Turns until the server has read all that was sent: it answers a request that JavaScript never sees.
    pub fn settle(&mut self, driver: &mut Driver) {
        let id = self.id();
        self.send(&headers(id, &block("HEAD", "/a/../b", &[]), true));
        self.until(driver, |client| client.is_over(id));
    }
}
