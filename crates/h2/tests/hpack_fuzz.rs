//! Seeded fuzzing of HPACK on stable Rust. `FUZZ_SECONDS` (default 1) bounds each test, and `FUZZ_SEED` repeats a run.
//!
//! The tests check these rules. There is no panic. Fields and verdicts are equal to those of a decoder that follows the
//! text of the RFC, and of the `h2` crate. The ends of blocks do not change the result. Memory stays within its bound.
//! Encoded fields decode to the same fields.

#[path = "hpack/blocks/mod.rs"]
mod blocks;

use blocks::literal::Literal;
use blocks::rival::{Rival, Verdict, agrees};
use blocks::series::{blocks, series};
use blocks::{decode, names_and_values, read};
use h2::hpack::{Decoder, Error, encode};

/// Three times the table, 1 KiB, and the entries of the 128 fields that the table can have.
const MOST_MEMORY: usize = 3 * 4_096 + 1_024 + 128 * 20;

#[test]
fn blocks_of_a_connection() {
    mutants::run("blocks", series, |bytes, random| {
        let limit = [4_096, 4_096, 256, 64, 0][random.below(5)];
        let mut decoder = Decoder::new(limit);
        let mut literal = Literal::new(limit);
        let mut rival = (limit == 4_096).then(Rival::new);
        for block in blocks(bytes) {
            let fields = read(&mut decoder, block);
            let expected = literal.decode(block);
            let expected =
                expected.map(|fields| fields.into_iter().map(|(field, _)| field).collect());
            assert_eq!(fields, expected);
            assert!(decoder.memory() <= MOST_MEMORY, "{}", decoder.memory());
            if let Some(theirs) = &mut rival {
                let verdict = theirs.decode(block);
                let fields = fields.clone().map(names_and_values);
                assert!(
                    agrees(block, &fields, &verdict),
                    "{block:02x?} {fields:?} {verdict:?}"
                );
                // After an error the decoder must not be used again.
                if matches!(verdict, Verdict::Error) {
                    rival = None;
                }
            }
            if fields.is_err() {
                break;
            }
        }
    });
}

/// Puts each field into a block of its own, with updates of the table's size before the first: the fields are the same.
#[test]
fn blocks_of_one_field() {
    mutants::run("blocks of one field", series, |bytes, _| {
        let (mut whole, mut pieces) = (Decoder::new(4_096), Decoder::new(4_096));
        let mut literal = Literal::new(4_096);
        for block in blocks(bytes) {
            let Ok(expected) = literal.decode(block) else {
                break;
            };
            let mut found = Vec::new();
            let mut start = 0;
            for (_, end) in &expected {
                let piece = read(&mut pieces, &block[start..*end]);
                found.extend(piece.expect("a field"));
                start = *end;
            }
            assert_eq!(read(&mut pieces, &block[start..]), Ok(Vec::new()));
            assert_eq!(read(&mut whole, block), Ok(found));
        }
    });
}

/// Decodes any bytes as blocks, and as Huffman codes.
#[test]
fn any_bytes() {
    let make = |random: &mut mutants::Random| {
        let length = random.below(40);
        (0..length).map(|_| random.next() as u8).collect()
    };
    mutants::run("any bytes", make, |bytes, _| {
        let expected = Literal::new(4_096).decode(bytes);
        let expected = expected.map(|fields| fields.into_iter().map(|(field, _)| field).collect());
        assert_eq!(read(&mut Decoder::new(4_096), bytes), expected);

        let mut coded = vec![0x5f, 0x80 | bytes.len() as u8];
        coded.extend(bytes);
        let value = blocks::code::decode(bytes);
        let expected = value.map(|value| vec![(b"content-type".to_vec(), value)]);
        assert_eq!(
            decode(&mut Decoder::new(4_096), &coded),
            expected.ok_or(Error::Huffman)
        );
    });
}

#[test]
fn what_is_encoded_comes_back() {
    mutants::run("encoded", series, |bytes, random| {
        let mut literal = Literal::new(4_096);
        let mut block = Vec::new();
        encode::table_size(&mut block, 0);
        let mut expected = Vec::new();
        for part in blocks(bytes) {
            let status = 100 + random.below(900) as u16;
            encode::status(&mut block, status);
            expected.push((b":status".to_vec(), status.to_string().into_bytes(), false));
            for (field, _) in literal.decode(part).unwrap_or_default() {
                let name = field.name.to_ascii_uppercase();
                encode::field(
                    &mut block,
                    if random.chance(2) { &name } else { &field.name },
                    &field.value,
                );
                let name = field.name.to_ascii_lowercase();
                let sensitive = name == b"set-cookie" || name == b"authorization";
                expected.push((name, field.value, sensitive));
            }
        }
        let fields = read(&mut Decoder::new(4_096), &block);
        let fields = fields.map(|fields| {
            fields
                .into_iter()
                .map(|it| (it.name, it.value, it.sensitive))
                .collect()
        });
        assert_eq!(fields, Ok(expected));
    });
}
