//! The first byte gives the size of the table, and the next one the length of each block. The target checks that there
//! is no panic, that memory stays within its bound, and that decoded fields are the same after encoding and decoding
//! again.
#![no_main]

use h2::hpack::{Decoder, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [size, length, bytes @ ..] = data else {
        return;
    };
    let most = usize::from(*size) * 17;
    let mut decoder = Decoder::new(most);
    let mut block = Vec::new();
    let mut expected = Vec::new();
    for bytes in bytes.chunks(usize::from(*length) + 1) {
        let decoded = decoder.decode(bytes, &mut |field| {
            encode::field(&mut block, field.name, field.value);
            expected.push((field.name.to_ascii_lowercase(), field.value.to_vec()));
        });
        assert!(decoder.memory() <= 5 * most + 1_024);
        if decoded.is_err() {
            break;
        }
    }
    let mut fields = Vec::new();
    let decoded = Decoder::new(0).decode(&block, &mut |field| {
        fields.push((field.name.to_vec(), field.value.to_vec()));
    });
    assert_eq!((decoded, fields), (Ok(()), expected));
});
