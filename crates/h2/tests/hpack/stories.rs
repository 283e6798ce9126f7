//! Decodes the field blocks of whole connections that other encoders wrote: cases/stories.json, and with
//! `HPACK_STORIES` the folders of <https://github.com/http2jp/hpack-test-case>.

use std::path::{Path, PathBuf};

use crate::blocks::{Fields, decode, hex};
use h2::hpack::Decoder;
use serde_json::Value;

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn field(name: &str, value: &str) -> (Vec<u8>, Vec<u8>) {
    (name.into(), value.into())
}

/// Moves the fields whose names begin with a colon to the front, as Node.js does. The order among fields of one name
/// stays.
fn sorted(mut fields: Fields) -> Fields {
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    fields
}

#[test]
fn stories() {
    let stories: Value =
        serde_json::from_str(include_str!("../../cases/stories.json")).expect("JSON");
    let mut count = 0;
    for story in list(&stories) {
        let mut decoder = Decoder::new(4_096);
        for block in list(&story["blocks"]) {
            let expected = list(&block["fields"]).iter();
            let expected = expected.map(|pair| field(text(&pair[0]), text(&pair[1])));
            let fields = decode(&mut decoder, &hex(text(&block["wire"]))).map(sorted);
            assert_eq!(
                fields,
                Ok(sorted(expected.collect())),
                "{}",
                story["encoder"]
            );
            count += 1;
        }
    }
    assert_eq!(count, 216);
}

#[test]
fn stories_of_http2jp() {
    let Ok(folder) = std::env::var("HPACK_STORIES") else {
        println!("left out: HPACK_STORIES names no folder");
        return;
    };
    let (mut stories, mut blocks) = (0, 0);
    for file in files(Path::new(&folder)) {
        let story = std::fs::read(&file).expect("a file");
        let story: Value = serde_json::from_slice(&story).expect("JSON");
        let cases = list(&story["cases"]);
        // The table size changes during a connection. The largest size can be used for all of them.
        let sizes = cases
            .iter()
            .filter_map(|case| case["header_table_size"].as_u64());
        let mut decoder = Decoder::new(sizes.max().unwrap_or(4_096).max(4_096) as usize);
        // Files of raw data have no blocks.
        for case in cases.iter().filter(|case| case["wire"].is_string()) {
            let expected = list(&case["headers"]).iter();
            let expected = expected.flat_map(|pair| pair.as_object().expect("an object"));
            let expected = expected.map(|(name, value)| field(name, text(value)));
            let fields = decode(&mut decoder, &hex(text(&case["wire"])));
            assert_eq!(fields, Ok(expected.collect()), "{}", file.display());
            blocks += 1;
        }
        stories += 1;
    }
    assert!(blocks > 0);
    println!("{stories} stories, {blocks} blocks: no difference");
}

/// Gives the JSON files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let found = paths.flat_map(|path| match path.extension() {
        None if path.is_dir() => files(&path),
        Some(extension) if extension == "json" => vec![path],
        _ => Vec::new(),
    });
    found.collect()
}
