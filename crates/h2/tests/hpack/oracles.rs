//! Decodes random blocks with this crate, with the `h2` crate and with the Python package hpack 4.2, and compares
//! verdicts and fields.
//!
//! `HPACK_BLOCKS` (default 5,000) is the least number of blocks. `PYTHON_HPACK` is a Python that has the package;
//! without it the comparison with the package is skipped. `FUZZ_SEED` repeats a run.
//!
//! These differences are intended, and counted:
//! - `h2` refuses fields that HTTP/2 does not allow while it decodes, and sorts them: see `rival::agrees`.
//! - `h2` and hpack accept more than two size updates at the start of a block. RFC 7541 §4.2 needs only two.
//! - hpack accepts integers of five bytes behind the prefix. §5.1 leaves the limit to the decoder.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use crate::blocks::rival::{Rival, Verdict, agrees};
use crate::blocks::series::{blocks, series};
use crate::blocks::{Fields, decode, has_three_size_updates, hex};
use h2::hpack::{Decoder, Error};

/// The number of series that are made before they are compared.
const BATCH: usize = 500;

/// A block as hpack gets it, and its fields as decoded by this crate.
struct Decoded {
    is_first: bool,
    block: Vec<u8>,
    fields: Result<Fields, Error>,
}

#[derive(Debug, Default)]
struct Counts {
    blocks: usize,
    fields: usize,
    errors: usize,
    compared_with_h2: usize,
    not_allowed_by_h2: usize,
    three_size_updates: usize,
    five_bytes_of_integer: usize,
}

#[test]
fn random_blocks() {
    let wanted =
        std::env::var("HPACK_BLOCKS").map_or(5_000, |text| text.parse().expect("a number"));
    let seed = mutants::seed();
    println!("FUZZ_SEED={seed}");
    let mut random = mutants::Random::new(seed);
    let mut python = std::env::var("PYTHON_HPACK")
        .ok()
        .map(|python| Python::start(&python));
    let mut counts = Counts::default();
    while counts.blocks < wanted {
        let mut batch = Vec::new();
        for _ in 0..BATCH {
            connection(&series(&mut random), &mut batch, &mut counts);
        }
        if let Some(python) = &mut python {
            python.compare(&batch, &mut counts);
        }
    }
    let hpack = if python.is_some() {
        "hpack 4.2"
    } else {
        "hpack: left out, PYTHON_HPACK names no Python"
    };
    println!("{counts:#?}\nh2 and {hpack}: 0 differences");
}

/// Decodes the blocks of a connection up to the first error, with this crate and with `h2`.
fn connection(series: &[u8], batch: &mut Vec<Decoded>, counts: &mut Counts) {
    let mut decoder = Decoder::new(4_096);
    let mut rival = Some(Rival::new());
    for (at, block) in blocks(series).into_iter().enumerate() {
        let fields = decode(&mut decoder, block);
        counts.blocks += 1;
        counts.fields += fields.as_ref().map_or(0, Vec::len);
        counts.errors += usize::from(fields.is_err());
        if let Some(theirs) = &mut rival {
            counts.compared_with_h2 += 1;
            let verdict = theirs.decode(block);
            assert!(
                agrees(block, &fields, &verdict),
                "h2: {block:02x?} {fields:?} {verdict:?}"
            );
            if matches!(verdict, Verdict::Error) {
                rival = None;
                counts.not_allowed_by_h2 += usize::from(fields.is_ok());
            }
        }
        let is_last = fields.is_err();
        batch.push(Decoded {
            is_first: at == 0,
            block: block.to_vec(),
            fields,
        });
        if is_last {
            break;
        }
    }
}

struct Python {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Python {
    fn start(python: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/decode.py");
        let command = &mut Command::new(python);
        let command = command
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("PYTHON_HPACK starts");
        let output = child.stdout.take().expect("its output");
        Self {
            child,
            output: BufReader::new(output),
        }
    }

    fn compare(&mut self, batch: &[Decoded], counts: &mut Counts) {
        let mut input = self.child.stdin.take().expect("its input");
        let mut lines = String::new();
        for decoded in batch {
            if decoded.is_first {
                lines.push('\n');
            }
            lines.push('=');
            lines.extend(decoded.block.iter().map(|byte| format!("{byte:02x}")));
            lines.push('\n');
        }
        std::thread::scope(|scope| {
            // The program prints while it reads.
            let writer = scope.spawn(move || {
                input.write_all(lines.as_bytes()).expect("it reads");
                input.flush().expect("it reads");
                input
            });
            for decoded in batch {
                let mut line = String::new();
                self.output.read_line(&mut line).expect("a line");
                compare(decoded, line.trim_end(), counts);
            }
            self.child.stdin = Some(writer.join().expect("it was written"));
        });
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let ended = self.child.wait().expect("it ends");
        assert!(std::thread::panicking() || ended.success());
    }
}

fn compare(decoded: &Decoded, line: &str, counts: &mut Counts) {
    let Decoded { block, fields, .. } = decoded;
    let theirs: Option<Fields> = line.strip_prefix("ok").map(|text| {
        let fields = text.split_whitespace().map(|field| field.split_once(':'));
        let fields = fields.map(|field| field.expect("a name and a value"));
        fields
            .map(|(name, value)| (hex(name), hex(value)))
            .collect()
    });
    assert!(theirs.is_some() || line == "error", "{line}");
    match fields {
        Err(Error::Integer) => counts.five_bytes_of_integer += usize::from(theirs.is_some()),
        Err(_) if has_three_size_updates(block) => {
            counts.three_size_updates += usize::from(theirs.is_some());
        }
        _ => assert_eq!(
            fields.as_ref().ok(),
            theirs.as_ref(),
            "hpack: {block:02x?} {fields:?}"
        ),
    }
}
