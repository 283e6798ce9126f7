//! Integers, Huffman codes, and what is encoded.

use super::error;
use crate::blocks::{decode, fields, hex};
use h2::hpack::{Decoder, Error, encode};

#[test]
fn integers() {
    // C.1.3: 1337 has a prefix of five bits. The table of this decoder can have that size.
    let mut decoder = Decoder::new(1_337);
    assert_eq!(decode(&mut decoder, &hex("3f9a0a")), Ok(fields("")));
    assert_eq!(
        decode(&mut Decoder::new(1_336), &hex("3f9a0a")),
        Err(Error::SizeUpdate)
    );
    // The input ends inside an integer. The first byte alone ended other servers (RUSTSEC-2023-0085).
    for cut in [
        "3f", "3f9a", "ff", "ff80", "7f", "0f", "4f", "1f", "40", "4001", "40016101", "4081",
    ] {
        assert_eq!(error(cut), Err(Error::Truncated), "{cut}");
    }
    // Four bytes behind the prefix are enough for every length. More are refused, whatever their value is.
    assert_eq!(error("3f80808000"), Ok(fields("")));
    assert_eq!(error("3f8080808000"), Err(Error::Integer));
    assert_eq!(error("ffffffff7f"), Err(Error::Index));
    assert_eq!(error("ffffffffff0f"), Err(Error::Integer));
    assert_eq!(error("007fffffff7f"), Err(Error::Truncated));
}

#[test]
fn huffman_codes() {
    assert_eq!(error("5f80"), Ok(fields("content-type: ")));
    assert_eq!(error("5f811f"), Ok(fields("content-type: a")));
    assert_eq!(error("5f8218ff"), Ok(fields("content-type: aa")));
    assert_eq!(error("5f82ff3f"), Ok(fields("content-type: ?")));
    assert_eq!(
        error("5f84fffffff3"),
        Ok(vec![(b"content-type".to_vec(), b"\n".to_vec())])
    );
    // These have padding that is not of ones, padding of eight bits and more, and EOS inside a string.
    for wrong in [
        "5f811e",
        "5f8118",
        "5f821fff",
        "5f81ff",
        "5f84ffffffff",
        "5f8500ffffffff",
        "5f83fffffe",
    ] {
        assert_eq!(error(wrong), Err(Error::Huffman), "{wrong}");
    }
}

#[test]
fn replies_as_they_are_written() {
    let block = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        out
    };
    for status in 100..=999 {
        let block = block(&|out| encode::status(out, status));
        let expected = fields(&format!(":status: {status}"));
        assert_eq!(decode(&mut Decoder::new(0), &block), Ok(expected));
        let is_indexed = matches!(status, 200 | 204 | 206 | 304 | 400 | 404 | 500);
        assert_eq!(block.len(), if is_indexed { 1 } else { 5 });
    }
    let written = block(&|out| {
        encode::table_size(out, 0);
        encode::status(out, 200);
        encode::field(out, b"Content-Type", b"text/plain");
        encode::field(out, b"accept-encoding", b"gzip, deflate");
        encode::field(out, b"Set-Cookie", b"a=b");
        encode::field(out, b"Authorization", b"x");
        encode::field(out, b"X-Name", b"Value");
        encode::indexed_name(out, 28, b"12");
    });
    let expected = "20 88 0f10 0a746578742f706c61696e 90 1f28 03613d62 1f08 0178 00 06782d6e616d65 0556616c7565 0f0d 023132";
    assert_eq!(written, hex(expected));
    let long = "v".repeat(100_000);
    let written = block(&|out| encode::field(out, long.as_bytes(), long.as_bytes()));
    let expected = (long.clone().into_bytes(), long.into_bytes());
    assert_eq!(decode(&mut Decoder::new(0), &written), Ok(vec![expected]));
}
