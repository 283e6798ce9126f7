//! The cases that `packages/volant/test/sealer.test.ts` reads, too.

use seal::{IV, KeyRing, Sealed};

#[derive(Debug)]
struct Case {
    derived: Vec<u8>,
    iv: [u8; IV],
    name: String,
    text: String,
    sealed: String,
}

fn cases() -> Vec<Case> {
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../cases/sealed.json")).unwrap();
    rows.iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            Case {
                derived: hex(&text("derived")),
                iv: hex(&text("iv")).try_into().unwrap(),
                name: text("name"),
                text: text("text"),
                sealed: text("sealed"),
            }
        })
        .collect()
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn seals_and_opens_each_case() {
    let cases = cases();
    assert!(cases.len() >= 10);
    let (mut out, mut opened) = (Sealed::default(), Vec::new());
    for case in cases {
        let ring = KeyRing::new(&case.derived).unwrap();
        let (name, text) = (case.name.as_bytes(), case.text.as_bytes());
        assert_eq!(
            ring.seal(case.iv, name, text, &mut out),
            Some(case.sealed.as_str())
        );
        assert_eq!(
            ring.open(name, case.sealed.as_bytes(), &mut opened),
            Some(case.text.as_str())
        );
    }
}
