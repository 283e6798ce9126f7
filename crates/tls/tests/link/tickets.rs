//! Rules for the resumption of sessions.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, version};
use tls::{ClientCertificate, Settings};

use crate::authority::{Authority, Purpose};
use crate::pair::{Pair, World};

/// A clock that stands at a time since 1970.
#[derive(Debug)]
struct Stopped(Duration);

impl TimeProvider for Stopped {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(self.0))
    }
}

/// Connects, passes bytes in both directions, and returns true when the session was resumed.
fn resumes(settings: &Settings, client: &Arc<ClientConfig>) -> bool {
    let mut pair = Pair::new(settings, client, "localhost");
    pair.settle().unwrap();
    pair.say(b"question");
    assert_eq!(pair.answer(b"reply"), b"reply");
    let resumed = pair.link.info().resumed;
    let kind = pair.client.handshake_kind().unwrap();
    assert_eq!(resumed, kind == rustls::HandshakeKind::Resumed);
    resumed
}

fn clients(world: &World) -> [Arc<ClientConfig>; 2] {
    [&version::TLS12, &version::TLS13].map(|version| world.client().version(version).config())
}

#[test]
fn a_session_is_resumed_in_both_versions() {
    let world = World::new();
    let settings = world.settings();
    for client in clients(&world) {
        assert!(!resumes(&settings, &client));
        assert!(resumes(&settings, &client));
    }
}

#[test]
fn a_session_timeout_of_0_turns_resumption_off() {
    let mut world = World::new();
    for keys in [None, Some(vec![1; 48])] {
        world.config.session_timeout = 0;
        world.config.ticket_keys = keys;
        let settings = world.settings();
        for client in clients(&world) {
            assert!(!resumes(&settings, &client));
            assert!(!resumes(&settings, &client));
        }
    }
}

#[test]
fn another_certificate_keeps_the_sessions_and_another_process_has_none() {
    let mut world = World::new();
    let before = world.settings();
    for client in clients(&world) {
        resumes(&before, &client);
        assert!(!resumes(&world.settings(), &client), "other keys");
        resumes(&before, &client);
        world.config.groups = vec!["X25519".to_owned()];
        let after = world.config.build(Some(&before)).unwrap();
        assert!(resumes(&after, &client));
    }
}

#[test]
fn shared_keys_resume_the_sessions_of_another_process() {
    let mut world = World::new();
    world.config.ticket_keys = Some((0..48).collect());
    for client in clients(&world) {
        assert!(!resumes(&world.settings(), &client));
        assert!(resumes(&world.settings(), &client));
        let mut other = world.config.clone();
        other.ticket_keys = Some((1..49).collect());
        assert!(!resumes(&other.build(None).unwrap(), &client));
    }
}

#[test]
fn no_session_is_resumed_after_who_is_admitted_has_changed() {
    for keys in [None, Some(vec![7; 48])] {
        let mut world = World::new();
        world.config.ticket_keys = keys;
        world.config.ca = vec![world.ca.der()];
        world.config.client_certificate = ClientCertificate::Optional;
        let identity = world.ca.issue(Purpose::Client, &["client"]);
        let before = world.settings();

        let mut other_ca = world.config.clone();
        other_ca.ca.push(Authority::root("other").der());
        let mut other_crl = world.config.clone();
        other_crl.crl = vec![world.ca.revoke(&[]).1];
        let mut other_policy = world.config.clone();
        other_policy.client_certificate = ClientCertificate::Required;
        for (config, resumed) in [
            (&world.config, true),
            (&other_ca, false),
            (&other_crl, false),
            (&other_policy, false),
        ] {
            let client = world.client().with(&identity).config();
            assert!(!resumes(&before, &client));
            assert!(resumes(&before, &client));
            let after = config.build(Some(&before)).unwrap();
            assert_eq!(resumes(&after, &client), resumed);
        }
    }
}

#[test]
fn a_resumed_session_has_the_clients_certificate() {
    let mut world = World::new();
    world.config.ca = vec![world.ca.der()];
    world.config.client_certificate = ClientCertificate::Required;
    let identity = world.ca.issue(Purpose::Client, &["client"]);
    let settings = world.settings();
    for version in [&version::TLS12, &version::TLS13] {
        let client = world.client().version(version).with(&identity).config();
        assert!(!resumes(&settings, &client));
        let mut pair = Pair::new(&settings, &client, "localhost");
        pair.settle().unwrap();
        let info = pair.link.info();
        assert!(info.resumed);
        assert!(info.peer == identity.chain_der().first().map(Vec::as_slice));
    }
}

#[test]
fn no_session_is_resumed_whose_certificate_has_expired() {
    // It is valid in its last second (RFC 5280 §4.1.2.5).
    const LAST: u64 = 2_000_000_000;
    let mut world = World::new();
    world.config.ca = vec![world.ca.der()];
    world.config.client_certificate = ClientCertificate::Required;
    let settings = world.settings();
    let identity = world.ca.issue_until(
        UNIX_EPOCH + Duration::from_secs(LAST),
        Purpose::Client,
        &["client"],
    );
    let at = |seconds| settings.with_clock(Arc::new(Stopped(Duration::from_secs(seconds))));
    for version in [&version::TLS12, &version::TLS13] {
        let client = world.client().version(version).with(&identity).config();
        assert!(!resumes(&at(LAST - 1), &client));
        assert!(resumes(&at(LAST - 1), &client));
        assert!(resumes(&at(LAST), &client));
        let mut pair = Pair::new(&at(LAST + 1), &client, "localhost");
        assert!(pair.settle().is_err(), "{version:?}");
        assert!(pair.link.failed());
    }
}

#[test]
fn no_data_is_taken_before_the_handshake_is_done() {
    let world = World::new();
    let settings = world.settings();
    let mut client = (*world.client().config()).clone();
    client.enable_early_data = true;
    let client = Arc::new(client);
    resumes(&settings, &client);
    let mut pair = Pair::new(&settings, &client, "localhost");
    assert!(pair.client.early_data().is_none(), "no ticket allows it");
    pair.settle().unwrap();
    assert!(pair.link.info().resumed);
}
