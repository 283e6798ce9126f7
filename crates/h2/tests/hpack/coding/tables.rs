//! Both tables: indices, names, evictions, and their size.

use super::error;
use crate::blocks::{decode, fields, hex};
use h2::hpack::{Decoder, Error, encode};

#[test]
fn indices() {
    for unknown in [
        "80", "be", "ff00", "ff8080", "7e0161", "7f000161", "0f2f0161", "1f2f0161",
    ] {
        let expected = if unknown == "ff8080" {
            Error::Truncated
        } else {
            Error::Index
        };
        assert_eq!(error(unknown), Err(expected), "{unknown}");
    }
    assert_eq!(error("bd"), Ok(fields("www-authenticate: ")));
    // An entry is evicted when a larger one needs its room, and a field larger than the table empties it.
    let mut decoder = Decoder::new(64);
    assert_eq!(
        decode(&mut decoder, &hex("400161016240016301644001650166bebf")),
        Err(Error::Index)
    );
    let mut decoder = Decoder::new(64);
    let block = format!("4001610162be4001611f{}be", "61".repeat(31));
    assert_eq!(
        decode(&mut decoder, &hex(&block)),
        Ok(fields(&format!(
            "a: b\na: b\na: {0}\na: {0}",
            "a".repeat(31)
        )))
    );
    let block = format!("400161016240016120{}", "61".repeat(32));
    assert_eq!(
        decode(&mut decoder, &hex(&block)),
        Ok(fields(&format!("a: b\na: {}", "a".repeat(32))))
    );
    assert_eq!(decode(&mut decoder, &hex("be")), Err(Error::Index));
}

#[test]
fn a_name_of_an_entry_that_its_field_evicts() {
    // §4.4: the name is read before the entry that contains it is evicted.
    let mut decoder = Decoder::new(64);
    let long = format!("400a637573746f6d2d6b657901{}", "61");
    assert_eq!(
        decode(&mut decoder, &hex(&long)),
        Ok(fields("custom-key: a"))
    );
    assert_eq!(
        decode(&mut decoder, &hex("7e0162")),
        Ok(fields("custom-key: b"))
    );
    assert_eq!(
        decode(&mut decoder, &hex("be")),
        Ok(fields("custom-key: b"))
    );
    assert_eq!(decode(&mut decoder, &hex("bf")), Err(Error::Index));
}

/// Writes an integer (RFC 7541 §5.1) with a prefix of this many bits behind `first`.
fn integer(value: usize, bits: u32, first: u8) -> Vec<u8> {
    let most = (1 << bits) - 1;
    if value < most {
        return vec![first | value as u8];
    }
    let mut bytes = vec![first | most as u8];
    let mut rest = value - most;
    while rest >= 128 {
        bytes.push(rest as u8 | 128);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// Compares with a model of RFC 7541 §2.3.2 and §4, for short and long names, which are sent and referred to.
#[test]
fn long_names_that_are_referred_to() {
    let mut random = mutants::Random::new(7);
    for round in 0..200 {
        let mut decoder = Decoder::new(4_096);
        // The newest field is first.
        let mut model: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for step in 0..300_usize {
            let mut block = Vec::new();
            let mut expected = Vec::new();
            for _ in 0..=random.below(8) {
                let value = vec![b'v'; [0, 1, 40, 700][random.below(4)]];
                let known = (!model.is_empty()).then(|| random.below(model.len()));
                let known = known.filter(|_| !random.chance(4));
                if let Some(known) = known
                    && random.chance(3)
                {
                    block.extend(integer(62 + known, 7, 0x80));
                    expected.push(model[known].clone());
                    continue;
                }
                let is_added = !random.chance(5);
                let (bits, first) = if is_added { (6, 0x40) } else { (4, 0) };
                let name = if let Some(known) = known {
                    block.extend(integer(62 + known, bits, first));
                    model[known].0.clone()
                } else {
                    let length = [5, 128, 129, 1_000, 4_000][random.below(5)];
                    let mut name = format!("{round}-{step}-").into_bytes();
                    name.resize(length.max(name.len()), b'n');
                    block.push(first);
                    block.extend(integer(name.len(), 7, 0));
                    block.extend(&name);
                    name
                };
                block.extend(integer(value.len(), 7, 0));
                block.extend(&value);
                expected.push((name.clone(), value.clone()));
                if is_added {
                    model.insert(0, (name, value));
                    let size = |model: &[(Vec<u8>, Vec<u8>)]| -> usize {
                        model
                            .iter()
                            .map(|(name, value)| name.len() + value.len() + 32)
                            .sum()
                    };
                    while size(&model) > 4_096 {
                        model.pop();
                    }
                }
            }
            let mut seen = Vec::new();
            let result = decoder.decode(&block, &mut |field| {
                seen.push((field.name.to_vec(), field.value.to_vec()));
            });
            assert_eq!(result, Ok(()));
            assert!(seen == expected, "{round} {step}");
            assert!(decoder.memory() <= 17 * 1_024, "{}", decoder.memory());
        }
    }
}

#[test]
fn size_updates() {
    // Two size updates are allowed at the start; a third, one behind a field, and one above the setting are not.
    assert_eq!(error("203fe11f82"), Ok(fields(":method: GET")));
    assert_eq!(error("20202082"), Err(Error::SizeUpdate));
    assert_eq!(error("8220"), Err(Error::SizeUpdate));
    assert_eq!(error("3fe21f"), Err(Error::SizeUpdate));
    // A size of 0 empties the table, and a table of size 0 stores nothing.
    let mut decoder = Decoder::new(4_096);
    let three = decode(&mut decoder, &hex("4001610162"));
    assert_eq!(three, Ok(fields("a: b")));
    assert_eq!(decode(&mut decoder, &hex("20")), Ok(fields("")));
    assert_eq!(
        decode(&mut decoder, &hex("4001610162be")),
        Err(Error::Index)
    );
}

#[test]
fn indices_of_names() {
    let names = |block: &str| {
        let mut found = Vec::new();
        let decoded = Decoder::new(4_096).decode(&hex(block), &mut |field| {
            found.push((field.name_index, field.sensitive));
        });
        decoded.map(|()| found)
    };
    // These are an indexed field, names by index, plain and never-indexed, and the second index of a name.
    assert_eq!(
        names("82 83 87 8e"),
        Ok(vec![(2, false), (2, false), (6, false), (8, false)])
    );
    assert_eq!(
        names("410161 be 010161 110161 7e0162 be"),
        Ok(vec![
            (1, false),
            (1, false),
            (1, false),
            (1, true),
            (1, false),
            (1, false)
        ])
    );
    // The name is a literal, plain and Huffman-coded: `accept`, and `Accept`, which is a different name.
    assert_eq!(
        names("4006616363657074 00 be"),
        Ok(vec![(19, false), (19, false)])
    );
    assert_eq!(names("4085 19085ad3 ff 00 be"), Err(Error::Huffman));
    assert_eq!(
        names("4084 19085ad3 00 be"),
        Ok(vec![(19, false), (19, false)])
    );
    assert_eq!(names("0006416363657074 00 be"), Err(Error::Index));
    assert_eq!(
        names("4006416363657074 00 be"),
        Ok(vec![(0, false), (0, false)])
    );
    assert_eq!(names("400161 00 be"), Ok(vec![(0, false), (0, false)]));
}

#[test]
fn every_name_of_the_static_table() {
    for index in 1..=61_u8 {
        let mut found = Vec::new();
        let decoded = Decoder::new(4_096).decode(&[0x80 | index], &mut |field| {
            found.push((field.name.to_vec(), field.name_index));
        });
        assert_eq!(decoded, Ok(()));
        let (name, first) = found.pop().expect("a field");
        assert!(first <= index);
        let mut spelled = vec![0x00, name.len() as u8];
        spelled.extend(&name);
        spelled.extend([1, b'x']);
        let decoded = Decoder::new(4_096).decode(&spelled, &mut |field| {
            assert_eq!((field.name, field.name_index), (&name[..], first));
        });
        assert_eq!(decoded, Ok(()));
        // The encoder finds the same index of the name.
        let mut block = Vec::new();
        encode::field(&mut block, &name.to_ascii_uppercase(), b"x");
        let decoded = decode(&mut Decoder::new(0), &block);
        assert_eq!(decoded, Ok(vec![(name.clone(), b"x".to_vec())]));
        assert!(block.len() <= 4, "{block:?}");
    }
}
