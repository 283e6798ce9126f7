//! A request of the mix: its bytes, and what its reply must be.

use std::ops::RangeInclusive;

use crate::reply::is_token;
use crate::spec::{Headers, RequestSpec};
use crate::template::{Ranges, Template, Values};

const MAX_BODY: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub struct Request {
    pub weight: u64,
    pub method: String,
    /// As written, for messages.
    pub path: String,
    /// The reply has no body whatever its head says.
    pub bodiless: bool,
    pub expect: Expected,
    pub ranges: Ranges,
    target: Template,
    fields: Template,
    body: Option<Template>,
    /// The whole request, when it is always the same.
    constant: Option<Vec<u8>>,
}

#[derive(Debug)]
pub struct Expected {
    pub status: RangeInclusive<u16>,
    pub length: Option<u64>,
    pub body: Option<Template>,
    pub contains: Option<Template>,
}

impl Request {
    /// `host` is the value of Host; `close` adds `Connection: close`. The error begins with the key.
    pub fn new(spec: &RequestSpec, host: &str, close: bool) -> Result<Self, String> {
        if spec.weight == 0 {
            return Err("weight: must be at least 1".into());
        }
        if spec.method.is_empty() || !spec.method.bytes().all(is_token) || spec.method == "CONNECT"
        {
            return Err(format!(
                "method: {:?} is no method, such as GET",
                spec.method
            ));
        }
        let path = &spec.path;
        let asterisk = path == "*" && spec.method == "OPTIONS";
        if !path.starts_with('/') && !asterisk {
            return Err(format!("path: {path:?} must begin with /"));
        }
        if path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(format!(
                "path: {path:?} must not hold spaces or control characters: write them as %20"
            ));
        }
        check_headers(&spec.headers)?;
        let mut ranges = Ranges::new();
        let read = |key: &str, text: &str, ranges: &mut Ranges| {
            Template::read(text, ranges).map_err(|fault| format!("{key}: {fault}"))
        };
        // The numbers of `{#1}` count the path, then the body, then the headers.
        let target = read("path", path, &mut ranges)?;
        let body = spec
            .body
            .as_ref()
            .map(|body| read("body", body, &mut ranges))
            .transpose()?;
        if body.as_ref().is_some_and(|body| body.len() > MAX_BODY) {
            return Err("body: must not be longer than 64 MiB".into());
        }
        let fields = read("headers", &fields(spec, host, close), &mut ranges)?;
        let expected = |key: &str, text: &Option<String>, ranges: &mut Ranges| {
            let known = ranges.len();
            let template = text
                .as_ref()
                .map(|text| read(key, text, ranges))
                .transpose()?;
            if ranges.len() > known {
                return Err(format!(
                    "{key}: a range is drawn for the request: refer to it as {{#1}}"
                ));
            }
            Ok(template)
        };
        let contains = expected("expect.contains", &spec.expect.contains, &mut ranges)?;
        let expected_body = expected("expect.body", &spec.expect.body, &mut ranges)?;
        let bodiless = spec.method == "HEAD";
        if bodiless && (contains.is_some() || expected_body.is_some()) {
            return Err(
                "expect: a reply to HEAD has no body: only status and length can be expected"
                    .into(),
            );
        }
        let known_length = expected_body
            .as_ref()
            .and_then(Template::constant)
            .map(|body| body.len() as u64);
        if let (Some(length), Some(known)) = (spec.expect.length, known_length)
            && length != known
        {
            return Err(format!(
                "expect.length: {length} is not the length of expect.body, {known}"
            ));
        }
        if spec
            .expect
            .status
            .is_some_and(|status| !(200..=599).contains(&status))
        {
            return Err("expect.status: must be 200 to 599".into());
        }
        let mut request = Self {
            weight: spec.weight,
            method: spec.method.clone(),
            path: path.clone(),
            bodiless,
            expect: Expected {
                status: spec
                    .expect
                    .status
                    .map_or(200..=299, |status| status..=status),
                length: spec.expect.length.or(known_length),
                body: expected_body,
                contains,
            },
            ranges,
            target,
            fields,
            body,
            constant: None,
        };
        let constant = |part: &Template| part.constant().is_some();
        if constant(&request.target)
            && constant(&request.fields)
            && request.body.as_ref().is_none_or(constant)
        {
            let mut bytes = Vec::new();
            request.render(&Values::default(), &mut Vec::new(), &mut bytes);
            request.constant = Some(bytes);
        }
        Ok(request)
    }

    /// The bytes, when they are the same for every request.
    #[inline]
    pub fn constant(&self) -> Option<&[u8]> {
        self.constant.as_deref()
    }

    /// Appends the request to `into`; `body` is room to work in.
    pub fn render(&self, values: &Values, body: &mut Vec<u8>, into: &mut Vec<u8>) {
        into.extend_from_slice(self.method.as_bytes());
        into.push(b' ');
        self.target.render(values, into);
        into.extend_from_slice(b" HTTP/1.1\r\n");
        self.fields.render(values, into);
        let constant = self.body.as_ref().and_then(Template::constant);
        body.clear();
        if let (Some(template), None) = (&self.body, constant) {
            template.render(values, body);
        }
        let body = constant.unwrap_or(body);
        // RFC 9110 §8.6: a method that anticipates content says so even when there is none.
        if self.body.is_some() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            into.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        into.extend_from_slice(b"\r\n");
        into.extend_from_slice(body);
    }
}

/// The lines before Content-Length. A value of the spec is a template, `host` is not.
fn fields(spec: &RequestSpec, host: &str, close: bool) -> String {
    let mut lines = String::new();
    let headers = &spec.headers.0;
    if !headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("host"))
    {
        lines.extend(["Host: ", &host.replace('{', "{{"), "\r\n"]);
    }
    if close {
        lines.push_str("Connection: close\r\n");
    }
    for (name, value) in headers {
        lines.extend([name, ": ", value.trim_matches([' ', '\t']), "\r\n"]);
    }
    lines
}

fn check_headers(headers: &Headers) -> Result<(), String> {
    for (name, value) in &headers.0 {
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("headers: {name:?} is no header name"));
        }
        if value
            .bytes()
            .any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)
        {
            return Err(format!(
                "headers.{name}: must not hold line breaks or other control characters"
            ));
        }
        for (ours, instead) in [
            ("content-length", "it is computed from body"),
            ("transfer-encoding", "bodies are sent with Content-Length"),
            ("connection", "use \"connection\": \"close\""),
            ("expect", "100 Continue is not waited for"),
            ("upgrade", "only HTTP/1.1 is spoken"),
        ] {
            if name.eq_ignore_ascii_case(ours) {
                return Err(format!("headers.{name}: must be left out: {instead}"));
            }
        }
    }
    Ok(())
}
