//! Panics of the engine, which cost one socket each.

use engine::faults::{Stage, arm};
use ring::layout::kind;

use super::client::{Client, apply, message, publish, spec, stats, subscribe};
use crate::driver::{Driver, limits};

#[test]
fn a_panic_costs_one_socket() {
    for stage in [Stage::Parse, Stage::Encode, Stage::Flush] {
        let mut driver = Driver::sockets(&limits(), spec());
        let mut client = Client::open(&mut driver, b"");
        let mut other = Client::open(&mut driver, b"");
        let (socket, others) = (client.socket.clone(), other.socket.clone());
        arm(stage, 1);
        client.send(0x81, b"hello");
        if stage != Stage::Parse {
            driver.event(kind::MESSAGE);
            message(&mut driver, &socket, 0, b"never");
            apply(&mut driver);
        }
        client.until_end(&mut driver);
        assert_eq!(client.told(&mut driver), (1006, String::new()));
        message(&mut driver, &others, 0, b"alive");
        apply(&mut driver);
        assert_eq!(other.frame(&mut driver), (0x82, b"alive".to_vec()));
        let stats = driver.engine.stats(driver.server).unwrap();
        assert_eq!((stats.panics, stats.sockets), (1, 1));
    }
}

#[test]
fn a_panic_while_publishing_costs_one_subscriber() {
    let mut driver = Driver::sockets(&limits(), spec());
    let mut clients: Vec<_> = (0..3).map(|_| Client::open(&mut driver, b"")).collect();
    for client in &clients {
        let socket = client.socket.clone();
        subscribe(&mut driver, &socket, b"t");
    }
    apply(&mut driver);
    arm(Stage::Flush, 2);
    publish(&mut driver, None, b"t", b"news");
    apply(&mut driver);
    assert_eq!(clients[0].frame(&mut driver), (0x81, b"news".to_vec()));
    assert_eq!(clients[2].frame(&mut driver), (0x81, b"news".to_vec()));
    clients[1].until_end(&mut driver);
    publish(&mut driver, None, b"t", b"more");
    apply(&mut driver);
    assert_eq!(clients[2].frame(&mut driver), (0x81, b"more".to_vec()));
    assert_eq!(stats(&driver).2, 2);
}
