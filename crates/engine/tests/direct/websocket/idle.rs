//! Clients that are silent.

use std::io::Write;

use engine::SocketSpec;

use super::client::{Client, spec};
use crate::driver::frames::frame;
use crate::driver::{Driver, limits, pass};

#[test]
fn a_silent_client_is_asked_and_then_reset() {
    let spec = SocketSpec {
        idle_timeout: 400,
        ..spec()
    };
    let mut driver = Driver::sockets(&limits(), spec);
    let mut silent = Client::open(&mut driver, b"");
    let mut lively = Client::open(&mut driver, b"");
    pass(&mut driver, 199);
    for client in [&mut silent, &mut lively] {
        client.receive();
        assert!(client.received.is_empty());
    }
    pass(&mut driver, 1);
    assert_eq!(lively.frame(&mut driver), (0x89, Vec::new()));
    assert_eq!(silent.frame(&mut driver), (0x89, Vec::new()));
    lively.stream.write_all(&frame(0x8a, b"")).unwrap();
    pass(&mut driver, 199);
    silent.receive();
    assert!(!silent.ended);
    pass(&mut driver, 1);
    silent.until_end(&mut driver);
    assert_eq!(silent.told(&mut driver), (1006, String::new()));
    lively.receive();
    assert!(!lively.ended);
}
