//! The fields of the handshake.

use ws::{Deflate, accept_key, negotiate};

#[test]
fn accepts_the_key_of_the_rfc() {
    // RFC 6455 §1.3.
    let accept = accept_key(b"dGhlIHNhbXBsZSBub25jZQ==").unwrap();
    assert_eq!(&accept, b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn refuses_keys_that_are_not_16_bytes_in_base64() {
    for key in [
        "",
        "==",
        "dGhlIHNhbXBsZSBub25jZQ=",
        "dGhlIHNhbXBsZSBub25jZQ",
        "dGhlIHNhbXBsZSBub25jZQ===",
        "dGhlIHNhbXBsZSBub25j",
        "dGhlIHNhbXBsZSBub25jZWE=",
        "dGhlIHNhbXBsZSBub25jZWFi",
        "dGhlIHNhbXBsZSBub25jZQ==dGhl",
        " dGhlIHNhbXBsZSBub25jZQ==",
        "dGhlIHNhbXBsZSBub2-_ZQ==",
        "dGhlIHNhbXBsZSBub\u{e9}jZQ==",
    ] {
        assert_eq!(accept_key(key.as_bytes()), None, "{key}");
    }
    assert!(accept_key(b"++++////AAAAzzzz099999==").is_some());
}

const USUAL: Deflate = Deflate {
    answer: "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
    longest: usize::MAX,
};

#[test]
fn accepts_offers_of_permessage_deflate() {
    for offers in [
        "permessage-deflate",
        "Permessage-Deflate",
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate;client_max_window_bits=15;server_no_context_takeover",
        "permessage-deflate ; client_no_context_takeover; client_max_window_bits=\"8\"",
        "x-other; a=b; c=\"d\", permessage-deflate",
        "permessage-deflate; server_max_window_bits=7, permessage-deflate",
        "permessage-deflate; unknown, permessage-deflate; client_max_window_bits",
        ", permessage-deflate, ,",
    ] {
        assert_eq!(negotiate(offers), Some(USUAL), "{offers}");
    }
}

#[test]
fn accepts_any_window_of_the_server() {
    for (bits, longest) in [(8, 256), (9, 512), (14, 16_384), (15, usize::MAX)] {
        let offer = format!("permessage-deflate; server_max_window_bits={bits}");
        let accepted = negotiate(&offer).unwrap();
        let answer = format!("{}; server_max_window_bits={bits}", USUAL.answer);
        assert_eq!((accepted.answer, accepted.longest), (&*answer, longest));
    }
    // The first acceptable offer counts.
    let two = "permessage-deflate, permessage-deflate; server_max_window_bits=15";
    assert_eq!(negotiate(two), Some(USUAL));
}

#[test]
fn declines_all_else() {
    for offers in [
        "",
        ",",
        "x-webkit-deflate-frame",
        "permessage-deflate-2",
        // RFC 7692 §7.1: a parameter that is unknown, has a wrong value, or is there twice.
        "permessage-deflate; unknown",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_no_context_takeover=\"\"",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=015",
        "permessage-deflate; server_max_window_bits=08",
        "permessage-deflate; server_max_window_bits=+9",
        "permessage-deflate; server_max_window_bits=1000",
        "permessage-deflate; server_max_window_bits=-15",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_max_window_bits=08",
        "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=99999999999999999999",
        "permessage-deflate; server_max_window_bits=15; server_max_window_bits=15",
        // Malformed.
        "permessage-deflate;",
        "permessage-deflate; =15",
        "permessage-deflate; server_max_window_bits=",
        "permessage-deflate; server_max_window_bits=\"15",
        "permessage-deflate; client_max_window_bits=\"1\"5\"",
        "permessage-deflate, \"",
        "x-other; c=\"d,e;f\", permessage-deflate",
        "permessage deflate",
        "permessage-deflate, a b",
        "; permessage-deflate",
    ] {
        assert_eq!(negotiate(offers), None, "{offers}");
    }
}
