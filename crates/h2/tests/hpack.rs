//! HPACK: the examples of RFC 7541 Appendix C, each error, and the output of the encoder.

mod hpack_blocks;

use h2::hpack::{Decoder, Error, encode};
use hpack_blocks::{Fields, decode, fields, hex};

/// Checks one part of Appendix C: blocks of one connection, and their fields.
fn example(table: usize, blocks: &[(&str, &str)]) {
    let mut decoder = Decoder::new(table);
    for (block, expected) in blocks {
        assert_eq!(decode(&mut decoder, &hex(block)), Ok(fields(expected)));
    }
}

fn error(block: &str) -> Result<Fields, Error> {
    decode(&mut Decoder::new(4_096), &hex(block))
}

#[test]
fn c2_field_representations() {
    example(
        4_096,
        &[
            (
                "400a637573746f6d2d6b65790d637573746f6d2d686561646572",
                "custom-key: custom-header",
            ),
            ("be", "custom-key: custom-header"),
        ],
    );
    example(
        4_096,
        &[("040c2f73616d706c652f70617468", ":path: /sample/path")],
    );
    example(
        4_096,
        &[("100870617373776f726406736563726574", "password: secret")],
    );
    example(4_096, &[("82", ":method: GET")]);
}

const FIRST: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com";
const SECOND: &str =
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache";
const THIRD: &str = ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value";

#[test]
fn c3_requests() {
    example(
        4_096,
        &[
            ("828684410f7777772e6578616d706c652e636f6d", FIRST),
            ("828684be58086e6f2d6361636865", SECOND),
            (
                "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
                THIRD,
            ),
        ],
    );
}

#[test]
fn c4_requests_with_huffman_codes() {
    example(
        4_096,
        &[
            ("828684418cf1e3c2e5f23a6ba0ab90f4ff", FIRST),
            ("828684be5886a8eb10649cbf", SECOND),
            ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", THIRD),
        ],
    );
}

const REPLIES: [&str; 3] = [
    ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
    ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
    ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n\
     content-encoding: gzip\nset-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
];

#[test]
fn c5_replies_with_evictions() {
    example(
        256,
        &[
            (
                "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54\
                 6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
                REPLIES[0],
            ),
            ("4803333037c1c0bf", REPLIES[1]),
            (
                "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f\
                 3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076\
                 657273696f6e3d31",
                REPLIES[2],
            ),
        ],
    );
}

#[test]
fn c6_replies_with_huffman_codes_and_evictions() {
    example(
        256,
        &[
            (
                "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f\
                 0b97c8e9ae82ae43d3",
                REPLIES[0],
            ),
            ("4883640effc1c0bf", REPLIES[1]),
            (
                "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335df\
                 dfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
                REPLIES[2],
            ),
        ],
    );
}

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
