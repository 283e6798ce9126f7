//! The TLS side of one connection.

use std::sync::Arc;

use rustls::HandshakeKind;
use rustls::pki_types::UnixTime;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::time_provider::TimeProvider;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, InsufficientSizeError,
    UnbufferedStatus, WriteTraffic,
};

use crate::certificates::take_named;
use crate::config::Settings;
use crate::fault::Fault;
use crate::info::Info;
use crate::scratch::Scratch;

/// The most ciphertext that waits for the rest of a message. A handshake message is at most 64 KiB and may come in
/// several records. Other records are at most 16 KiB and 261 bytes (RFC 8446 §5.2).
pub(crate) const KEPT_MOST: usize = 81_920;
/// The most plaintext of one record (RFC 8446 §5.1).
const RECORD_BYTES: usize = 16_384;
/// The overhead of a record beside its plaintext: its header, the nonce of TLS 1.2, a content type and a tag are at
/// most 30 bytes.
const RECORD_OVERHEAD: usize = 32;
/// The first size of the room for a handshake record. Most are shorter.
const QUEUED_BYTES: usize = 1024;

/// A fatal `decode_error` (RFC 8446 §6.2) as a record without encryption.
const DECODE_ERROR: [u8; 7] = [21, 3, 3, 0, 2, 2, 50];

/// The result of received bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fed {
    /// The number of bytes of plaintext in the room.
    pub plaintext: usize,
    /// True once the peer's `close_notify` was received: it sends nothing more.
    pub ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Open,
    /// The peer's `close_notify` was received. The server may still send.
    PeerClosed,
    /// Nothing more is read or sent.
    Failed,
}

/// # Invariants
///
/// - `kept` has no whole record, unless the link failed.
/// - Each call of the library gets `kept` as its input, because the library stores offsets in it.
pub struct Link {
    connection: UnbufferedServerConnection,
    /// Received ciphertext of an incomplete record or message.
    kept: Vec<u8>,
    /// Plaintext for which there was no room.
    held: Vec<u8>,
    server_name: Option<Box<str>>,
    /// Verifies the client's certificate, if clients are asked for one.
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    clock: Arc<dyn TimeProvider>,
    state: State,
    /// True until the first bytes were received.
    fresh: bool,
    /// True once something was sent.
    answered: bool,
    closed: bool,
}

impl Link {
    /// # Errors
    ///
    /// Fails if the library refuses the settings for a connection.
    pub fn new(settings: &Settings) -> Result<Self, Fault> {
        let connection = UnbufferedServerConnection::new(settings.config.clone());
        Ok(Self {
            connection: connection.map_err(Fault::Tls)?,
            kept: Vec::new(),
            held: Vec::new(),
            server_name: None,
            verifier: settings.verifier.clone(),
            clock: Arc::clone(&settings.config.time_provider),
            state: State::Open,
            fresh: true,
            answered: false,
            closed: false,
        })
    }

    /// Returns true when the handshake is not done yet.
    #[inline]
    pub fn handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns true when [`feed`](Self::feed) has plaintext although nothing more was received.
    #[inline]
    pub fn pending(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns true when the link has ended by a fault.
    pub fn failed(&self) -> bool {
        self.state == State::Failed
    }

    /// Returns true when received bytes are discarded: after a fault and after [`close`](Self::close).
    pub fn throws_away(&self) -> bool {
        self.closed || self.state == State::Failed
    }

    /// Gives the result of the handshake.
    pub fn info(&self) -> Info<'_> {
        Info::new(&self.connection, self.server_name.as_deref())
    }

    /// Gives the protocol that ALPN chose.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// Gives the room into which ciphertext must be received before [`feed`](Self::feed) is called.
    pub fn room<'a>(&self, scratch: &'a mut Scratch) -> &'a mut [u8] {
        scratch.begin(&self.kept)
    }

    /// Takes plaintext for which there was no room before.
    pub fn take_held(&mut self, room: &mut [u8]) -> usize {
        let length = self.held.len().min(room.len());
        room[..length].copy_from_slice(&self.held[..length]);
        if length == self.held.len() {
            self.held = Vec::new();
        } else {
            self.held.drain(..length);
        }
        length
    }

    /// Takes `received` bytes, which are in the [`room`](Self::room). Plaintext goes to `plain`. The bytes to send are
    /// added to `output`, also after a fault.
    ///
    /// # Errors
    ///
    /// Fails once, when the peer makes an error. Later bytes of the peer are discarded.
    pub fn feed(
        &mut self,
        scratch: &mut Scratch,
        received: usize,
        plain: &mut [u8],
        output: &mut Vec<u8>,
    ) -> Result<Fed, Fault> {
        let mut fed = Fed {
            plaintext: self.take_held(plain),
            ended: false,
        };
        let bytes = scratch.filled(received);
        if self.throws_away() {
            return Ok(fed);
        }
        if self.fresh && !bytes.is_empty() {
            self.fresh = false;
            if is_plain_http(bytes) {
                self.fail();
                return Err(Fault::PlainHttp);
            }
        }
        let handshaking = self.handshaking();
        if handshaking {
            // The `ClientHello` of another link may have left a name.
            take_named();
        }
        let mut at = 0;
        let mut result = self.process(bytes, &mut at, plain, &mut fed, output);
        if handshaking && !self.handshaking() && result.is_ok() {
            result = self.verify_again();
        }
        if handshaking && let Some(name) = take_named() {
            self.server_name = Some(name);
        }
        let rest = bytes.get(at..).unwrap_or_default();
        if let Err(error) = result {
            self.fail();
            return Err(error);
        }
        if rest.len() > KEPT_MOST {
            self.fail();
            return Err(Fault::TooMuch);
        }
        if rest.is_empty() {
            if self.kept.capacity() > 0 {
                self.kept = Vec::new();
            }
        } else {
            self.kept.clear();
            self.kept.extend_from_slice(rest);
        }
        if self.state == State::PeerClosed {
            // Bytes behind a close_notify are ignored (RFC 8446 §6.1).
            self.kept = Vec::new();
        }
        Ok(fed)
    }

    /// Verifies the certificate of a client that has resumed a session. The library takes the certificate from the
    /// ticket without a check, and gives the client new tickets. Without this a client could renew its session without
    /// limit after its certificate has expired.
    fn verify_again(&mut self) -> Result<(), Fault> {
        let Some(verifier) = self.verifier.take() else {
            return Ok(());
        };
        if self.connection.handshake_kind() != Some(HandshakeKind::Resumed) {
            return Ok(());
        }
        let Some([own, issuers @ ..]) = self.connection.peer_certificates() else {
            return Ok(());
        };
        let now = self.clock.current_time().unwrap_or_else(UnixTime::now);
        let outcome = verifier.verify_client_cert(own, issuers, now);
        outcome.map(|_| ()).map_err(Fault::Tls)
    }

    /// Runs the library until it needs more input.
    fn process(
        &mut self,
        bytes: &mut [u8],
        at: &mut usize,
        plain: &mut [u8],
        fed: &mut Fed,
        output: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        loop {
            let input = bytes.get_mut(*at..).unwrap_or_default();
            let UnbufferedStatus { discard, state } = self.connection.process_tls_records(input);
            let mut done = false;
            let mut failure = None;
            match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(Fault::Tls)?;
                        take(record.payload, plain, fed, &mut self.held);
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    encode(output, &mut data);
                    self.answered = true;
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => {
                    self.state = State::PeerClosed;
                    fed.ended = true;
                }
                // The rest is `WriteTraffic` and `BlockedHandshake`, which need more input. Early data is never
                // accepted.
                Ok(_) => done = true,
                Err(error) => failure = Some(error),
            }
            *at += discard;
            if let Some(error) = failure {
                let before = output.len();
                self.send_alert(bytes.get_mut(*at..).unwrap_or_default(), output);
                if output.len() == before && !self.answered {
                    // The library has no alert for some faults of the first record.
                    output.extend_from_slice(&DECODE_ERROR);
                }
                return Err(Fault::Tls(error));
            }
            if done {
                return Ok(());
            }
        }
    }

    /// Writes the alert of a fault. The library gives its queued bytes before it reads its input, and it must not read
    /// that input again.
    fn send_alert(&mut self, input: &mut [u8], output: &mut Vec<u8>) {
        while self.connection.wants_write()
            && let Ok(ConnectionState::EncodeTlsData(mut data)) =
                self.connection.process_tls_records(input).state
        {
            encode(output, &mut data);
        }
    }

    /// Adds `plain` to `output` as records of at most 16 KiB. Before the handshake is done, and after a fault or
    /// [`close`](Self::close), there are no keys to use, and `plain` is dropped. The keys of TLS 1.2 are used up after
    /// about 2^24 records; then the link has [failed](Self::failed).
    pub fn seal(&mut self, plain: &[u8], output: &mut Vec<u8>) {
        if plain.is_empty() || self.state == State::Failed || self.closed {
            return;
        }
        let records = plain.len().div_ceil(RECORD_BYTES);
        let most = plain.len() + records * RECORD_OVERHEAD;
        let mut exhausted = false;
        self.write_traffic(output, most, |traffic, room| {
            let sealed = traffic.encrypt(plain, room);
            exhausted = matches!(sealed, Err(EncryptError::EncryptExhausted));
            sealed
        });
        if exhausted {
            self.fail();
        }
    }

    /// Adds a `close_notify` to `output`, once. Nothing more is sent (RFC 8446 §6.1), and later bytes of the peer are
    /// discarded.
    pub fn close(&mut self, output: &mut Vec<u8>) {
        if self.state == State::Failed || self.closed {
            return;
        }
        self.write_traffic(output, 2 + RECORD_OVERHEAD, |traffic, room| {
            traffic.queue_close_notify(room)
        });
        self.closed = true;
    }

    /// Lets the library write into `output` as soon as possible, which is after its own queued bytes.
    fn write_traffic(
        &mut self,
        output: &mut Vec<u8>,
        most: usize,
        mut encrypt: impl FnMut(&mut Traffic<'_>, &mut [u8]) -> Result<usize, EncryptError>,
    ) {
        let mut kept = std::mem::take(&mut self.kept);
        loop {
            let UnbufferedStatus { discard, state } =
                self.connection.process_tls_records(&mut kept);
            let mut done = true;
            match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    write(output, most, |room| match encrypt(&mut traffic, room) {
                        Err(EncryptError::InsufficientSize(wanted)) => Err(Some(wanted)),
                        Err(EncryptError::EncryptExhausted) => Err(None),
                        Ok(length) => Ok(length),
                    });
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    encode(output, &mut data);
                    done = false;
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    done = false;
                }
                Ok(_) => {}
                Err(_) => self.state = State::Failed,
            }
            kept.drain(..discard.min(kept.len()));
            if done {
                break;
            }
        }
        self.kept = kept;
    }

    fn fail(&mut self) {
        self.state = State::Failed;
        self.kept = Vec::new();
    }
}

type Traffic<'a> = WriteTraffic<'a, ServerConnectionData>;

/// Adds the queued bytes of the library to `output`.
fn encode(output: &mut Vec<u8>, data: &mut EncodeTlsData<'_, ServerConnectionData>) {
    write(output, QUEUED_BYTES, |room| match data.encode(room) {
        Err(EncodeError::InsufficientSize(wanted)) => Err(Some(wanted)),
        Err(EncodeError::AlreadyEncoded) => Err(None),
        Ok(length) => Ok(length),
    });
}

/// Puts plaintext into the room behind the bytes that are there, and the rest into `held`.
fn take(payload: &[u8], plain: &mut [u8], fed: &mut Fed, held: &mut Vec<u8>) {
    let room = plain.get_mut(fed.plaintext..).unwrap_or_default();
    // Held bytes go before all new ones.
    let fits = if held.is_empty() {
        payload.len().min(room.len())
    } else {
        0
    };
    room[..fits].copy_from_slice(&payload[..fits]);
    fed.plaintext += fits;
    held.extend_from_slice(&payload[fits..]);
}

/// Appends the output of `encode` to `output`. `most` is the expected length; `encode` gives the length that it needs
/// if that is more.
fn write(
    output: &mut Vec<u8>,
    most: usize,
    mut encode: impl FnMut(&mut [u8]) -> Result<usize, Option<InsufficientSizeError>>,
) {
    let start = output.len();
    let mut room = most;
    let written = loop {
        output.resize(start + room, 0);
        match encode(&mut output[start..]) {
            Ok(length) => break length,
            Err(Some(wanted)) if wanted.required_size > room => room = wanted.required_size,
            Err(_) => break 0,
        }
    };
    output.truncate(start + written);
}

/// Returns true when the first bytes are a request of HTTP/1 or the preface of HTTP/2: up to four bytes before a space
/// are capital letters. A TLS record begins with a byte below 32.
fn is_plain_http(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4)];
    let method = start.split(|&byte| byte == b' ').next();
    method.is_some_and(|method| !method.is_empty() && method.iter().all(u8::is_ascii_uppercase))
}
