use wire::{Framing, Known, Limits, Method, Parts, Refusal, Span};

use super::{Fault, RequestHead, check};
use crate::hpack;
use crate::priority::Priority;

/// Collects the fields of a request. A block may stand for four thousand times its bytes, so the size of a field is
/// checked against `max_header_size` before its bytes are read.
pub(crate) struct Request<'a> {
    out: &'a mut RequestHead,
    limits: &'a Limits,
    connect_protocol: bool,
    /// Set once the request line was written, which ends the pseudo-header fields.
    parts: Option<Parts>,
    websocket: bool,
    priority: Option<Priority>,
    crumbs: u32,
    /// The bytes that the head would have in HTTP/1.1 with all fields that were read, without its last CRLF.
    /// Pseudo-header fields count with the request line, because each of the five may appear once.
    size: usize,
    has_host: bool,
    /// The first error. Fields behind it are ignored.
    fault: Option<Fault>,
}

/// The part of a head that the session needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    pub declared: Option<u64>,
    pub priority: Option<Priority>,
}

/// The most Cookie fields of a request. Each costs at least a byte, and clients send fewer than fifty.
const MOST_CRUMBS: u32 = 256;
const COOKIE: &[u8] = b"cookie";
/// The index of `cookie` in the static table (RFC 7541 Appendix A).
const COOKIE_INDEX: u8 = 32;
const HOST: &[u8] = b"host";

impl<'a> Request<'a> {
    pub fn new(out: &'a mut RequestHead, limits: &'a Limits, connect_protocol: bool) -> Self {
        out.text.clear();
        out.cookie.clear();
        out.pseudo.clear();
        Self {
            out,
            limits,
            connect_protocol,
            parts: None,
            websocket: false,
            priority: None,
            crumbs: 0,
            size: 0,
            has_host: false,
            fault: None,
        }
    }

    #[inline]
    pub fn field(&mut self, field: hpack::Field<'_>) {
        if self.fault.is_none() {
            self.fault = self.accept(field).err();
        }
    }

    /// Returns true when the method, as far as it was read, is HEAD, so that a reply must have no body.
    pub fn is_head(&self) -> bool {
        self.out.pseudo.method.get() == Some(b"HEAD")
    }

    /// Ends the head. `end`: no body follows.
    pub fn finish(&mut self, end: bool) -> Result<Facts, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.parts.is_none() {
            self.request_line()?;
        }
        if self.crumbs > 0 {
            let cookie = std::mem::take(&mut self.out.cookie);
            let appended = self.append(COOKIE, &cookie, Known::Cookie);
            self.out.cookie = cookie;
            appended?;
        }
        self.out.text.extend_from_slice(b"\r\n");
        let Some(parts) = self.parts.take() else {
            return Err(Fault::Malformed);
        };
        let out = &mut *self.out;
        parts.settle(&out.text, !end, &mut out.head)?;
        out.head.websocket = self.websocket;
        let declared = match out.head.framing {
            Framing::Length(length) => Some(length),
            Framing::None | Framing::Chunked => None,
        };
        // A declared length above 0 without a body is malformed (RFC 9113 §8.1.1).
        if end && declared.is_some_and(|length| length > 0) {
            return Err(Fault::Malformed);
        }
        Ok(Facts {
            declared,
            priority: self.priority,
        })
    }

    #[inline]
    fn accept(&mut self, field: hpack::Field<'_>) -> Result<(), Fault> {
        let hpack::Field {
            name,
            value,
            name_index: index,
            ..
        } = field;
        if name.first() == Some(&b':') {
            return match self.parts {
                None => self.out.pseudo.set(name, index, value, self.limits),
                Some(_) => Err(Fault::Malformed),
            };
        }
        if self.parts.is_none() {
            self.request_line()?;
        }
        self.count(name, index, value)?;
        match check(name, index, value)? {
            Known::Cookie => self.crumb(value),
            Known::Host if self.out.pseudo.authority.get().is_some() => self.same_host(value),
            Known::Host if value.is_empty() => Err(Refusal::HostSyntax.into()),
            known => {
                if known == Known::Other && name == b"priority" {
                    self.priority = Some(Priority::parse(value));
                }
                self.append(name, value, known)
            }
        }
    }

    /// Adds a field to the size of the head, if there is room for it.
    #[inline]
    fn count(&mut self, name: &[u8], index: u8, value: &[u8]) -> Result<(), Fault> {
        // Further Cookie fields are appended behind `; `.
        let added = if index == COOKIE_INDEX && self.crumbs > 0 {
            2 + value.len()
        } else {
            name.len() + value.len() + 4
        };
        self.size += added;
        if self.size + 2 > self.limits.max_header_size as usize {
            return Err(Refusal::HeadTooLarge.into());
        }
        Ok(())
    }

    /// Checks `host`. It must not differ from `:authority`, whose line was written (RFC 9113 §8.3.1), and may appear
    /// only once (RFC 9112 §3.2).
    fn same_host(&mut self, value: &[u8]) -> Result<(), Fault> {
        if std::mem::replace(&mut self.has_host, true) {
            return Err(Refusal::HostRepeated.into());
        }
        let authority = self.out.pseudo.authority.get();
        if authority.is_some_and(|authority| authority.eq_ignore_ascii_case(value)) {
            Ok(())
        } else {
            Err(Refusal::HostRepeated.into())
        }
    }

    /// Appends a Cookie field to the others (RFC 9113 §8.2.3).
    fn crumb(&mut self, value: &[u8]) -> Result<(), Fault> {
        let separator: &[u8] = if self.crumbs == 0 { b"" } else { b"; " };
        self.crumbs += 1;
        if self.crumbs > MOST_CRUMBS {
            return Err(Refusal::TooManyFields.into());
        }
        self.fits(COOKIE.len() + 2 + self.out.cookie.len() + separator.len() + value.len())?;
        self.out.cookie.extend_from_slice(separator);
        self.out.cookie.extend_from_slice(value);
        Ok(())
    }

    #[inline]
    fn append(&mut self, name: &[u8], value: &[u8], known: Known) -> Result<(), Fault> {
        self.fits(name.len() + 2 + value.len())?;
        if self.out.head.fields.len() >= usize::from(self.limits.max_headers) {
            return Err(Refusal::TooManyFields.into());
        }
        let field = self.out.line(name, value, known);
        let Some(parts) = &mut self.parts else {
            return Err(Fault::Malformed);
        };
        let out = &mut *self.out;
        match parts.field(&out.text, field, &mut out.head) {
            Ok(()) => Ok(()),
            // The body could not have the declared length (RFC 9113 §8.1.1).
            Err(Refusal::LengthSyntax) => Err(Fault::Malformed),
            Err(Refusal::LengthRepeated) => Err(self.repeated_length(value)),
            Err(refusal) => Err(refusal.into()),
        }
    }

    fn repeated_length(&self, value: &[u8]) -> Fault {
        let first = self.out.head.first(Known::ContentLength);
        if first.is_some_and(|first| first.of(&self.out.text) == value) {
            Refusal::LengthRepeated.into()
        } else {
            Fault::Malformed
        }
    }

    /// Returns an error when a line is too long. The size of the head was checked before.
    #[inline]
    fn fits(&self, line: usize) -> Result<(), Fault> {
        if line > self.limits.max_header_line as usize {
            return Err(Refusal::FieldLineTooLong.into());
        }
        Ok(())
    }

    /// Writes the request line and the authority.
    fn request_line(&mut self) -> Result<(), Fault> {
        let pseudo = std::mem::take(&mut self.out.pseudo);
        let written = self.write_request_line(&pseudo);
        self.out.pseudo = pseudo;
        written
    }

    fn write_request_line(&mut self, pseudo: &super::pseudo::Pseudo) -> Result<(), Fault> {
        let method = pseudo.method.get().ok_or(Fault::Malformed)?;
        let (method, target) = match (method, pseudo.protocol.get()) {
            (b"CONNECT", None) => {
                // CONNECT has no `:scheme` and no `:path` (RFC 9113 §8.5).
                if pseudo.scheme.get().is_some() || pseudo.path.get().is_some() {
                    return Err(Fault::Malformed);
                }
                (method, pseudo.authority.get().ok_or(Fault::Malformed)?)
            }
            (b"CONNECT", Some(protocol)) if self.connect_protocol => {
                // An extended CONNECT needs `:scheme`, `:path` and `:authority` (RFC 8441 §4).
                pseudo.authority.get().ok_or(Fault::Malformed)?;
                let target = self.target(b"GET", pseudo)?;
                if protocol != b"websocket" {
                    return Err(Refusal::MethodUnknown.into());
                }
                self.websocket = true;
                (&b"GET"[..], target)
            }
            (_, None) => (method, self.target(method, pseudo)?),
            (_, Some(_)) => return Err(Fault::Malformed),
        };
        if !method.iter().all(|byte| wire::is_token_byte(*byte)) || method.is_empty() {
            return Err(Fault::Malformed);
        }
        if method.len() > Method::LONGEST {
            return Err(Refusal::MethodUnknown.into());
        }
        if method.len() + target.len() + " HTTP/2\r\n\r\n".len() + 1
            > self.limits.max_header_size as usize
        {
            return Err(Refusal::HeadTooLarge.into());
        }
        let out = &mut *self.out;
        out.text.extend_from_slice(method);
        out.text.push(b' ');
        out.text.extend_from_slice(target);
        out.text.extend_from_slice(b" HTTP/2\r\n");
        self.size = out.text.len();
        let method = Span {
            start: 0,
            len: method.len() as u32,
        };
        let target = Span {
            start: method.len + 1,
            len: target.len() as u32,
        };
        let parts = Parts::begin(&out.text, method, target, self.limits, &mut out.head)?;
        self.parts = Some(parts);
        match pseudo.authority.get() {
            // The authority must not be empty (RFC 9113 §8.3.1).
            Some(b"") => Err(Refusal::HostSyntax.into()),
            Some(authority) => {
                self.count(HOST, 0, authority)?;
                self.append(HOST, authority, Known::Host)
            }
            None => Ok(()),
        }
    }

    /// Gives the path and query. Every request but CONNECT must have a scheme (RFC 9113 §8.3.1).
    fn target<'p>(
        &mut self,
        method: &[u8],
        pseudo: &'p super::pseudo::Pseudo,
    ) -> Result<&'p [u8], Fault> {
        let scheme = pseudo.scheme.get().ok_or(Fault::Malformed)?;
        let path = pseudo.path.get().ok_or(Fault::Malformed)?;
        match path {
            [b'/', ..] => {}
            b"*" if method == b"OPTIONS" => {}
            _ => return Err(Fault::Malformed),
        }
        self.out.https = scheme.eq_ignore_ascii_case(b"https");
        if !self.out.https && !scheme.eq_ignore_ascii_case(b"http") {
            return Err(Refusal::TargetForm.into());
        }
        Ok(path)
    }
}
