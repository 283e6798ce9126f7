//! What holds of any head that was accepted.

use wire::{Framing, Head, Known, Limits, PathKind, Version, canonicalise};

/// The tests with small limits register these.
pub const REGISTERED: &str = "BREW";

pub fn method_name(head: &Head) -> &'static str {
    match usize::from(head.method.index()) {
        32 => "TRACE",
        33 => "CONNECT",
        8 => REGISTERED,
        index => [
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
        ][index],
    }
}

/// Reads an accepted head again in the simplest way and compares.
pub fn is_sound(bytes: &[u8], head: &Head, limits: &Limits) {
    let len = head.len as usize;
    assert!(len <= bytes.len() && len <= limits.max_header_size as usize);
    let bytes = &bytes[..len];
    let text: String = bytes.iter().map(|byte| *byte as char).collect();
    let text = text.strip_prefix("\r\n").unwrap_or(&text);
    let mut lines: Vec<_> = text.split("\r\n").collect();
    assert_eq!(
        lines.split_off(lines.len() - 2),
        ["", ""],
        "ends with an empty line"
    );
    assert!(
        lines
            .iter()
            .all(|line| !line.is_empty() && !line.contains(['\r', '\n', '\0', '\x7f']))
    );

    let of = |span: wire::Span| {
        span.of(bytes)
            .iter()
            .map(|byte| *byte as char)
            .collect::<String>()
    };
    let version = if head.version == Version::Http10 {
        "HTTP/1.0"
    } else {
        "HTTP/1.1"
    };
    assert_eq!(
        lines[0],
        format!("{} {} {version}", method_name(head), of(head.target))
    );
    assert!(head.target.len <= limits.max_url_length);
    assert_eq!(lines.len() - 1, head.fields.len());
    assert!(head.fields.len() <= limits.max_headers as usize);
    let mut known = 0;
    for (line, field) in lines[1..].iter().zip(&head.fields) {
        assert!(line.chars().count() <= limits.max_header_line as usize);
        let (name, value) = line.split_once(':').expect("a colon");
        assert_eq!(of(field.name), name);
        assert_eq!(of(field.value), value.trim_matches([' ', '\t']));
        let id = wire::KNOWN_NAMES
            .iter()
            .position(|known| *known == name.to_ascii_lowercase());
        assert_eq!(field.known as usize, id.unwrap_or(0));
        known |= 1 << field.known as u8;
    }
    assert_eq!(head.known, known);

    let all = |known: Known| {
        head.fields
            .iter()
            .filter(move |field| field.known == known)
            .map(|field| of(field.value))
    };
    let (lengths, codings): (Vec<_>, Vec<_>) = (
        all(Known::ContentLength).collect(),
        all(Known::TransferEncoding).collect(),
    );
    match head.framing {
        Framing::None => assert!(lengths.is_empty() && codings.is_empty()),
        Framing::Length(length) => {
            assert!(codings.is_empty() && lengths.len() == 1);
            assert_eq!(lengths[0].parse(), Ok(length));
        }
        Framing::Chunked => {
            assert!(lengths.is_empty() && codings.len() == 1 && head.version == Version::Http11);
            assert_eq!(codings[0].to_ascii_lowercase(), "chunked");
        }
    }
    let hosts = all(Known::Host).count();
    assert!(hosts == 1 || hosts == 0 && head.version == Version::Http10);
    assert!(!of(head.host).contains(['@', '/', ',', ' ', '?', '#']));

    let (path, target) = (of(head.path), of(head.target));
    let mut canonical = Vec::new();
    match head.path_kind {
        PathKind::Asterisk => assert_eq!(
            (path.as_str(), target.as_str(), method_name(head)),
            ("*", "*", "OPTIONS")
        ),
        PathKind::Authority => {
            assert_eq!((path.as_str(), method_name(head)), ("", "CONNECT"));
            assert_eq!(of(head.host), target);
            assert!(!head.keep_alive);
        }
        PathKind::Root => assert_eq!(path, ""),
        kind => {
            assert_eq!(canonicalise(path.as_bytes(), &mut canonical), Ok(()));
            assert_eq!(kind == PathKind::Plain, canonical == path.as_bytes());
            let mut again = Vec::new();
            assert_eq!(canonicalise(&canonical, &mut again), Ok(()));
            assert_eq!(again, canonical);
            let segments = || canonical.split(|byte| *byte == b'/');
            assert!(segments().all(|segment| segment != b"." && segment != b".."));
        }
    }
    assert_eq!(
        head.query.map(of),
        target.split_once('?').map(|(_, query)| query.to_string())
    );
}
