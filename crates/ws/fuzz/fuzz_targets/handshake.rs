//! The fields of the handshake as any bytes: no panic, and an answer only to what is an offer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if ws::accept_key(data).is_some() {
        assert!(data.len() == ws::KEY && data.ends_with(b"=="));
    }
    if let Ok(offers) = str::from_utf8(data)
        && ws::negotiate(offers).is_some()
    {
        assert!(offers.to_ascii_lowercase().contains("permessage-deflate"));
    }
});
