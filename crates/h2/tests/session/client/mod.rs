//! A client in memory: builds frames byte by byte, and gives the events and the output of a session.
#![allow(dead_code, reason = "each test uses a part of it")]

mod frames;

use h2::{ErrorCode, Event, Key, Limits, RequestHead, Session};

pub use frames::*;

/// An event, with its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    NoRoom,
    Head {
        key: Key,
        end: bool,
        declared: Option<u64>,
        text: String,
    },
    Data {
        key: Key,
        bytes: Vec<u8>,
        end: bool,
    },
    Trailers {
        key: Key,
        text: String,
    },
    Refused {
        key: Key,
        status: u16,
        code: &'static str,
        head_only: bool,
    },
    Gone(Key),
    Sendable,
    Drained,
    Failed(ErrorCode),
}

/// A frame that the session sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sent {
    Settings(Vec<(u16, u32)>),
    SettingsAck,
    Ping(Vec<u8>),
    PingAck(Vec<u8>),
    WindowUpdate(u32, u32),
    Reset(u32, ErrorCode),
    GoAway(u32, ErrorCode),
}

pub struct Client {
    pub session: Session,
    pub head: RequestHead,
    pub now: u64,
    pub room: bool,
    /// The bytes that were not consumed.
    pub kept: Vec<u8>,
}

impl Client {
    /// Makes a session whose SETTINGS were exchanged.
    pub fn new() -> Self {
        Self::with(&Limits::default())
    }

    pub fn with(limits: &Limits) -> Self {
        let mut client = Self::fresh(limits);
        let start = [PREFACE, &settings(&[]), &frame(SETTINGS, ACK, 0, &[])].concat();
        assert_eq!(client.feed(&start), []);
        client.sent();
        client
    }

    /// Makes a session that has read nothing.
    pub fn fresh(limits: &Limits) -> Self {
        Self {
            session: Session::new(limits, 0),
            head: RequestHead::new(),
            now: 0,
            room: true,
            kept: Vec::new(),
        }
    }

    /// Feeds bytes, and gives the events until the session needs more.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Seen> {
        self.kept.extend(bytes);
        let input = std::mem::take(&mut self.kept);
        let mut seen = Vec::new();
        let mut at = 0;
        loop {
            let rest = &input[at..];
            let (used, event) = self.session.read(rest, self.room, &mut self.head, self.now);
            assert!(used <= rest.len());
            assert!(self.session.is_consistent());
            let text = || String::from_utf8_lossy(&self.head.text).into_owned();
            let done = matches!(event, Event::More | Event::NoRoom | Event::Failed(_));
            match event {
                Event::More => {}
                Event::NoRoom => seen.push(Seen::NoRoom),
                Event::Head { key, end, declared } => seen.push(Seen::Head {
                    key,
                    end,
                    declared,
                    text: text(),
                }),
                Event::Data {
                    key,
                    start,
                    length,
                    end,
                } => seen.push(Seen::Data {
                    key,
                    bytes: rest[start..start + length].to_vec(),
                    end,
                }),
                Event::Trailers { key } => seen.push(Seen::Trailers { key, text: text() }),
                Event::Refused {
                    key,
                    status,
                    code,
                    head_only,
                } => seen.push(Seen::Refused {
                    key,
                    status,
                    code,
                    head_only,
                }),
                Event::Gone { key } => seen.push(Seen::Gone(key)),
                Event::Sendable => seen.push(Seen::Sendable),
                Event::Drained => seen.push(Seen::Drained),
                Event::Failed(code) => seen.push(Seen::Failed(code)),
            }
            at += used;
            if done {
                break;
            }
        }
        self.kept = input[at..].to_vec();
        seen
    }

    /// Gives the frames that the session has sent since the last call.
    pub fn sent(&mut self) -> Vec<Sent> {
        let out = std::mem::take(self.session.out());
        let mut rest = &out[..];
        let mut sent = Vec::new();
        while let Some((head, after)) = rest.split_at_checked(9) {
            let length = usize::from(head[1]) << 8 | usize::from(head[2]);
            let (payload, after) = after.split_at(length);
            rest = after;
            let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
            let stream = number(&head[5..]);
            sent.push(match (head[3], head[4]) {
                (SETTINGS, 0) => Sent::Settings(
                    payload
                        .chunks(6)
                        .map(|one| (u16::from_be_bytes([one[0], one[1]]), number(&one[2..])))
                        .collect(),
                ),
                (SETTINGS, ACK) => Sent::SettingsAck,
                (PING, 0) => Sent::Ping(payload.to_vec()),
                (PING, ACK) => Sent::PingAck(payload.to_vec()),
                (WINDOW_UPDATE, 0) => Sent::WindowUpdate(stream, number(payload)),
                (RST_STREAM, 0) => Sent::Reset(stream, code(number(payload))),
                (GOAWAY, 0) => Sent::GoAway(number(&payload[..4]), code(number(&payload[4..]))),
                _ => panic!("an unknown frame: {head:?}"),
            });
        }
        assert!(rest.is_empty(), "a frame that is cut off");
        sent
    }

    /// Feeds bytes that must end the connection with this code.
    #[track_caller]
    pub fn fails(mut self, bytes: &[u8], code: ErrorCode) {
        let seen = self.feed(bytes);
        assert_eq!(seen.last(), Some(&Seen::Failed(code)), "{seen:?}");
        let sent = self.sent();
        let last = sent.last();
        assert!(
            matches!(last, Some(Sent::GoAway(_, sent)) if *sent == code),
            "{sent:?}"
        );
        assert_eq!(self.feed(&get(1_001)), [Seen::Failed(code)]);
        assert_eq!(self.sent(), []);
    }

    /// Feeds bytes that must reset this stream with this code, and gives the events.
    #[track_caller]
    pub fn resets(&mut self, bytes: &[u8], stream: u32, code: ErrorCode) -> Vec<Seen> {
        let seen = self.feed(bytes);
        let sent = self.sent();
        assert!(sent.contains(&Sent::Reset(stream, code)), "{sent:?}");
        seen
    }

    /// Opens a stream, and gives its key.
    #[track_caller]
    pub fn open(&mut self, bytes: &[u8]) -> Key {
        match self.feed(bytes)[..] {
            [Seen::Head { key, .. }] => key,
            ref seen => panic!("{seen:?}"),
        }
    }
}

fn code(number: u32) -> ErrorCode {
    use ErrorCode::{
        Cancel, CompressionError, ConnectError, EnhanceYourCalm, FlowControlError, FrameSizeError,
        Http11Required, InadequateSecurity, InternalError, NoError, ProtocolError, RefusedStream,
        SettingsTimeout, StreamClosed,
    };
    [
        NoError,
        ProtocolError,
        InternalError,
        FlowControlError,
        SettingsTimeout,
        StreamClosed,
        FrameSizeError,
        RefusedStream,
        Cancel,
        CompressionError,
        ConnectError,
        EnhanceYourCalm,
        InadequateSecurity,
        Http11Required,
    ][number as usize]
}
