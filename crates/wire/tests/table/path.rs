//! The canonical path: our own table, every code point, and the spellings shared with the router in Rust and JavaScript.

use wire::{Head, Limits, PathKind, Refusal, canonicalise, parse_head};

fn canonical(raw: &[u8]) -> Result<String, Refusal> {
    let mut out = b"left over".to_vec();
    canonicalise(raw, &mut out)?;
    Ok(String::from_utf8(out).expect("canonical paths are ASCII"))
}

/// What `parse_head` makes of the same path.
fn parsed(raw: &[u8]) -> Result<String, Refusal> {
    let text = [b"GET ", raw, b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat();
    let mut head = Head::new();
    parse_head(&text, &mut 0, &Limits::default(), &mut head)?;
    assert_eq!(head.path.of(&text), raw);
    match head.path_kind {
        PathKind::Plain => Ok(String::from_utf8_lossy(raw).into_owned()),
        PathKind::Escaped => {
            let path = canonical(raw).expect("parse_head refuses what canonicalise would");
            assert_ne!(path.as_bytes(), raw, "Escaped means a change");
            Ok(path)
        }
        kind => panic!("{kind:?}"),
    }
}

#[test]
fn table() {
    use Refusal::{DotSegment, PathEscape, PathNul, PathUtf8, TargetByte, TargetForm};
    for (raw, expected) in [
        ("/", Ok("/")),
        ("//", Ok("//")),
        ("/a//b/", Ok("/a//b/")),
        ("/a;b=c,d@e:f!$&'()*+~_-", Ok("/a;b=c,d@e:f!$&'()*+~_-")),
        ("/a|b^c[d]", Ok("/a%7Cb%5Ec%5Bd%5D")),
        ("/|", Ok("/%7C")),
        ("/.|/..^", Ok("/.%7C/..%5E")),
        ("/%7c|", Ok("/%7C%7C")),
        ("/|/..", Err(DotSegment)),
        ("/|%", Err(PathEscape)),
        ("/|{", Err(TargetByte)),
        ("/%41%62%7E%2D%5f%30", Ok("/Ab~-_0")),
        ("/%2f%2F%3a%25", Ok("/%2F%2F%3A%25")),
        ("/%252e%252e", Ok("/%252e%252e")),
        ("/%0d%0A", Ok("/%0D%0A")),
        ("/%5c", Ok("/%5C")),
        ("/r%c3%A9sum%C3%a9", Ok("/r%C3%A9sum%C3%A9")),
        ("/%f0%9f%98%80", Ok("/%F0%9F%98%80")),
        ("/a%2eb", Ok("/a.b")),
        ("/...", Ok("/...")),
        ("/%2e%2e%2e", Ok("/...")),
        ("/..a/.a/a.", Ok("/..a/.a/a.")),
        ("/..;/a", Ok("/..;/a")),
        ("/..%2Fa", Ok("/..%2Fa")),
        ("", Err(TargetForm)),
        ("a", Err(TargetForm)),
        ("*", Err(TargetForm)),
        ("%2Fa", Err(TargetForm)),
        ("/.", Err(DotSegment)),
        ("/..", Err(DotSegment)),
        ("/./a", Err(DotSegment)),
        ("/a/%2E", Err(DotSegment)),
        ("/%2e./a", Err(DotSegment)),
        ("/%", Err(PathEscape)),
        ("/%4", Err(PathEscape)),
        ("/%4g", Err(PathEscape)),
        ("/%%34", Err(PathEscape)),
        ("/%u0041", Err(PathEscape)),
        ("/%+1", Err(PathEscape)),
        ("/%00", Err(PathNul)),
        ("/a%00.html", Err(PathNul)),
        ("/%80", Err(PathUtf8)),
        ("/%c3", Err(PathUtf8)),
        ("/%c3a9", Err(PathUtf8)),
        ("/%c3/%a9", Err(PathUtf8)),
        ("/%c3%zz", Err(PathEscape)),
        ("/%c3%28", Err(PathUtf8)),
        ("/%c0%80", Err(PathUtf8)),
        ("/%e0%80%af", Err(PathUtf8)),
        ("/%ed%a0%80", Err(PathUtf8)),
        ("/%f4%90%80%80", Err(PathUtf8)),
        ("/%f8%88%80%80%80", Err(PathUtf8)),
        ("/%ff", Err(PathUtf8)),
        ("/a?b", Err(TargetByte)),
        ("/a#b", Err(TargetByte)),
        ("/a\\b", Err(TargetByte)),
        ("/a b", Err(TargetByte)),
        ("/é", Err(TargetByte)),
    ] {
        assert_eq!(
            canonical(raw.as_bytes()),
            expected.map(str::to_string),
            "{raw}"
        );
        if raw.starts_with('/') && !raw.contains([' ', '?']) {
            assert_eq!(
                parsed(raw.as_bytes()),
                expected.map(str::to_string),
                "{raw} in a head"
            );
        }
    }
}

#[test]
fn every_byte_raw_and_escaped() {
    for byte in 0..=255_u8 {
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let raw_ok = unreserved || b"!$&'()*+,;=:@/".contains(&byte);
        let raw = [b'/', b'a', byte, b'b'];
        if byte != b'%' {
            let expected = if raw_ok {
                Ok(String::from_utf8_lossy(&raw).into_owned())
            } else if b"[]^|".contains(&byte) {
                Ok(format!("/a%{byte:02X}b"))
            } else {
                Err(Refusal::TargetByte)
            };
            assert_eq!(canonical(&raw), expected, "{byte}");
        }
        let expected = match byte {
            0 => Err(Refusal::PathNul),
            0x80.. => Err(Refusal::PathUtf8),
            _ if unreserved => Ok(format!("/a{}b", byte as char)),
            _ => Ok(format!("/a%{byte:02X}b")),
        };
        assert_eq!(
            canonical(format!("/a%{byte:02x}b").as_bytes()),
            expected,
            "{byte}"
        );
    }
}

#[test]
fn every_code_point() {
    for point in (0x80..=0x10_FFFF).filter_map(char::from_u32) {
        let mut utf8 = [0; 4];
        let escapes = |text: &str| {
            text.bytes()
                .fold("/".to_string(), |out, byte| out + &format!("%{byte:02X}"))
        };
        let path = escapes(point.encode_utf8(&mut utf8));
        if (point as u32).is_multiple_of(61) || point as u32 <= 0x1000 {
            assert_eq!(canonical(path.to_lowercase().as_bytes()), Ok(path));
        }
    }
}

#[test]
fn canonical_paths_stay() {
    let mut again = 0;
    for (raw, _) in shared() {
        if let Ok(path) = canonical(raw.as_bytes()) {
            assert_eq!(canonical(path.as_bytes()), Ok(path.clone()), "{raw}");
            again += 1;
        }
    }
    assert!(again > 100);
}

/// RFC 3986 §6.2.2; the same file is read by the tests of the router and of its JavaScript twin.
#[test]
fn shared_spellings() {
    let cases = shared();
    assert!(cases.len() >= 500);
    for (raw, expected) in cases {
        assert_eq!(canonical(raw.as_bytes()).ok(), expected, "{raw:?}");
        if raw.starts_with('/') && !raw.contains([' ', '?', '\n', '\r']) {
            assert_eq!(parsed(raw.as_bytes()).ok(), expected, "{raw:?} in a head");
        }
    }
}

fn shared() -> Vec<(String, Option<String>)> {
    let text = include_str!("../../../route/cases/paths.json");
    serde_json::from_str(text).expect("[[raw, canonical or null], ...]")
}
