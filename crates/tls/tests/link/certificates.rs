//! The choice of the certificate for a client.

use crate::authority::Purpose;
use crate::pair::{World, certificate};

/// Makes a world with four certificates. The first is for localhost.
fn world() -> World {
    let mut world = World::new();
    let wildcard = world.ca.issue(Purpose::Server, &["*.wild.test"]);
    let second = world
        .ca
        .issue(Purpose::Server, &["second.test", "third.test"]);
    let special = world.ca.issue(Purpose::Server, &["special.wild.test"]);
    world.config.certificates.extend([
        certificate(&["*.Wild.test"], &wildcard),
        certificate(&["second.test", "THIRD.test"], &second),
        certificate(&["special.wild.test"], &special),
    ]);
    world
}

#[test]
fn the_name_chooses_the_certificate() {
    let world = world();
    let settings = world.settings();
    for (name, index) in [
        ("localhost", 0),
        ("a.wild.test", 1),
        ("second.test", 2),
        ("Third.Test", 2),
        ("special.wild.test", 3),
    ] {
        let mut pair = world.client().named(name).connect(&settings);
        pair.settle().unwrap();
        let shown = &pair.client.peer_certificates().unwrap()[0];
        assert!(
            **shown == world.config.certificates[index].chain[0],
            "{name}"
        );
        let lower = name.to_ascii_lowercase();
        assert_eq!(pair.link.info().server_name, Some(lower.as_str()));
    }
}

#[test]
fn the_first_certificate_stands_for_other_names() {
    let world = world();
    let settings = world.settings();
    // A wildcard stands for one label, and not for none or two.
    for name in ["other.test", "wild.test", "a.b.wild.test"] {
        let mut pair = world.client().named(name).connect(&settings);
        let hello = pair.client_bytes();
        pair.feed(&hello).unwrap();
        let error = pair.deliver().unwrap_err();
        assert!(error.to_string().contains("localhost"), "{name}: {error}");
    }
}

#[test]
fn the_first_certificate_stands_for_clients_that_name_no_host() {
    let mut world = world();
    let host = world.ca.issue(Purpose::Server, &["127.0.0.1"]);
    world.config.certificates[0] = certificate(&[], &host);
    let mut pair = world.client().named("127.0.0.1").connect(&world.settings());
    pair.settle().unwrap();
    assert_eq!(pair.link.info().server_name, None);
}

#[test]
fn the_chain_is_sent_whole() {
    let mut world = World::new();
    let middle = world.ca.below("middle");
    let host = middle.issue(Purpose::Server, &["localhost"]);
    world.config.certificates = vec![certificate(&["localhost"], &host)];
    let mut pair = world.client().connect(&world.settings());
    pair.settle().unwrap();
    assert_eq!(pair.client.peer_certificates().unwrap().len(), 2);
}

#[test]
fn the_name_of_one_client_is_not_taken_for_that_of_the_next() {
    let world = world();
    let settings = world.settings();
    let mut named = world.client().named("second.test").connect(&settings);
    let mut unnamed = world.client().named("127.0.0.1").connect(&settings);
    let (first, second) = (named.client_bytes(), unnamed.client_bytes());
    named.feed(&first).unwrap();
    unnamed.feed(&second).unwrap();
    assert_eq!(named.link.info().server_name, Some("second.test"));
    assert_eq!(unnamed.link.info().server_name, None);
}
