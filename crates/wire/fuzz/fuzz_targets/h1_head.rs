//! A head whole, cut in two where the first byte says, and byte by byte: one verdict.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Head, Limits, PathKind, Progress, Refusal, canonicalise, parse_head};

fuzz_target!(|data: &[u8]| {
    let Some((&cut, bytes)) = data.split_first() else {
        return;
    };
    let whole = feed(bytes, []);
    assert_ne!(whole, Err(Refusal::Malformed));
    assert_eq!(feed(bytes, [bytes.len() * cut as usize / 255]), whole);
    if bytes.len() <= 512 {
        assert_eq!(feed(bytes, 0..bytes.len()), whole);
    }
    let Ok(Some(head)) = whole else { return };
    for span in [head.target, head.path, head.host]
        .into_iter()
        .chain(head.query)
        .chain(head.content_type)
    {
        assert!(span.end() <= head.len);
    }
    for field in &head.fields {
        assert!(field.name.end() < head.len && field.value.end() < head.len);
    }
    if head.path_kind == PathKind::Escaped {
        assert_eq!(canonicalise(head.path.of(bytes), &mut Vec::new()), Ok(()));
    }
});

fn feed(bytes: &[u8], cuts: impl IntoIterator<Item = usize>) -> Result<Option<Head>, Refusal> {
    let mut head = Head::new();
    let mut scanned = 0;
    for end in cuts.into_iter().chain([bytes.len()]) {
        if parse_head(&bytes[..end], &mut scanned, &Limits::default(), &mut head)?
            == Progress::Complete
        {
            return Ok(Some(head));
        }
    }
    Ok(None)
}
