//! A chunked body whole, in pieces of the size the first byte says, and byte by byte: one verdict, the same data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Limits, Refusal, chunked::Decoder};

fuzz_target!(|data: &[u8]| {
    let Some((&piece, bytes)) = data.split_first() else {
        return;
    };
    let whole = feed(bytes, bytes.len().max(1));
    assert_eq!(feed(bytes, usize::from(piece).max(1)), whole);
    assert_eq!(feed(bytes, 1), whole);
});

/// The data, the trailer section, and the end of the body.
type Fed = (Vec<u8>, Vec<u8>, Result<Option<usize>, Refusal>);

fn feed(bytes: &[u8], piece: usize) -> Fed {
    let mut decoder = Decoder::default();
    let mut data = Vec::new();
    let mut trailers = Vec::new();
    let mut offset = 0;
    for input in bytes.chunks(piece) {
        let mut at = 0;
        while at < input.len() {
            let step = match decoder.step(&input[at..], &Limits::default()) {
                Ok(step) => step,
                Err(refusal) => return (data, Vec::new(), Err(refusal)),
            };
            assert!(step.consumed > 0);
            if let Some(range) = step.data {
                data.extend_from_slice(&input[at..][range]);
            }
            if let Some(range) = step.trailers {
                trailers.extend_from_slice(&input[at..][range]);
            }
            at += step.consumed;
            if step.done {
                // Every field of the section is found again.
                let lines = trailers.iter().filter(|byte| **byte == b'\n').count();
                assert_eq!(wire::trailers::fields(&trailers).count() + 1, lines);
                return (data, trailers, Ok(Some(offset + at)));
            }
        }
        offset += input.len();
    }
    (data, trailers, Ok(None))
}
