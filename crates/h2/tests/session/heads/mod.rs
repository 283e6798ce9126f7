//! The rules of field sections (RFC 9113 §8.1 to §8.5), and the resulting heads.

mod fields;
mod kinds;
mod sizes;

use crate::client::{Client, END_HEADERS, END_STREAM, GET, HEADERS, Seen, block, frame};
use h2::{ErrorCode, Limits};

/// Writes a request with these fields alone.
fn headers(fields: &[(&str, &str)], flags: u8) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, 1, &block(fields))
}

/// Gives `GET` with one field replaced or removed.
fn get_but(name: &str, value: Option<&str>) -> Vec<u8> {
    let mut fields = GET.to_vec();
    fields.retain(|field| field.0 != name);
    if let Some(value) = value {
        fields.push((name, value));
    }
    headers(&fields, END_STREAM)
}

#[track_caller]
fn text_of(bytes: &[u8]) -> String {
    match &Client::new().feed(bytes)[..] {
        [Seen::Head { text, .. }] => text.clone(),
        seen => panic!("{seen:?}"),
    }
}

#[track_caller]
fn is_malformed(bytes: &[u8]) {
    let mut client = Client::new();
    assert_eq!(client.resets(bytes, 1, ErrorCode::ProtocolError), []);
    assert_eq!(client.session.open_streams(), 0);
    // The HPACK tables are still equal, and other streams continue.
    client.open(&crate::client::get(3));
}

#[track_caller]
fn is_refused(limits: &Limits, bytes: &[u8], expected: u16, expected_code: &str) {
    let mut client = Client::with(limits);
    match client.feed(bytes)[..] {
        [
            Seen::Refused {
                status, code, key, ..
            },
        ] => {
            assert_eq!((status, code), (expected, expected_code));
            assert_eq!(client.session.id(key), 1);
            client.session.end_sent(key);
        }
        ref seen => panic!("{seen:?}"),
    }
    client.open(&crate::client::get(3));
}
