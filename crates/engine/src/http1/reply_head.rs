//! Reply heads: one place decides status line, Date, Content-Type, framing and Connection.

use ring::HeaderBlock;
use ring::layout::CONTENT_TYPES;
use wire::Version;
use wire::reply::{Date, forbidden_name, status_line, valid_name, valid_value, write_decimal};

/// The index of problem+json in `CONTENT_TYPES`.
pub const PROBLEM: usize = 5;

/// How the body is delimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyFraming {
    Length(u64),
    Chunked,
    /// The reply is of HTTP/1.0 and has no length.
    UntilClose,
}

pub struct ReplyHead<'a> {
    pub status: u16,
    pub content_type: u8,
    pub headers: HeaderBlock<'a>,
    pub framing: BodyFraming,
    pub close: bool,
    pub version: Version,
}

/// A head that must not be sent: its header block is cut short, a name is not a token, a value has CR, LF, NUL or
/// another control, a field is one that the engine writes, or the status is not from 200 to 599.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid;

/// The beginning of most replies, rendered once a second: status line 200, Date, Content-Type, and `Content-Length: `.
pub struct Templates {
    second: u64,
    date: [u8; 29],
    ok: [Vec<u8>; CONTENT_TYPES.len()],
}

impl Templates {
    pub fn new(second: u64) -> Self {
        let mut templates = Self {
            second: u64::MAX,
            date: [0; 29],
            ok: Default::default(),
        };
        templates.refresh(second);
        templates
    }

    pub fn refresh(&mut self, second: u64) {
        if self.second == second {
            return;
        }
        self.second = second;
        self.date = Date::render(second);
        for (id, template) in self.ok.iter_mut().enumerate() {
            template.clear();
            write_common(template, 200, id, &self.date);
            template.extend_from_slice(b"Content-Length: ");
        }
    }

    /// Appends the head, with its final empty line, to `out`. On `Err` the caller removes what was appended.
    pub fn write(&self, out: &mut Vec<u8>, head: ReplyHead) -> Result<(), Invalid> {
        let content_type = usize::from(head.content_type);
        if content_type >= CONTENT_TYPES.len() || !(200..600).contains(&head.status) {
            return Err(Invalid);
        }
        match head.framing {
            BodyFraming::Length(length) if head.status == 200 => {
                out.extend_from_slice(&self.ok[content_type]);
                write_decimal(out, length);
                out.extend_from_slice(b"\r\n");
            }
            framing => {
                write_common(out, head.status, content_type, &self.date);
                // RFC 9110 §15.5.22, §7.8: the protocol to use instead, for this connection. HTTP/1.0 has no Upgrade.
                if names_upgrade(head.status, head.version) {
                    let protocol: &[u8] = if names_web_socket(head.headers.clone()) {
                        b"websocket"
                    } else {
                        b"HTTP/1.1"
                    };
                    out.extend_from_slice(b"Upgrade: ");
                    out.extend_from_slice(protocol);
                    out.extend_from_slice(b"\r\nConnection: upgrade");
                    out.extend_from_slice(if head.close { b", close\r\n" } else { b"\r\n" });
                }
                // RFC 9110 §8.6: no Content-Length in 204; RFC 9112 §6.1: no Transfer-Encoding in 204 and 304.
                let bodiless = head.status == 204 || head.status == 304;
                match framing {
                    BodyFraming::Length(length) if !bodiless => {
                        out.extend_from_slice(b"Content-Length: ");
                        write_decimal(out, length);
                        out.extend_from_slice(b"\r\n");
                    }
                    BodyFraming::Chunked if !bodiless => {
                        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
                    }
                    _ => {}
                }
            }
        }
        for pair in head.headers {
            let (name, value) = pair.ok_or(Invalid)?;
            // The content type is either the record's or the block's, never both.
            if content_type != 0 && name.eq_ignore_ascii_case(b"content-type") {
                return Err(Invalid);
            }
            write_field(out, name, value)?;
        }
        if head.close {
            if !names_upgrade(head.status, head.version) {
                out.extend_from_slice(b"Connection: close\r\n");
            }
        } else if head.version == Version::Http10 {
            out.extend_from_slice(b"Connection: keep-alive\r\n");
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    /// Writes a reply of the engine itself, as problem+json (RFC 9457).
    pub fn write_problem(
        &self,
        out: &mut Vec<u8>,
        status: u16,
        code: &str,
        close: bool,
        head_only: bool,
    ) {
        let body = problem(status, code);
        self.write_problem_body(out, status, &body, close, head_only);
    }

    /// Writes a reply of the engine itself that says in a sentence what is wrong, and closes the connection. JSON needs
    /// no escapes for `detail`.
    pub fn write_explained_problem(
        &self,
        out: &mut Vec<u8>,
        status: u16,
        code: &str,
        detail: &str,
    ) {
        let detail = format!(",\"detail\":\"{detail}\"");
        let body = explained_problem(status, code, &detail);
        self.write_problem_body(out, status, &body, true, false);
    }

    fn write_problem_body(
        &self,
        out: &mut Vec<u8>,
        status: u16,
        body: &[u8],
        close: bool,
        head_only: bool,
    ) {
        write_common(out, status, PROBLEM, &self.date);
        out.extend_from_slice(b"Content-Length: ");
        write_decimal(out, body.len() as u64);
        out.extend_from_slice(if close {
            b"\r\nConnection: close\r\n"
        } else {
            b"\r\n"
        });
        if status == 503 {
            out.extend_from_slice(b"Retry-After: 1\r\n");
        }
        out.extend_from_slice(b"\r\n");
        if !head_only {
            out.extend_from_slice(body);
        }
    }
}

/// The body of a reply of the engine itself, as problem+json (RFC 9457).
pub fn problem(status: u16, code: &str) -> Vec<u8> {
    explained_problem(status, code, "")
}

/// Gives the body, with the members in `more` behind the others.
fn explained_problem(status: u16, code: &str, more: &str) -> Vec<u8> {
    let line = status_line(status);
    let title = line.get(13..line.len() - 2).unwrap_or_default();
    let mut body = Vec::with_capacity(96);
    body.extend_from_slice(b"{\"type\":\"about:blank\",\"title\":\"");
    body.extend_from_slice(title);
    body.extend_from_slice(b"\",\"status\":");
    write_decimal(&mut body, u64::from(status));
    body.extend_from_slice(b",\"code\":\"");
    body.extend_from_slice(code.as_bytes());
    body.push(b'"');
    body.extend_from_slice(more.as_bytes());
    body.push(b'}');
    body
}

fn names_upgrade(status: u16, version: Version) -> bool {
    status == 426 && version != Version::Http10
}

/// True for the headers of a 426 that asks for a WebSocket: it says which version there is (RFC 6455 §4.4).
fn names_web_socket(mut headers: HeaderBlock) -> bool {
    headers.any(|pair| {
        pair.is_some_and(|(name, _)| name.eq_ignore_ascii_case(b"sec-websocket-version"))
    })
}

/// Appends an interim reply (102 to 199), which has a head alone. On `Err` the caller removes what was appended.
pub fn write_interim(out: &mut Vec<u8>, status: u16, headers: HeaderBlock) -> Result<(), Invalid> {
    // Only the engine gives 100, and after 101 the bytes would no longer be HTTP.
    if !(102..200).contains(&status) {
        return Err(Invalid);
    }
    out.extend_from_slice(status_line(status));
    for pair in headers {
        let (name, value) = pair.ok_or(Invalid)?;
        write_field(out, name, value)?;
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// Appends the reply 101 to an upgrade to WebSocket (RFC 6455 §4.2.2). On `Err` the caller removes what was appended.
pub fn write_switch(
    out: &mut Vec<u8>,
    accept: &[u8; 28],
    extensions: Option<&str>,
    headers: HeaderBlock,
) -> Result<(), Invalid> {
    out.extend_from_slice(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    );
    write_field(out, b"Sec-WebSocket-Accept", accept)?;
    if let Some(extensions) = extensions {
        write_field(out, b"Sec-WebSocket-Extensions", extensions.as_bytes())?;
    }
    for pair in headers {
        let (name, value) = pair.ok_or(Invalid)?;
        write_field(out, name, value)?;
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

#[inline]
fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) -> Result<(), Invalid> {
    if !valid_name(name) || forbidden_name(name) || !valid_value(value) {
        return Err(Invalid);
    }
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
    Ok(())
}

fn write_common(out: &mut Vec<u8>, status: u16, content_type: usize, date: &[u8; 29]) {
    out.extend_from_slice(status_line(status));
    out.extend_from_slice(b"Date: ");
    out.extend_from_slice(date);
    out.extend_from_slice(b"\r\n");
    if content_type != 0 {
        out.extend_from_slice(b"Content-Type: ");
        out.extend_from_slice(CONTENT_TYPES[content_type].as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: &[u8], value: &[u8]) -> Vec<u8> {
        let mut bytes = (name.len() as u16).to_le_bytes().to_vec();
        bytes.extend((value.len() as u16).to_le_bytes());
        bytes.extend(name);
        bytes.extend(value);
        bytes
    }

    fn render(status: u16, content_type: u8, block: &[u8]) -> Result<String, Invalid> {
        let mut out = Vec::new();
        let head = ReplyHead {
            status,
            content_type,
            headers: HeaderBlock::new(block),
            framing: BodyFraming::Length(3),
            close: false,
            version: Version::Http11,
        };
        Templates::new(0).write(&mut out, head)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_template_and_the_long_way_agree() {
        let ok = render(200, 1, &[]).unwrap();
        assert_eq!(
            ok,
            "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
             Content-Type: application/json; charset=utf-8\r\nContent-Length: 3\r\n\r\n"
        );
        let created = render(201, 1, &[]).unwrap();
        assert_eq!(created, ok.replace("200 OK", "201 Created"));
    }

    #[test]
    fn the_engine_answers_with_problem_json() {
        let mut out = Vec::new();
        Templates::new(0).write_problem(&mut out, 503, "E_OVERLOADED", true, false);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\r\nContent-Type: application/problem+json; charset=utf-8\r\n"));
    }

    #[test]
    fn a_204_has_neither_length_nor_coding() {
        assert!(!render(204, 0, &[]).unwrap().contains("Content-Length"));
    }

    #[test]
    fn a_426_names_the_protocol_to_use() {
        let head = render(426, PROBLEM as u8, &[]).unwrap();
        assert!(head.contains("\r\nUpgrade: HTTP/1.1\r\nConnection: upgrade\r\n"));
        assert!(!render(425, PROBLEM as u8, &[]).unwrap().contains("Upgrade"));
        let head = render(426, PROBLEM as u8, &block(b"Sec-WebSocket-Version", b"13")).unwrap();
        assert!(head.contains("\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"));
    }

    #[test]
    fn every_byte_in_names_and_values_is_accepted_or_refused_by_the_rfc() {
        for byte in 0..=255u8 {
            let token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            assert_eq!(
                render(201, 1, &block(&[b'x', byte], b"v")).is_ok(),
                token,
                "name byte {byte}"
            );
            let text = byte == b'\t' || (byte >= 0x20 && byte != 0x7f);
            let mut out = Vec::new();
            let value = block(b"x", &[b'a', byte, b'b']);
            let head = ReplyHead {
                status: 201,
                content_type: 1,
                headers: HeaderBlock::new(&value),
                framing: BodyFraming::Chunked,
                close: true,
                version: Version::Http11,
            };
            assert_eq!(
                Templates::new(0).write(&mut out, head).is_ok(),
                text,
                "value byte {byte}"
            );
        }
    }

    #[test]
    fn an_interim_reply_has_fields_alone() {
        let interim = |status, block: &[u8]| {
            let mut out = Vec::new();
            write_interim(&mut out, status, HeaderBlock::new(block))
                .map(|()| String::from_utf8(out).unwrap())
        };
        let link = block(b"link", b"</a.css>; rel=preload");
        assert_eq!(
            interim(103, &link).unwrap(),
            "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n"
        );
        for status in [0, 99, 100, 101, 200, 600] {
            assert_eq!(interim(status, &link), Err(Invalid), "{status}");
        }
        for (name, value) in [
            (&b"content-length"[..], &b"3"[..]),
            (b"transfer-encoding", b"chunked"),
            (b"connection", b"close"),
            (b"", b"v"),
            (b"a b", b"v"),
            (b"a", b"v\r\nb: c"),
        ] {
            assert_eq!(interim(103, &block(name, value)), Err(Invalid), "{name:?}");
        }
        assert_eq!(interim(103, &link[..9]), Err(Invalid));
    }

    #[test]
    fn two_lengths_are_impossible() {
        for name in [
            &b"content-length"[..],
            b"Content-Length",
            b"Transfer-Encoding",
            b"connection",
        ] {
            assert_eq!(render(200, 1, &block(name, b"1")), Err(Invalid));
        }
        assert_eq!(
            render(200, 1, &block(b"Content-Type", b"a/b")),
            Err(Invalid)
        );
        assert!(render(200, 0, &block(b"Content-Type", b"a/b")).is_ok());
        assert_eq!(render(199, 0, &[]), Err(Invalid));
        assert_eq!(render(600, 0, &[]), Err(Invalid));
    }
}
