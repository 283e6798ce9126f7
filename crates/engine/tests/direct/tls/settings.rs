//! Settings of TLS that change while a server runs.

use rustls::pki_types::CertificateDer;

use super::authority::Purpose;
use super::client::{World, certificate};
use crate::driver::limits;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn new_settings_hold_for_new_connections_and_old_ones_go_on() {
    let mut world = World::new();
    let mut driver = world.driver(&limits());
    let mut before = world.connected(&mut driver);
    let fresh = world.ca.issue(Purpose::Server, &["localhost"]);
    world.config.certificates = vec![certificate(&fresh)];
    driver.engine.set_tls(driver.server, &world.config).unwrap();
    let mut after = world.connected(&mut driver);
    let shown = |chain: Option<&[CertificateDer<'static>]>| chain.unwrap()[0].to_vec();
    assert!(shown(after.tls.peer_certificates()) == fresh.chain_der()[0]);
    assert!(shown(before.tls.peer_certificates()) != fresh.chain_der()[0]);
    for client in [&mut before, &mut after] {
        let seen = client.ask(&mut driver, GET);
        driver.reply(&seen, 200, b"reply");
        client.hear(&mut driver, b"reply");
    }
}

#[test]
fn settings_that_are_wrong_change_nothing() {
    let mut world = World::new();
    let mut driver = world.driver(&limits());
    world.config.certificates[0].key = b"nonsense".to_vec();
    let fault = driver.engine.set_tls(driver.server, &world.config);
    assert!(matches!(fault, Err(tls::ConfigFault::Key { .. })));
    let mut client = world.connected(&mut driver);
    let seen = client.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"reply");
    client.hear(&mut driver, b"reply");
}

#[test]
fn a_handshake_that_is_under_way_ends_with_the_settings_it_began_with() {
    let mut world = World::new();
    let mut driver = world.driver(&limits());
    let mut client = world.client(&driver);
    client.pump();
    driver.turn(|_, _| {});
    let fresh = world.ca.issue(Purpose::Server, &["localhost"]);
    world.config.certificates = vec![certificate(&fresh)];
    driver.engine.set_tls(driver.server, &world.config).unwrap();
    let seen = client.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"reply");
    client.hear(&mut driver, b"reply");
}
