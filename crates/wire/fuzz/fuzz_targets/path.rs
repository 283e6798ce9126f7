//! A canonical path is ASCII, has no dot segments, decodes to UTF-8 without NUL, and is its own canonical form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::canonicalise;

fuzz_target!(|raw: &[u8]| {
    let mut path = Vec::new();
    if canonicalise(raw, &mut path).is_err() {
        return;
    }
    assert!(path.len() <= raw.len() && path.starts_with(b"/"));
    assert!(path.iter().all(u8::is_ascii_graphic));
    assert!(
        path.split(|byte| *byte == b'/')
            .all(|segment| segment != b"." && segment != b"..")
    );
    let mut again = Vec::new();
    assert_eq!(canonicalise(&path, &mut again), Ok(()));
    assert_eq!(again, path);
    assert_eq!(decode(&path), decode(raw));
    let text = String::from_utf8(decode(&path)).expect("UTF-8");
    assert!(!text.contains('\0'));
});

fn decode(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = path;
    while let Some((&byte, after)) = rest.split_first() {
        let hex = (byte == b'%').then(|| std::str::from_utf8(&after[..2]).expect("ASCII"));
        out.push(hex.map_or(byte, |hex| u8::from_str_radix(hex, 16).expect("hex")));
        rest = if hex.is_some() { &after[2..] } else { after };
    }
    out
}
