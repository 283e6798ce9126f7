use std::mem::MaybeUninit;

use crate::semantics::Semantics;
use crate::target::Target;
use crate::{Field, Framing, Known, Limits, Method, PathKind, Refusal, Span, slow_path};

/// The versions that are supported. Any other is answered with 505.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Version {
    Http10,
    #[default]
    Http11,
    /// A head of RFC 9113. [`parse_head`] never gives it, because a request line cannot name it.
    Http2,
}

/// Whether the head is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// More bytes are needed: call again with the longer buffer and the same `scanned`.
    Partial,
    Complete,
}

/// A request head. One value serves any number of requests: [`parse_head`] clears it and keeps its memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Head {
    pub method: Method,
    pub version: Version,
    /// The request target as sent.
    pub target: Span,
    /// The raw path in the target, without query, scheme and authority. `path_kind` says how to read it.
    pub path: Span,
    pub path_kind: PathKind,
    /// The raw bytes after the first `?` of the target. They are empty if nothing follows it.
    pub query: Option<Span>,
    /// Field lines in the order received.
    pub fields: Vec<Field>,
    /// One bit for each [`Known`] id among `fields`, [`Known::Other`] included.
    pub known: u32,
    pub framing: Framing,
    /// Whether the connection may carry another request after this one (RFC 9112 §9.3). Never after CONNECT: what its
    /// client sends next may be meant for the tunnel it asked for.
    pub keep_alive: bool,
    /// Whether the client waits for `100 Continue` before it sends the body: HTTP/1.1, asked for, and a body is
    /// announced (RFC 9110 §10.1.1).
    pub expect_continue: bool,
    /// A GET of HTTP/1.1 that asks for a WebSocket: Upgrade names `websocket`, and Connection has `upgrade` (RFC 9110
    /// §7.8, RFC 6455 §4.1). Other protocols in Upgrade are ignored.
    pub websocket: bool,
    /// The authority of an absolute-form or authority-form target, else the value of Host. It is empty without either.
    pub host: Span,
    /// The value of the first Content-Type.
    pub content_type: Option<Span>,
    /// Bytes of the head, with the final CRLF and a leading empty line.
    pub len: u32,
}

impl Head {
    /// An empty head with room for a browser's fields.
    pub fn new() -> Self {
        Self {
            fields: Vec::with_capacity(32),
            ..Self::default()
        }
    }

    /// Whether a field with this id is present.
    #[inline]
    pub fn has(&self, known: Known) -> bool {
        self.known & known.bit() != 0
    }

    /// The value of the first field with this id.
    pub fn first(&self, known: Known) -> Option<Span> {
        if !self.has(known) {
            return None;
        }
        self.fields
            .iter()
            .find(|field| field.known == known)
            .map(|field| field.value)
    }

    pub(crate) fn clear(&mut self) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        *self = Self {
            fields,
            ..Self::default()
        };
    }
}

/// Parses the request head at the start of `buf` into `head`.
///
/// `scanned` says how far an earlier call with the same bytes looked: 0 on the first call, and set to 0 again when the
/// head is complete. The first call tries the whole head at once; after a `Partial` only the new bytes are searched for
/// its end, and it is parsed once when that is there, so a head that arrives byte by byte costs linear time
/// (bench `split/`). Verdict and refusal do not depend on the cut.
///
/// Only the first `max_header_size` bytes of `buf` are looked at. Bytes after the head are not touched. After a refusal
/// `head` is unspecified and the connection must be closed.
pub fn parse_head(
    buf: &[u8],
    scanned: &mut u32,
    limits: &Limits,
    head: &mut Head,
) -> Result<Progress, Refusal> {
    let window = &buf[..buf.len().min(limits.max_header_size as usize)];
    let mut fault = None;
    if *scanned == 0 {
        match attempt(window, limits, head) {
            Ok(Progress::Complete) => return Ok(Progress::Complete),
            Ok(Progress::Partial) => {}
            Err(why) => fault = Some(why),
        }
    }
    resume(window, scanned, limits, head, fault)
}

/// Parses heads that are not complete at once, or that are wrong.
#[cold]
fn resume(
    window: &[u8],
    scanned: &mut u32,
    limits: &Limits,
    head: &mut Head,
    fault: Option<Refusal>,
) -> Result<Progress, Refusal> {
    let Some(end) = slow_path::scan(window, *scanned as usize, limits)? else {
        if window.len() >= limits.max_header_size as usize {
            return Err(Refusal::HeadTooLarge);
        }
        *scanned = window.len() as u32;
        return Ok(Progress::Partial);
    };
    if let Some(fault) = fault {
        return Err(fault);
    }
    match attempt(&window[..end], limits, head)? {
        Progress::Complete => {
            *scanned = 0;
            Ok(Progress::Complete)
        }
        Progress::Partial => Err(Refusal::Malformed),
    }
}

/// How many field lines are parsed without an allocation, in 4 KiB of stack.
const STACK_FIELDS: usize = 128;

/// Parses a whole head. Every fault of syntax is `Malformed` here; `slow_path::scan` gives it a better name.
fn attempt(window: &[u8], limits: &Limits, head: &mut Head) -> Result<Progress, Refusal> {
    let most = limits.max_headers as usize;
    let mut slots = [const { MaybeUninit::uninit() }; STACK_FIELDS];
    let progress = read(window, &mut slots[..most.min(STACK_FIELDS)], limits, head);
    if most > STACK_FIELDS && progress == Err(Refusal::TooManyFields) {
        let mut slots = Vec::with_capacity(most);
        return read(
            window,
            &mut slots.spare_capacity_mut()[..most],
            limits,
            head,
        );
    }
    progress
}

#[inline]
fn read<'b>(
    window: &'b [u8],
    slots: &mut [MaybeUninit<httparse::Header<'b>>],
    limits: &Limits,
    head: &mut Head,
) -> Result<Progress, Refusal> {
    let mut request = httparse::Request::new(&mut []);
    let len = match request.parse_with_uninit_headers(window, slots) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) => return Ok(Progress::Partial),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooManyFields),
        Err(_) => return Err(Refusal::Malformed),
    };
    let (Some(method), Some(target), Some(version)) =
        (request.method, request.path, request.version)
    else {
        return Err(Refusal::Malformed);
    };
    head.clear();
    head.len = len as u32;
    head.version = if version == 0 {
        Version::Http10
    } else {
        Version::Http11
    };
    request_line(window, method.as_bytes(), target.as_bytes(), limits, head)?;

    let mut semantics = Semantics::default();
    let mut line_start = head.target.end() as usize + " HTTP/1.1\r\n".len();
    let mut longest = 0;
    head.fields.reserve(request.headers.len());
    for header in &*request.headers {
        let name = Span::within(window, header.name.as_bytes());
        let value = Span::within(window, header.value);
        let known = Known::of(header.name.as_bytes());
        let start = name.start as usize;
        ends_in_crlf(window, start)?;
        longest = longest.max(start - line_start);
        line_start = start;
        semantics.read(known, header.value, value, head)?;
        head.known |= known.bit();
        head.fields.push(Field { name, value, known });
    }
    let last = len - 2;
    ends_in_crlf(window, last)?;
    ends_in_crlf(window, len)?;
    longest = longest.max(last - line_start);
    if longest > limits.max_header_line as usize + 2 {
        return Err(Refusal::FieldLineTooLong);
    }
    semantics.settle(window, head)?;
    Ok(Progress::Complete)
}

/// `httparse` takes LF alone as the end of a line (RFC 9112 §2.2 permits it); it never takes CR alone.
#[inline(always)]
fn ends_in_crlf(window: &[u8], next_line: usize) -> Result<(), Refusal> {
    if window[next_line - 2] == b'\r' {
        Ok(())
    } else {
        Err(Refusal::BareLf)
    }
}

#[inline(always)]
pub(crate) fn request_line(
    window: &[u8],
    method: &[u8],
    target: &[u8],
    limits: &Limits,
    head: &mut Head,
) -> Result<(), Refusal> {
    let start = Span::within(window, method).start;
    if start != 0 && !(start == 2 && window.starts_with(b"\r\n")) {
        return Err(Refusal::EmptyLines);
    }
    if target.len() > limits.max_url_length as usize {
        return Err(Refusal::TargetTooLong);
    }
    head.method = Method::from_bytes(method, &limits.methods).ok_or(Refusal::MethodUnknown)?;
    head.target = Span::within(window, target);
    let base = head.target.start;
    let shift = |span: Span| Span {
        start: span.start + base,
        ..span
    };
    let parts = Target::parse(target, head.method)?;
    head.path = shift(parts.path);
    head.path_kind = parts.kind;
    head.query = parts.query.map(shift);
    head.host = parts.authority.map(shift).unwrap_or_default();
    Ok(())
}
