//! What a server writes.

use ws::{LONGEST_REASON, Opcode, close_payload, frame_head};

#[test]
fn heads_of_frames() {
    let head = |length| frame_head(Opcode::Text, length, false).to_vec();
    assert_eq!(head(0), [0x81, 0]);
    assert_eq!(head(125), [0x81, 125]);
    assert_eq!(head(126), [0x81, 126, 0, 126]);
    assert_eq!(head(65_535), [0x81, 126, 0xff, 0xff]);
    assert_eq!(head(65_536), [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    let first = |opcode, compressed| frame_head(opcode, 0, compressed)[0];
    assert_eq!(first(Opcode::Binary, false), 0x82);
    assert_eq!(first(Opcode::Text, true), 0xc1);
    assert_eq!(first(Opcode::Binary, true), 0xc2);
    assert_eq!(first(Opcode::Close, false), 0x88);
    assert_eq!(first(Opcode::Ping, false), 0x89);
    assert_eq!(first(Opcode::Pong, false), 0x8a);
}

#[test]
fn payloads_of_close_frames() {
    assert!(close_payload(1005, "not sent").is_empty());
    assert_eq!(close_payload(1000, "").to_vec(), [3, 232]);
    assert_eq!(
        close_payload(4999, "bye ü").to_vec(),
        b"\x13\x87bye \xc3\xbc"
    );
    let whole = "r".repeat(LONGEST_REASON);
    assert_eq!(&close_payload(1000, &whole)[2..], whole.as_bytes());
    assert_eq!(
        &close_payload(1000, &format!("{whole}r"))[2..],
        whole.as_bytes()
    );
    // A character of four bytes does not fit into the last three.
    let cut = format!("{}𝄞", "r".repeat(LONGEST_REASON - 3));
    assert_eq!(
        &close_payload(1000, &cut)[2..],
        &cut.as_bytes()[..LONGEST_REASON - 3]
    );
}
