use crate::framing::{Connection, content_length, transfer_coding};
use crate::{Framing, Head, Known, Method, Refusal, Span, Version, host};

/// Collects the fields that decide framing, persistence and authority.
#[derive(Default)]
pub(crate) struct Semantics {
    host: Option<Span>,
    length: Option<(u64, Span)>,
    coding: Option<Span>,
    connection: Connection,
    expects: bool,
    expects_other: bool,
    /// Upgrade names `websocket`.
    websocket: bool,
}

impl Semantics {
    #[inline]
    pub(crate) fn read(
        &mut self,
        known: Known,
        value: &[u8],
        span: Span,
        head: &mut Head,
    ) -> Result<(), Refusal> {
        match known {
            Known::Host => {
                if self.host.replace(span).is_some() {
                    return Err(Refusal::HostRepeated);
                }
                // The value is empty when the target URI has no authority. An absolute form has one, which Host must
                // then repeat (RFC 9112 §3.2).
                let absent = value.is_empty() && head.host.len == 0;
                if !absent && !host::is_authority(value) {
                    return Err(Refusal::HostSyntax);
                }
            }
            Known::ContentLength => {
                if self.length.is_some() {
                    return Err(Refusal::LengthRepeated);
                }
                self.length = Some((content_length(value)?, span));
            }
            Known::TransferEncoding => self.coding(span)?,
            Known::Connection => self.connection.read(value),
            Known::Expect => {
                let known = value.eq_ignore_ascii_case(b"100-continue");
                self.expects |= known;
                self.expects_other |= !known;
            }
            Known::Upgrade => self.upgrade(value),
            Known::ContentType => {
                head.content_type.get_or_insert(span);
            }
            _ => {}
        }
        Ok(())
    }

    #[cold]
    fn upgrade(&mut self, value: &[u8]) {
        self.websocket |= value
            .split(|byte| *byte == b',')
            .any(|protocol| protocol.trim_ascii().eq_ignore_ascii_case(b"websocket"));
    }

    fn coding(&mut self, span: Span) -> Result<(), Refusal> {
        match self.coding.replace(span) {
            None => Ok(()),
            Some(_) => Err(Refusal::CodingSyntax),
        }
    }

    /// Returns true when the client waits for 100 Continue, if a body follows.
    pub(crate) fn expects(&self) -> bool {
        self.expects
    }

    /// Decides what depends on the whole head. Refusals of framing go before all others.
    #[inline]
    pub(crate) fn settle(&self, window: &[u8], head: &mut Head) -> Result<(), Refusal> {
        let http11 = head.version != Version::Http10;
        head.framing = match (self.length, self.coding) {
            (Some(_), Some(_)) => return Err(Refusal::LengthAndCoding),
            // A tab is optional white space (RFC 9110 §5.6.3), but llhttp refuses it behind these two, and so may a
            // proxy in front of us.
            (None, Some(coding)) if tab_follows(window, coding) => {
                return Err(Refusal::CodingSyntax);
            }
            (Some((_, length)), None) if tab_follows(window, length) => {
                return Err(Refusal::LengthSyntax);
            }
            (None, Some(_)) if !http11 => return Err(Refusal::CodingVersion),
            (None, Some(coding)) => {
                transfer_coding(coding.of(window))?;
                Framing::Chunked
            }
            (Some((length, _)), None) => Framing::Length(length),
            (None, None) => Framing::None,
        };
        match self.host {
            Some(host) if head.host.len == 0 => head.host = host,
            None if http11 => return Err(Refusal::HostMissing),
            _ => {}
        }
        if self.expects_other {
            return Err(Refusal::Expectation);
        }
        head.expect_continue = self.expects && http11 && head.framing.has_body();
        head.websocket =
            self.websocket && self.connection.upgrade && http11 && head.method == Method::GET;
        head.keep_alive = !self.connection.close
            && (http11 || self.connection.keep_alive)
            && head.method != Method::CONNECT;
        Ok(())
    }
}

fn tab_follows(window: &[u8], value: Span) -> bool {
    let rest = &window[value.end() as usize..];
    rest.iter()
        .take_while(|&&byte| byte == b' ' || byte == b'\t')
        .any(|&byte| byte == b'\t')
}

#[cfg(test)]
mod tests {
    use crate::{Framing, Head, Limits, Progress, Refusal, parse_head};

    fn framing(field: &str) -> Result<Framing, Refusal> {
        let head_bytes = format!("POST / HTTP/1.1\r\nHost: x\r\n{field}\r\n\r\n");
        let mut head = Head::new();
        let progress = parse_head(head_bytes.as_bytes(), &mut 0, &Limits::default(), &mut head)?;
        assert_eq!(progress, Progress::Complete);
        Ok(head.framing)
    }

    #[test]
    fn a_websocket_is_asked_for_by_both_fields_in_a_get_of_http_1_1() {
        let asks = |line: &str, fields: &str| {
            let text = format!("{line}\r\nHost: x\r\n{fields}\r\n\r\n");
            let mut head = Head::new();
            parse_head(text.as_bytes(), &mut 0, &Limits::default(), &mut head).unwrap();
            head.websocket
        };
        let get = "GET / HTTP/1.1";
        for fields in [
            "Connection: Upgrade\r\nUpgrade: websocket",
            "Upgrade: WebSocket\r\nConnection: keep-alive, upgrade",
            "Connection: keep-alive\r\nConnection: UPGRADE\r\nUpgrade: x/1 , websocket",
            "Connection: upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket",
        ] {
            assert!(asks(get, fields), "{fields}");
            assert!(!asks("POST / HTTP/1.1", fields), "{fields}");
            assert!(!asks("HEAD / HTTP/1.1", fields), "{fields}");
            assert!(!asks("GET / HTTP/1.0", fields), "{fields}");
        }
        for fields in [
            "Upgrade: websocket",
            "Connection: upgrade",
            "Connection: close\r\nUpgrade: websocket",
            "Connection: upgrade\r\nUpgrade: h2c",
            "Connection: upgrade\r\nUpgrade: websocket2, xwebsocket",
            "Connection: upgrade\r\nUpgrade: websocket/13",
            "Connection: upgrade\r\nX: websocket",
        ] {
            assert!(!asks(get, fields), "{fields}");
        }
    }

    #[test]
    fn a_tab_behind_a_framing_value_is_refused_and_spaces_are_not() {
        assert_eq!(framing("Content-Length: \t 5  "), Ok(Framing::Length(5)));
        assert_eq!(
            framing("Transfer-Encoding:\tchunked "),
            Ok(Framing::Chunked)
        );
        for tail in ["\t", " \t", "\t "] {
            let length = framing(&format!("Content-Length: 5{tail}"));
            assert_eq!(length, Err(Refusal::LengthSyntax));
            let coding = framing(&format!("Transfer-Encoding: chunked{tail}"));
            assert_eq!(coding, Err(Refusal::CodingSyntax));
        }
    }
}
