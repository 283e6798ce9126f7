//! Certificates of clients.

use rustls::version;
use tls::{ClientCertificate, Config};

use crate::authority::{Authority, Identity, Purpose};
use crate::pair::{Client, World};

fn world(client_certificate: ClientCertificate) -> World {
    let mut world = World::new();
    world.config = Config {
        ca: vec![world.ca.der()],
        client_certificate,
        ..world.config
    };
    world
}

/// Gives the outcome of the handshake: the certificate that the server has, or the alert that the client got.
fn outcome(world: &World, client: &Client) -> Result<Option<Vec<u8>>, String> {
    let mut pair = client.connect(&world.settings());
    loop {
        let bytes = pair.client_bytes();
        if bytes.is_empty() {
            return Ok(pair.link.info().peer.map(<[u8]>::to_vec));
        }
        let fed = pair.feed(&bytes);
        let delivered = pair.deliver();
        if fed.is_err() {
            assert!(pair.link.failed() && pair.link.handshaking());
            return Err(delivered.unwrap_err().to_string());
        }
    }
}

fn both(client: &Client) -> [Client; 2] {
    [
        client.clone().version(&version::TLS12),
        client.clone().version(&version::TLS13),
    ]
}

fn assert_refused(world: &World, identity: &Identity, alert: &str) {
    for client in both(&world.client().with(identity)) {
        let error = outcome(world, &client).unwrap_err();
        assert!(error.contains(alert), "{error}, not {alert}");
    }
}

#[test]
fn a_certificate_of_the_authority_is_taken() {
    for policy in [ClientCertificate::Optional, ClientCertificate::Required] {
        let world = world(policy);
        let identity = world.ca.issue(Purpose::Client, &["client"]);
        for client in both(&world.client().with(&identity)) {
            let peer = outcome(&world, &client).unwrap();
            assert!(peer.as_ref() == identity.chain_der().first());
        }
    }
}

#[test]
fn none_is_refused_only_where_one_is_required() {
    let optional = world(ClientCertificate::Optional);
    let required = world(ClientCertificate::Required);
    for client in both(&optional.client()) {
        assert_eq!(outcome(&optional, &client), Ok(None));
    }
    for client in both(&required.client()) {
        let error = outcome(&required, &client).unwrap_err();
        let expected = ["CertificateRequired", "HandshakeFailure", "BadCertificate"];
        assert!(
            expected.iter().any(|alert| error.contains(alert)),
            "{error}"
        );
    }
}

#[test]
fn a_wrong_certificate_is_refused_even_where_none_is_needed() {
    for policy in [ClientCertificate::Optional, ClientCertificate::Required] {
        let world = world(policy);
        let other = Authority::root("other").issue(Purpose::Client, &["client"]);
        assert_refused(&world, &other, "UnknownCA");
        let expired = world.ca.issue_expired(Purpose::Client, &["client"]);
        assert_refused(&world, &expired, "CertificateExpired");
        let server = world.ca.issue(Purpose::Server, &["client"]);
        assert_refused(&world, &server, "UnsupportedCertificate");
    }
}

#[test]
fn a_revoked_certificate_is_refused_and_another_is_not() {
    let mut world = world(ClientCertificate::Optional);
    let revoked = world.ca.issue(Purpose::Client, &["revoked"]);
    let good = world.ca.issue(Purpose::Client, &["good"]);
    world.config.crl = vec![world.ca.revoke(&[&revoked]).1];
    assert_refused(&world, &revoked, "CertificateRevoked");
    for client in both(&world.client().with(&good)) {
        assert!(outcome(&world, &client).unwrap().is_some());
    }
    world.config.crl = vec![world.ca.revoke(&[]).1];
    for client in both(&world.client().with(&revoked)) {
        assert!(outcome(&world, &client).unwrap().is_some());
    }
}

#[test]
fn a_list_of_another_authority_says_nothing_of_a_certificate() {
    let mut world = world(ClientCertificate::Optional);
    let good = world.ca.issue(Purpose::Client, &["good"]);
    world.config.crl = vec![Authority::root("other").revoke(&[]).1];
    assert_refused(&world, &good, "UnknownCA");
}

#[test]
fn nobody_is_asked_by_default() {
    let world = world(ClientCertificate::None);
    let identity = world.ca.issue(Purpose::Client, &["client"]);
    for client in both(&world.client().with(&identity)) {
        assert_eq!(outcome(&world, &client), Ok(None));
    }
}
