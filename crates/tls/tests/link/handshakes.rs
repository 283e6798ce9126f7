//! Handshakes with every version, suite, group and protocol.

use rustls::crypto::aws_lc_rs::{self, kx_group};
use rustls::{SupportedProtocolVersion, version};
use tls::{ConfigFault, Version};

use crate::authority::Purpose;
use crate::pair::{World, certificate};

const BOTH: [&SupportedProtocolVersion; 2] = [&version::TLS12, &version::TLS13];

#[test]
fn both_versions_carry_bytes_both_ways() {
    let world = World::new();
    for (version, own) in BOTH.into_iter().zip([Version::Tls12, Version::Tls13]) {
        let mut pair = world.client().version(version).connect(&world.settings());
        assert!(pair.link.handshaking());
        pair.settle().unwrap();
        assert!(!pair.link.handshaking() && !pair.client.is_handshaking());
        assert_eq!(pair.link.info().version, own);
        assert_eq!(pair.link.info().server_name, Some("localhost"));
        assert_eq!(pair.link.info().alpn, None);
        assert!(!pair.link.info().resumed);
        pair.say(b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!(
            pair.answer(b"HTTP/1.1 200 OK\r\n\r\n"),
            b"HTTP/1.1 200 OK\r\n\r\n"
        );
    }
}

#[test]
fn every_suite_is_agreed_on_by_its_name() {
    for (name, is_tls13, is_rsa) in [
        ("TLS_AES_256_GCM_SHA384", true, false),
        ("TLS_AES_128_GCM_SHA256", true, false),
        ("TLS_CHACHA20_POLY1305_SHA256", true, false),
        ("ECDHE-ECDSA-AES256-GCM-SHA384", false, false),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", false, false),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", false, false),
        ("ECDHE-RSA-AES256-GCM-SHA384", false, true),
        ("ECDHE-RSA-AES128-GCM-SHA256", false, true),
        ("ECDHE-RSA-CHACHA20-POLY1305", false, true),
    ] {
        let mut world = World::new();
        if is_rsa {
            let rsa = world.ca.issue_rsa(Purpose::Server, &["localhost"]);
            world.config.certificates = vec![certificate(&[], &rsa)];
        }
        world.config.ciphers = vec![name.to_owned()];
        let mut pair = world.client().connect(&world.settings());
        pair.settle().unwrap();
        assert_eq!(pair.link.info().cipher, name);
        let version = if is_tls13 {
            Version::Tls13
        } else {
            Version::Tls12
        };
        assert_eq!(pair.link.info().version, version);
        pair.say(b"question");
        assert_eq!(pair.answer(b"reply"), b"reply");
    }
}

#[test]
fn suites_have_their_iana_names_too_and_the_order_is_the_servers() {
    let mut world = World::new();
    world.config.ciphers = [
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "ecdhe-ecdsa-aes128-gcm-sha256",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut pair = world.client().connect(&world.settings());
    pair.settle().unwrap();
    assert_eq!(pair.link.info().cipher, "ECDHE-ECDSA-CHACHA20-POLY1305");
}

#[test]
fn the_strongest_suite_is_chosen_whatever_the_client_offers_first() {
    let world = World::new();
    for (version, name) in [
        (&version::TLS13, "TLS_AES_256_GCM_SHA384"),
        (&version::TLS12, "ECDHE-ECDSA-AES256-GCM-SHA384"),
    ] {
        let mut client = world.client().version(version);
        client.provider.cipher_suites.reverse();
        let mut pair = client.connect(&world.settings());
        pair.settle().unwrap();
        assert_eq!(pair.link.info().cipher, name);
    }
}

#[test]
fn every_group_is_agreed_on_by_each_of_its_names() {
    for (name, group) in [
        ("X25519MLKEM768", kx_group::X25519MLKEM768),
        ("X25519", kx_group::X25519),
        ("P-256", kx_group::SECP256R1),
        ("prime256v1", kx_group::SECP256R1),
        ("secp256r1", kx_group::SECP256R1),
        ("P-384", kx_group::SECP384R1),
        ("secp384r1", kx_group::SECP384R1),
        ("SecP256r1MLKEM768", kx_group::SECP256R1MLKEM768),
        ("MLKEM768", kx_group::MLKEM768),
        ("MLKEM1024", kx_group::MLKEM1024),
    ] {
        let mut world = World::new();
        world.config.groups = vec![name.to_owned()];
        let mut client = world.client();
        client.provider.kx_groups = aws_lc_rs::ALL_KX_GROUPS.to_vec();
        let mut pair = client.connect(&world.settings());
        pair.settle().unwrap();
        let agreed = pair.client.negotiated_key_exchange_group().unwrap();
        assert_eq!(agreed.name(), group.name(), "{name}");
    }
}

#[test]
fn versions_are_limited_from_both_sides() {
    for (min, max, refused) in [
        (Version::Tls13, Version::Tls13, &version::TLS12),
        (Version::Tls12, Version::Tls12, &version::TLS13),
    ] {
        let mut world = World::new();
        (world.config.min_version, world.config.max_version) = (min, max);
        let mut pair = world.client().version(refused).connect(&world.settings());
        let hello = pair.client_bytes();
        pair.feed(&hello).unwrap_err();
        let alert = pair.deliver().unwrap_err();
        assert!(alert.to_string().contains("ProtocolVersion"), "{alert}");
        world.client().connect(&world.settings()).settle().unwrap();
    }
    let mut world = World::new();
    (world.config.min_version, world.config.max_version) = (Version::Tls13, Version::Tls12);
    assert_eq!(
        world.config.build(None).unwrap_err(),
        ConfigFault::VersionsReversed
    );
}

#[test]
fn alpn_takes_the_first_of_the_server_that_the_client_offers() {
    let mut world = World::new();
    world.config.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    for (offered, chosen) in [
        (&["http/1.1", "h2"][..], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&["spdy/3", "h2"], Some("h2")),
        (&[], None),
    ] {
        let mut pair = world.client().alpn(offered).connect(&world.settings());
        pair.settle().unwrap();
        assert_eq!(pair.link.alpn(), chosen.map(str::as_bytes));
        assert_eq!(pair.client.alpn_protocol(), chosen.map(str::as_bytes));
    }
}

#[test]
fn alpn_without_a_match_gets_the_alert_of_rfc_7301() {
    let mut world = World::new();
    world.config.alpn = vec![b"http/1.1".to_vec()];
    for version in BOTH {
        let client = world.client().version(version).alpn(&["h2", "imap"]);
        let mut pair = client.connect(&world.settings());
        let hello = pair.client_bytes();
        pair.feed(&hello).unwrap_err();
        let alert = pair.deliver().unwrap_err();
        assert!(
            alert.to_string().contains("NoApplicationProtocol"),
            "{alert}"
        );
    }
}

#[test]
fn a_client_without_a_common_suite_gets_an_alert() {
    let mut world = World::new();
    world.config.ciphers = vec!["ECDHE-RSA-AES128-GCM-SHA256".to_owned()];
    let mut pair = world.client().connect(&world.settings());
    let hello = pair.client_bytes();
    pair.feed(&hello).unwrap_err();
    let alert = pair.deliver().unwrap_err();
    assert!(alert.to_string().contains("HandshakeFailure"), "{alert}");
}
