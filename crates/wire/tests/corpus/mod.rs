//! Heads and chunked bodies with their verdicts, and the ways to feed them. Shared by the table, split and mutation tests.
#![allow(dead_code)]

pub mod mutants;

use wire::Refusal::{self, *};
use wire::{Head, Limits, Progress, chunked, parse_head};

/// Clause, bytes, verdict.
pub type Case = (&'static str, &'static [u8], Result<(), Refusal>);

const OK: Result<(), Refusal> = Ok(());

pub const HEADS: &[Case] = &[
    // The request line
    ("RFC 9112 §3: three parts, one space", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("wrk", b"GET /json HTTP/1.1\r\nHost: 127.0.0.1:3000\r\n\r\n", OK),
    ("RFC 9112 §2.2: one leading empty line is ignored", b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("two leading empty lines", b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Err(EmptyLines)),
    ("leading LF", b"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Err(BareLf)),
    ("leading CRLF and LF", b"\r\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Err(BareLf)),
    ("leading CR", b"\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", Err(BareCr)),
    ("leading space", b" GET / HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodSyntax)),
    ("RFC 9112 §3: two spaces after the method", b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", Err(RequestLine)),
    ("two spaces before the version", b"GET /  HTTP/1.1\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("space after the version", b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("tab as separator", b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodSyntax)),
    ("tab in the target", b"GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", Err(RequestLine)),
    ("vertical tab as separator", b"GET /\x0bHTTP/1.1\r\nHost: a\r\n\r\n", Err(RequestLine)),
    ("CR as separator", b"GET /\rHTTP/1.1\r\nHost: a\r\n\r\n", Err(RequestLine)),
    ("space in the target", b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("bare LF after the request line", b"GET / HTTP/1.1\nHost: a\r\n\r\n", Err(BareLf)),
    ("RFC 1945 §4.1: HTTP/0.9", b"GET /\r\n\r\n", Err(RequestLine)),
    ("HTTP/0.9 with LF", b"GET /\n", Err(BareLf)),
    ("no target", b"GET HTTP/1.1\r\nHost: a\r\n\r\n", Err(RequestLine)),
    ("method alone", b"GET\r\n\r\n", Err(RequestLine)),
    ("CR in the target", b"GET /a\rb HTTP/1.1\r\nHost: a\r\n\r\n", Err(BareCr)),
    ("CRCRLF after the version", b"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    // Methods
    ("HEAD", b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("PATCH with length", b"PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", OK),
    ("QUERY", b"QUERY / HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("RFC 9110 §9.1: methods are case-sensitive", b"get / HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodUnknown)),
    ("unknown method", b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodUnknown)),
    ("longest method", b"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF / HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodUnknown)),
    ("too long a method", b"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG", Err(MethodUnknown)),
    ("TRACE", b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("TRACE, asterisk-form", b"TRACE * HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("RFC 9112 §3.2.3: CONNECT, authority-form", b"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", OK),
    ("CONNECT, IPv6", b"CONNECT [::1]:443 HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("CONNECT without a port", b"CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("CONNECT, IPv6 without a port", b"CONNECT [::1] HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("RFC 9110 §9.3.6: CONNECT, empty port", b"CONNECT a: HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("CONNECT without a host", b"CONNECT :80 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("CONNECT, user information", b"CONNECT u@a:80 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("CONNECT, origin-form", b"CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("CONNECT, absolute-form", b"CONNECT http://a:80 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("CONNECT, asterisk-form", b"CONNECT * HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("authority-form of another method", b"GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("RFC 9110 §5.6.2: no token", b"G(ET / HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodSyntax)),
    ("NUL in the method", b"G\0T / HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodSyntax)),
    ("non-ASCII method", b"G\xc3\x8bT / HTTP/1.1\r\nHost: a\r\n\r\n", Err(MethodSyntax)),
    ("TLS ClientHello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", Err(MethodSyntax)),
    ("SSH", b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", Err(RequestLine)),
    // Versions
    ("RFC 9112 §2.3: HTTP/1.0", b"GET / HTTP/1.0\r\n\r\n", OK),
    ("HTTP/1.2", b"GET / HTTP/1.2\r\nHost: a\r\n\r\n", Err(VersionUnknown)),
    ("HTTP/2.0", b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", Err(VersionUnknown)),
    ("HTTP/0.9 by name", b"GET / HTTP/0.9\r\nHost: a\r\n\r\n", Err(VersionUnknown)),
    ("RFC 9113 §3.4: HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Err(VersionUnknown)),
    ("two digits", b"GET / HTTP/1.10\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("no minor version", b"GET / HTTP/1\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("RFC 9112 §2.3: the name is case-sensitive", b"GET / http/1.1\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("not a number", b"GET / HTTP/1.x\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("another protocol", b"GET / ICE/1.0\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    ("another protocol of the same length", b"DESCRIBE / RTSP/1.0\r\nHost: a\r\n\r\n", Err(VersionSyntax)),
    // Target forms
    ("RFC 9112 §3.2.1: origin-form with query", b"GET /a?b=c?d HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("empty query", b"GET /? HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("empty segments stay", b"GET //a//b HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("no slash", b"GET a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("query alone", b"GET ?a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("RFC 9112 §3.2.2: absolute-form", b"GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("absolute-form, any case", b"GET HTTPS://a:443/b?c HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("absolute-form without path", b"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("absolute-form, query without path", b"GET http://a?b HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("absolute-form, IPv6", b"GET http://[::1]:80/ HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", OK),
    ("RFC 9110 §7.2: the target's authority stands", b"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", OK),
    ("absolute-form needs Host too", b"GET http://a/ HTTP/1.1\r\n\r\n", Err(HostMissing)),
    ("absolute-form with a malformed Host", b"GET http://a/ HTTP/1.1\r\nHost: b@c\r\n\r\n", Err(HostSyntax)),
    ("absolute-form with an empty Host", b"GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n", Err(HostSyntax)),
    ("RFC 9110 §4.2.1: empty host", b"GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetAuthority)),
    ("empty host with port", b"GET http://:80/a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetAuthority)),
    ("RFC 9110 §4.2.4: user information", b"GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetAuthority)),
    ("port out of range", b"GET http://a:65536/ HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetAuthority)),
    ("another scheme", b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("one slash after the scheme", b"GET http:/a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("dot segment in absolute-form", b"GET http://a/../b HTTP/1.1\r\nHost: a\r\n\r\n", Err(DotSegment)),
    ("RFC 9112 §3.2.4: asterisk-form", b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("asterisk for GET", b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("asterisk and more", b"OPTIONS *a HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    ("authority-form for GET", b"GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetForm)),
    // Target bytes and path
    ("RFC 3986 §3.5: a fragment is never sent", b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("fragment after the query", b"GET /a?b#c HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("raw UTF-8 in the path", b"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("raw UTF-8 in the query", b"GET /?\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("raw Latin-1 in the path", b"GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("NUL in the path", b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("DEL in the path", b"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("backslash in the path", b"GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("backslash in the query", b"GET /?a\\b HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("braces in the query, as browsers send them", b"GET /?a={b}|\"^` HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("braces in the path", b"GET /{a} HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("quote in the path", b"GET /\" HTTP/1.1\r\nHost: a\r\n\r\n", Err(TargetByte)),
    ("RFC 3986 §2.1: short escape", b"GET /a%2 HTTP/1.1\r\nHost: a\r\n\r\n", Err(PathEscape)),
    ("no hex", b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", Err(PathEscape)),
    ("escape cut by the query", b"GET /%2?0 HTTP/1.1\r\nHost: a\r\n\r\n", Err(PathEscape)),
    ("malformed escape in the query stays", b"GET /?%zz HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("encoded NUL", b"GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", Err(PathNul)),
    ("RFC 3629 §3: overlong", b"GET /%c0%ae HTTP/1.1\r\nHost: a\r\n\r\n", Err(PathUtf8)),
    ("dot segment", b"GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n", Err(DotSegment)),
    ("dot segment at the end", b"GET /a/. HTTP/1.1\r\nHost: a\r\n\r\n", Err(DotSegment)),
    ("encoded dot segment", b"GET /a/%2e%2E/b HTTP/1.1\r\nHost: a\r\n\r\n", Err(DotSegment)),
    ("half-encoded dot segment", b"GET /.%2e HTTP/1.1\r\nHost: a\r\n\r\n", Err(DotSegment)),
    ("dots in a query", b"GET /?/../ HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("dots that are no segment", b"GET /.../a..b/.c HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    ("%2F stays", b"GET /a%2fb HTTP/1.1\r\nHost: a\r\n\r\n", OK),
    // Field syntax
    ("no fields, HTTP/1.0", b"GET / HTTP/1.0\r\n\r\n", OK),
    ("empty value", b"GET / HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n", OK),
    ("white space as value", b"GET / HTTP/1.1\r\nHost: a\r\nX: \t \r\n\r\n", OK),
    ("RFC 9110 §5.5: obs-text", b"GET / HTTP/1.1\r\nHost: a\r\nX: \xe9\xff\r\n\r\n", OK),
    ("RFC 9112 §5.1: white space around the value", b"GET / HTTP/1.1\r\nHost:\ta \t\r\n\r\n", OK),
    ("RFC 9112 §5.1: space before the colon", b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", Err(FieldSpace)),
    ("tab before the colon", b"GET / HTTP/1.1\r\nHost: a\r\nX\t: b\r\n\r\n", Err(FieldSpace)),
    ("space in the name", b"GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n", Err(FieldName)),
    ("empty name", b"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", Err(FieldName)),
    ("no colon", b"GET / HTTP/1.1\r\nHost: a\r\nabc\r\n\r\n", Err(FieldColon)),
    ("no colon but a space", b"GET / HTTP/1.1\r\nHost: a\r\nab c\r\n\r\n", Err(FieldColon)),
    ("RFC 9110 §5.6.2: name no token", b"GET / HTTP/1.1\r\nHost: a\r\nX[]: b\r\n\r\n", Err(FieldName)),
    ("non-ASCII name", b"GET / HTTP/1.1\r\nHost: a\r\n\xc3\xa9: b\r\n\r\n", Err(FieldName)),
    ("NUL in the name", b"GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n", Err(FieldName)),
    ("RFC 9112 §5.2: obs-fold", b"GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", Err(FieldFold)),
    ("obs-fold with tab", b"GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n", Err(FieldFold)),
    ("RFC 9112 §2.2: space before the first field", b"GET / HTTP/1.1\r\n Host: a\r\n\r\n", Err(FieldFold)),
    ("line of white space", b"GET / HTTP/1.1\r\nHost: a\r\n \r\n\r\n", Err(FieldFold)),
    ("bare LF after a field", b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", Err(BareLf)),
    ("bare LF as the end", b"GET / HTTP/1.1\r\nHost: a\r\n\n", Err(BareLf)),
    ("bare LF throughout", b"GET / HTTP/1.1\nHost: a\n\n", Err(BareLf)),
    ("LF CRLF", b"GET / HTTP/1.1\r\nHost: a\n\r\n", Err(BareLf)),
    ("bare CR in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n", Err(BareCr)),
    ("bare CR at the end of a value", b"GET / HTTP/1.1\r\nHost: a\r\nX: b\r\r\n\r\n", Err(BareCr)),
    ("bare CR in a name", b"GET / HTTP/1.1\r\nHost: a\r\nX\rY: b\r\n\r\n", Err(BareCr)),
    ("CVE-2025-23167: CRLF CR X", b"GET / HTTP/1.1\r\nHost: a\r\n\rX: b\r\n\r\n", Err(BareCr)),
    ("CR CR LF as the end", b"GET / HTTP/1.1\r\nHost: a\r\n\r\r\n", Err(BareCr)),
    ("NUL in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", Err(FieldValue)),
    ("control in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX: b\x01\r\n\r\n", Err(FieldValue)),
    ("DEL in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX: \x7f\r\n\r\n", Err(FieldValue)),
    ("vertical tab in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX: 0123456789abcdef0123456789abcdef\x0b\r\n\r\n", Err(FieldValue)),
    ("escape in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX:\x1b[0m\r\n\r\n", Err(FieldValue)),
    ("__proto__ is a name", b"GET / HTTP/1.1\r\nHost: a\r\n__proto__: b\r\n\r\n", OK),
    // Host
    ("RFC 9112 §3.2: no Host", b"GET / HTTP/1.1\r\n\r\n", Err(HostMissing)),
    ("two Hosts", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Err(HostRepeated)),
    ("two equal Hosts", b"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", Err(HostRepeated)),
    ("two Hosts in HTTP/1.0", b"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", Err(HostRepeated)),
    ("one Host in HTTP/1.0", b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", OK),
    ("RFC 9112 §3.2: empty Host, the target has no authority", b"GET / HTTP/1.1\r\nHost:\r\n\r\n", OK),
    ("RFC 9110 §4.2.4: user information", b"GET / HTTP/1.1\r\nHost: u:p@a\r\n\r\n", Err(HostSyntax)),
    ("path in Host", b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", Err(HostSyntax)),
    ("comma in Host", b"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", Err(HostSyntax)),
    ("space in Host", b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", Err(HostSyntax)),
    ("port out of range", b"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", Err(HostSyntax)),
    ("non-ASCII Host", b"GET / HTTP/1.1\r\nHost: \xc3\xa9\r\n\r\n", Err(HostSyntax)),
    ("IPv6 Host", b"GET / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n\r\n", OK),
    ("malformed IPv6 Host", b"GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n", Err(HostSyntax)),
    ("Host at the end", b"GET / HTTP/1.1\r\nX: b\r\nhOsT: a\r\n\r\n", OK),
    // Content-Length
    ("RFC 9110 §8.6: a length for GET", b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", OK),
    ("zero", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", OK),
    ("leading zeros", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0003\r\n\r\nabc", OK),
    ("2^53 - 1", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9007199254740991\r\n\r\n", OK),
    ("2^53", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9007199254740992\r\n\r\n", Err(LengthSyntax)),
    ("past 2^64", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\n", Err(LengthSyntax)),
    ("empty", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", Err(LengthSyntax)),
    ("plus", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n", Err(LengthSyntax)),
    ("minus", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", Err(LengthSyntax)),
    ("hex", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\n", Err(LengthSyntax)),
    ("fraction", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3.0\r\n\r\n", Err(LengthSyntax)),
    ("exponent", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1e1\r\n\r\n", Err(LengthSyntax)),
    ("underscore", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\n", Err(LengthSyntax)),
    ("space inside", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3 3\r\n\r\n", Err(LengthSyntax)),
    ("non-ASCII digits", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \xd9\xa3\r\n\r\n", Err(LengthSyntax)),
    ("RFC 9110 §8.6: list of equal values", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n", Err(LengthSyntax)),
    ("two equal lengths", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", Err(LengthRepeated)),
    ("two lengths", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\ncontent-length: 4\r\n\r\n", Err(LengthRepeated)),
    ("another name", b"POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 3\r\n\r\n", OK),
    // Transfer-Encoding
    ("RFC 9112 §7: chunked", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", OK),
    ("RFC 9112 §7: any case", b"POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: CHUNKED\r\n\r\n", OK),
    ("RFC 9112 §6.3 (3): TE and CL", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", Err(LengthAndCoding)),
    ("CL and TE", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", Err(LengthAndCoding)),
    ("CL and an unknown TE", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: x\r\n\r\n", Err(LengthAndCoding)),
    ("CL and an empty TE", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding:\r\n\r\n", Err(LengthAndCoding)),
    ("RFC 9112 §6.1: TE in HTTP/1.0", b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", Err(CodingVersion)),
    ("RFC 9112 §6.1: unknown coding", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", Err(CodingUnknown)),
    ("identity", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", Err(CodingUnknown)),
    ("gzip, chunked", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", Err(CodingUnknown)),
    ("RFC 9112 §6.3 (4): chunked not last", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", Err(CodingSyntax)),
    ("chunked twice", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", Err(CodingSyntax)),
    ("two fields", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", Err(CodingSyntax)),
    ("two fields, one identity", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", Err(CodingSyntax)),
    ("empty", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", Err(CodingSyntax)),
    ("empty element", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n", Err(CodingSyntax)),
    ("parameter", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;a=b\r\n\r\n", Err(CodingSyntax)),
    ("quoted", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", Err(CodingSyntax)),
    ("prefix", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", Err(CodingUnknown)),
    ("vertical tab", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n", Err(FieldValue)),
    ("space before the colon", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", Err(FieldSpace)),
    ("folded", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", Err(FieldFold)),
    ("non-breaking space", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \xa0chunked\r\n\r\n", Err(CodingSyntax)),
    // Expect and Connection
    ("RFC 9110 §10.1.1: 100-continue", b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n", OK),
    ("another expectation", b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", Err(Expectation)),
    ("empty expectation", b"POST / HTTP/1.1\r\nHost: a\r\nExpect:\r\n\r\n", Err(Expectation)),
    ("two expectations", b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: x\r\n\r\n", Err(Expectation)),
    ("framing goes before the expectation", b"POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nTransfer-Encoding: x\r\nContent-Length: 1\r\n\r\n", Err(LengthAndCoding)),
    ("RFC 9110 §7.8: Upgrade is ignored", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade, http2-settings\r\nUpgrade: h2c\r\n\r\n", OK),
    ("TE is ignored", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: te\r\nTE: trailers\r\n\r\n", OK),
    // The first thing wrong is what is reported
    ("bare LF, then an unknown method's field", b"GET / HTTP/1.1\r\nX: a\nHost : b\r\n\r\n", Err(BareLf)),
    ("garbage after a complete head is not its matter", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n\0\n\r \xff", OK),
    ("pipelined", b"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: b\r\n\r\n", OK),
];

pub const BODIES: &[Case] = &[
    ("RFC 9112 §7.1: empty", b"0\r\n\r\n", OK),
    ("one chunk", b"5\r\nhello\r\n0\r\n\r\n", OK),
    (
        "two chunks, hex in both cases",
        b"a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n",
        OK,
    ),
    ("leading zeros", b"0005\r\nhello\r\n000\r\n\r\n", OK),
    ("16 digits", b"0000000000000001\r\nx\r\n0\r\n\r\n", OK),
    (
        "17 digits",
        b"00000000000000001\r\nx\r\n0\r\n\r\n",
        Err(ChunkSize),
    ),
    ("2^53", b"20000000000000\r\n", Err(ChunkOverflow)),
    ("2^64 - 1", b"ffffffffffffffff\r\n", Err(ChunkOverflow)),
    ("2^64", b"10000000000000000\r\n", Err(ChunkSize)),
    (
        "sum past 2^53 - 1",
        b"1\r\nx\r\n1fffffffffffff\r\n",
        Err(ChunkOverflow),
    ),
    ("no size", b"\r\nhello\r\n", Err(ChunkSize)),
    ("0x", b"0x5\r\nhello\r\n", Err(ChunkSize)),
    ("plus", b"+5\r\nhello\r\n", Err(ChunkSize)),
    ("minus", b"-5\r\nhello\r\n", Err(ChunkSize)),
    ("leading space", b" 5\r\nhello\r\n", Err(ChunkSize)),
    ("space after the size", b"5 \r\nhello\r\n", Err(ChunkSize)),
    ("tab after the size", b"5\t\r\nhello\r\n", Err(ChunkSize)),
    ("underscore", b"1_0\r\n", Err(ChunkSize)),
    ("no hex", b"g\r\n", Err(ChunkSize)),
    ("NUL", b"5\0\r\nhello\r\n", Err(ChunkSize)),
    (
        "RFC 9112 §2.2: bare LF after the size",
        b"5\nhello\r\n0\r\n\r\n",
        Err(BareLf),
    ),
    (
        "bare CR after the size",
        b"5\rhello\r\n0\r\n\r\n",
        Err(BareCr),
    ),
    (
        "bare LF after the data",
        b"5\r\nhello\n0\r\n\r\n",
        Err(ChunkEnd),
    ),
    (
        "no CRLF after the data",
        b"5\r\nhello0\r\n\r\n",
        Err(ChunkEnd),
    ),
    ("too much data", b"5\r\nhello!\r\n0\r\n\r\n", Err(ChunkEnd)),
    (
        "CR and no LF after the data",
        b"5\r\nhello\r0\r\n\r\n",
        Err(ChunkEnd),
    ),
    ("bare LF as the end", b"0\r\n\n", Err(BareLf)),
    ("bare LF twice", b"0\n\n", Err(BareLf)),
    ("bare CR as the end", b"0\r\n\rX", Err(BareCr)),
    (
        "RFC 9112 §7.1.1: extension",
        b"5;a\r\nhello\r\n0;b\r\n\r\n",
        OK,
    ),
    (
        "extension with a value",
        b"5;a=b;c=d\r\nhello\r\n0\r\n\r\n",
        OK,
    ),
    (
        "quoted value",
        b"5;a=\"b \\\" ;\t\x80\"\r\nhello\r\n0\r\n\r\n",
        OK,
    ),
    (
        "empty quoted value",
        b"5;a=\"\";b\r\nhello\r\n0\r\n\r\n",
        OK,
    ),
    (
        "bare semicolon",
        b"5;\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "two semicolons",
        b"5;;a\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "no name",
        b"5;=b\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "no value",
        b"5;a=\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "white space before the semicolon",
        b"5 ;a\r\nhello\r\n0\r\n\r\n",
        Err(ChunkSize),
    ),
    (
        "white space after the semicolon",
        b"5; a\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "white space after the name",
        b"5;a =b\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "white space after the value",
        b"5;a=b \r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "text after a quoted value",
        b"5;a=\"b\"c\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "control in an extension",
        b"5;a\x01\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "control in a quoted value",
        b"5;a=\"\x01\"\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "bare LF in an extension",
        b"5;a\nhello\r\n0\r\n\r\n",
        Err(BareLf),
    ),
    (
        "bare LF in a quoted value",
        b"5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
        Err(BareLf),
    ),
    (
        "CR in a quoted value",
        b"5;a=\"\r\"\r\nhello\r\n0\r\n\r\n",
        Err(ChunkExtension),
    ),
    (
        "bare CR after an extension",
        b"5;a\rX\nhello\r\n0\r\n\r\n",
        Err(BareCr),
    ),
    (
        "RFC 9112 §7.1.2: trailers",
        b"0\r\nA: b\r\nC-d:\r\nE: \t\xff\r\n\r\n",
        OK,
    ),
    ("trailer without colon", b"0\r\nA\r\n\r\n", Err(FieldColon)),
    (
        "space before the colon",
        b"0\r\nA : b\r\n\r\n",
        Err(FieldSpace),
    ),
    ("empty name", b"0\r\n: b\r\n\r\n", Err(FieldName)),
    ("name no token", b"0\r\nA(: b\r\n\r\n", Err(FieldName)),
    ("folded", b"0\r\nA: b\r\n c\r\n\r\n", Err(FieldFold)),
    ("NUL in the value", b"0\r\nA: \0\r\n\r\n", Err(FieldValue)),
    ("bare CR in the value", b"0\r\nA: b\rc\r\n\r\n", Err(BareCr)),
    ("bare LF after a trailer", b"0\r\nA: b\n\r\n", Err(BareLf)),
    (
        "RFC 9110 §6.5.1: Content-Length",
        b"0\r\nContent-Length: 5\r\n\r\n",
        Err(TrailerForbidden),
    ),
    (
        "Transfer-Encoding",
        b"0\r\ntransfer-encoding: chunked\r\n\r\n",
        Err(TrailerForbidden),
    ),
    (
        "Host",
        b"0\r\nA: b\r\nHOST: a\r\n\r\n",
        Err(TrailerForbidden),
    ),
    ("TE", b"0\r\nte: a\r\n\r\n", Err(TrailerForbidden)),
    (
        "a name that starts like a forbidden one",
        b"0\r\nTransfer-Encodings: a\r\nHostess: b\r\nt: c\r\n\r\n",
        OK,
    ),
    (
        "bytes after the end belong to the next request",
        b"0\r\n\r\nGET / HTTP/1.1\r\n",
        OK,
    ),
    ("not complete", b"5\r\nhel", OK),
];

/// The end of feeding: nothing wrong yet, a head, or a refusal.
pub type Verdict = Result<Option<Head>, Refusal>;

/// Feeds prefixes of `bytes` that end at `cuts`, then all of them, as reads from a socket would.
pub fn feed_head(bytes: &[u8], cuts: impl IntoIterator<Item = usize>, limits: &Limits) -> Verdict {
    let mut head = Head::new();
    let mut scanned = 0;
    for end in cuts.into_iter().chain([bytes.len()]) {
        if parse_head(&bytes[..end], &mut scanned, limits, &mut head)? == Progress::Complete {
            assert_eq!(scanned, 0, "ready for the next head");
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// What a chunked body came to: its data, the bytes consumed, and whether it is complete.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    pub data: Vec<u8>,
    pub consumed: usize,
    pub done: bool,
    pub refusal: Option<Refusal>,
}

/// Feeds `bytes` in pieces that end at `cuts`.
pub fn feed_body(bytes: &[u8], cuts: impl IntoIterator<Item = usize>, limits: &Limits) -> Body {
    let mut decoder = chunked::Decoder::default();
    let mut body = Body::default();
    for end in cuts.into_iter().chain([bytes.len()]) {
        while body.consumed < end && !body.done {
            let piece = &bytes[body.consumed..end];
            match decoder.step(piece, limits) {
                Ok(step) => {
                    assert!(
                        step.consumed > 0 && step.consumed <= piece.len(),
                        "progress"
                    );
                    if let Some(range) = step.data {
                        assert!(!range.is_empty() && range.end <= step.consumed);
                        body.data.extend_from_slice(&piece[range]);
                    }
                    body.consumed += step.consumed;
                    body.done = step.done;
                }
                Err(refusal) => {
                    return Body {
                        consumed: 0,
                        refusal: Some(refusal),
                        ..body
                    };
                }
            }
        }
    }
    assert_eq!(decoder.is_done(), body.done);
    body
}
