//! Field blocks that cost more than their bytes.

use super::rounds;
use crate::client::{
    CONTINUATION, Client, END_HEADERS, END_STREAM, GET, HEADERS, Seen, block, frame, post,
};
use h2::{ErrorCode, Limits};

/// CVE-2024-27316 and others: CONTINUATION floods.
#[test]
fn continuation_ends_after_eight_frames_or_the_size_of_a_head() {
    let mut client = Client::new();
    assert_eq!(client.feed(&frame(HEADERS, 0, 1, b"")), []);
    let attack = |_| frame(CONTINUATION, 0, 1, b"");
    assert_eq!(rounds(client, attack), (9, 0));
    let mut client = Client::new();
    assert_eq!(client.feed(&frame(HEADERS, 0, 1, &vec![0; 10_000])), []);
    let attack = |_| frame(CONTINUATION, 0, 1, &vec![0; 6_385]);
    assert_eq!(rounds(client, attack), (1, 0));
}

/// The HTTP/2 Bomb of June 2026: indices of one large field. The text ends at its limit.
#[test]
fn a_block_that_stands_for_much_more_is_refused_and_costs_no_memory() {
    let value = "v".repeat(3_900);
    for name in ["cookie", "a"] {
        let mut bomb = block(&GET);
        bomb.extend([0x40, name.len() as u8]);
        bomb.extend(name.as_bytes());
        bomb.extend([127, (3_900 - 127) as u8 | 128, ((3_900 - 127) >> 7) as u8]);
        bomb.extend(value.as_bytes());
        // The block has 12,000 indices of the newest field: 47 MB.
        bomb.extend([0xbe; 12_000]);
        let mut client = Client::new();
        let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb));
        assert!(
            matches!(&seen[..], [Seen::Refused { status: 431, .. }]),
            "{seen:?}"
        );
        assert!(client.head.text.capacity() <= 3 * 16_384);
        assert!(client.session.memory() < 64 * 1_024);
        // The tables of both sides are still equal.
        let block = [&block(&GET)[..], &[0xbe]].concat();
        let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 3, &block));
        assert!(matches!(&seen[..], [Seen::Head { text, .. }] if text.contains(&value)));
    }
}

/// Indices of a field that adds no text count like others: `host` beside an equal `:authority`, and a name that cannot
/// be a trailer and is left out.
#[test]
fn a_block_of_fields_that_are_left_out_is_refused() {
    let name = "v".repeat(3_900);
    let value_of = |value: &str| [&[127, 189, 29], value.as_bytes()].concat();
    assert_eq!(127 + 61 + (29 << 7), name.len());
    // `:authority` is inserted under its name, then `host`, and 8,000 indices of `host` follow.
    let bomb = [
        &block(&GET[..3])[..],
        &[0x41],
        &value_of(&name),
        &[0x66],
        &value_of(&name),
        &[0xbe; 8_000],
    ];
    let mut client = Client::new();
    let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb.concat()));
    let is_refused = |seen: &[Seen]| matches!(seen, [Seen::Refused { status, code, .. }] if *status == 400 && *code == "E_HOST_REPEATED");
    assert!(is_refused(&seen), "{seen:?}");
    let small = Limits {
        wire: wire::Limits {
            max_header_size: 7_831,
            ..wire::Limits::default()
        },
        ..Limits::default()
    };
    let once = bomb[..5].concat();
    let mut client = Client::with(&small);
    let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &once));
    assert!(
        matches!(
            &seen[..],
            [Seen::Refused {
                code: "E_HEAD_TOO_LARGE",
                ..
            }]
        ),
        "{seen:?}"
    );

    let age = |value: &str, times: usize| {
        let mut fields = block(&[("a", "b")]);
        fields.push(0x55);
        fields.extend(value_of(value));
        fields.extend(vec![0xbe; times - 1]);
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &fields)
    };
    // Twice 3,907 bytes and six more pass; three times do not.
    let mut client = Client::new();
    let key = client.open(&post(1));
    let text = "a: b\r\n".to_string();
    assert_eq!(client.feed(&age(&name, 2)), [Seen::Trailers { key, text }]);
    for trailers in [
        age(&name, 3),
        frame(
            HEADERS,
            END_HEADERS | END_STREAM,
            1,
            &block(&[("age", ""); 33]),
        ),
    ] {
        let mut client = Client::new();
        let key = client.open(&post(1));
        let seen = client.resets(&trailers, 1, ErrorCode::EnhanceYourCalm);
        assert_eq!(seen, [Seen::Gone(key)]);
    }
}
