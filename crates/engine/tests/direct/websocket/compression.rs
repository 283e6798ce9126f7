//! permessage-deflate (RFC 7692).

use engine::SocketSpec;
use ring::layout::kind;

use super::client::{Client, apply, message, publish, spec, subscribe};
use crate::driver::frames::frame;
use crate::driver::{Driver, limits};

#[test]
fn compressed_messages_go_both_ways_where_both_agree() {
    let spec = SocketSpec {
        compress_from: Some(100),
        ..spec()
    };
    let mut driver = Driver::sockets(&limits(), spec);
    let (mut packed, head) = Client::offer(&mut driver, b"", b"permessage-deflate");
    assert!(
        head.contains("\r\nSec-WebSocket-Extensions: permessage-deflate; "),
        "{head}"
    );
    let small = b"permessage-deflate; server_max_window_bits=8";
    let (mut small, head) = Client::offer(&mut driver, b"", small);
    assert!(head.contains("; server_max_window_bits=8\r\n"), "{head}");
    let (mut plain, head) = Client::offer(&mut driver, b"", b"x-unknown");
    assert!(!head.contains("Extensions"), "{head}");

    let long = b"long ".repeat(200);
    let mut deflated = Vec::new();
    ws::Deflater::new().deflate(&long, &mut deflated);
    assert!(deflated.len() < 100);
    packed.send(0xc1, &deflated);
    assert_eq!(driver.event(kind::MESSAGE).body, long);

    let read = |driver: &mut Driver, client: &mut Client| {
        let (first, payload) = client.frame(driver);
        if first & 0x40 == 0 {
            return (first, payload);
        }
        let mut receiver = ws::Receiver::new(true);
        let mut bytes = frame(first, &payload);
        let limits = ws::Limits {
            message: 1 << 20,
            fragments: 1,
        };
        let step = receiver.next(&mut bytes, &limits, Some(&mut ws::Inflater::new()));
        let Ok(ws::Step::Gathered { data, .. }) = step else {
            panic!("{step:?}");
        };
        (first, data)
    };
    for client in [&packed, &small, &plain] {
        let socket = client.socket.clone();
        subscribe(&mut driver, &socket, b"t");
    }
    publish(&mut driver, None, b"t", &long);
    publish(&mut driver, None, b"t", b"short");
    apply(&mut driver);
    assert_eq!(read(&mut driver, &mut packed), (0xc1, long.clone()));
    assert_eq!(read(&mut driver, &mut packed), (0x81, b"short".to_vec()));
    for client in [&mut small, &mut plain] {
        assert_eq!(read(&mut driver, client), (0x81, long.clone()));
        assert_eq!(read(&mut driver, client), (0x81, b"short".to_vec()));
    }
    let socket = packed.socket.clone();
    for (payload, first) in [(&long[..99], 0x82), (&long[..100], 0xc2)] {
        message(&mut driver, &socket, 0, payload);
        apply(&mut driver);
        assert_eq!(read(&mut driver, &mut packed), (first, payload.to_vec()));
    }
    // A window of 256 bytes is enough for a message that is not longer.
    let socket = small.socket.clone();
    for (payload, first) in [(&long[..256], 0xc2), (&long[..257], 0x82)] {
        message(&mut driver, &socket, 0, payload);
        apply(&mut driver);
        assert_eq!(read(&mut driver, &mut small), (first, payload.to_vec()));
    }
    // What cannot become smaller is not sent compressed.
    let noise: Vec<u8> = (0..300_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let socket = packed.socket.clone();
    message(&mut driver, &socket, 0, &noise);
    apply(&mut driver);
    assert_eq!(read(&mut driver, &mut packed), (0x82, noise));
    // Without an agreement a compressed frame is a fault.
    plain.send(0xc1, &deflated);
    assert_eq!(plain.told(&mut driver).0, 1002);
}
