//! Every case of the corpus, whole, cut, and changed by one byte.

use crate::corpus::{Case, bodies, cases, feed_body, feed_head, read};
use wire::{Limits, Refusal};

#[test]
fn corpus() {
    let cases = cases();
    assert!(cases.len() > 700);
    for Case { name, bytes, code } in &cases {
        let refusal = read(bytes, &Limits::default()).err();
        assert_eq!(refusal.map(Refusal::code), code.as_deref(), "{name}");
    }
}

#[test]
fn every_cut_gives_the_same_verdict() {
    let limits = Limits::default();
    for Case { name, bytes, .. } in &cases() {
        let whole = feed_head(bytes, [], &limits);
        for cut in 0..bytes.len() {
            assert_eq!(
                feed_head(bytes, [cut], &limits),
                whole,
                "{name}, cut at {cut}"
            );
        }
        assert_eq!(
            feed_head(bytes, 0..bytes.len(), &limits),
            whole,
            "{name}, byte by byte"
        );
    }
    for Case { name, bytes, .. } in &bodies() {
        let whole = feed_body(bytes, [], &limits);
        for cut in 0..bytes.len() {
            assert_eq!(
                feed_body(bytes, [cut], &limits),
                whole,
                "{name}, cut at {cut}"
            );
        }
        assert_eq!(
            feed_body(bytes, 0..bytes.len(), &limits),
            whole,
            "{name}, byte by byte"
        );
    }
}

#[test]
fn every_byte_in_every_place_of_a_small_head() {
    let limits = Limits::default();
    let base = b"PUT /a?b HTTP/1.1\r\nHost: c\r\nX-Y: z\r\n\r\n";
    for at in 0..base.len() {
        for byte in 0..=255 {
            let mut bytes = *base;
            bytes[at] = byte;
            let whole = feed_head(&bytes, [], &limits);
            assert_ne!(whole, Err(Refusal::Malformed), "{}", bytes.escape_ascii());
            assert_eq!(
                feed_head(&bytes, 0..bytes.len(), &limits),
                whole,
                "{}",
                bytes.escape_ascii()
            );
            assert_eq!(
                feed_head(&bytes, [at + 1], &limits),
                whole,
                "{}",
                bytes.escape_ascii()
            );
        }
    }
}
