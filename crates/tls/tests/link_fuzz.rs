//! Seeded mutation fuzzing on stable Rust. `FUZZ_SECONDS` (default 1) bounds each test, and `FUZZ_SEED` repeats a run.
//!
//! The tests check these rules. There is no panic. The split of the received bytes does not change the result. The
//! memory of a link is bounded. The plaintext is a prefix of the client's, for any change of its records. After a fault
//! nothing but one alert is sent.

#[path = "authority/mod.rs"]
mod authority;
#[path = "link/pair.rs"]
mod pair;

use std::io::Write;

use mutants::{Random, run};
use rustls::crypto::aws_lc_rs::kx_group;
use rustls::version;
use tls::{ClientCertificate, Settings};

use authority::Purpose;
use pair::{Client, Pair, World};

/// The number of kinds of errors that a script can make with the bytes of one round. A length of 4 bytes precedes them.
const KINDS: u8 = 8;

#[test]
fn first_flights() {
    let world = asking();
    let settings = world.settings();
    let mut seeds: Vec<Vec<u8>> = clients(&world)
        .iter()
        .map(|client| client.connect(&settings).client_bytes())
        .collect();
    seeds.push(b"GET / HTTP/1.1\r\n\r\n".to_vec());
    seeds.push(vec![21, 3, 3, 0, 2, 1, 0]);
    seeds.push(vec![22, 3, 1, 0, 4, 1, 0, 0xff, 0xff]);
    let make = |random: &mut Random| {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        for _ in 0..random.below(4) {
            let place = random.place(&bytes);
            random.change(&mut bytes, place, &seeds);
        }
        bytes.truncate(60_000);
        bytes
    };
    run("first flights", make, |bytes, random| {
        let outcome = |cuts: &[usize]| {
            let mut pair = world.client().connect(&settings);
            feed_cut(&mut pair, bytes, cuts);
            assert!(pair.plain.is_empty() && pair.link.handshaking());
            (pair.link.failed(), pair.ended)
        };
        let whole = outcome(&[]);
        assert_eq!(outcome(&random.cuts(bytes.len())), whole);
        if bytes.len() < 600 {
            let all: Vec<usize> = (0..bytes.len()).collect();
            assert_eq!(outcome(&all), whole, "byte by byte");
        }
    });
}

#[test]
fn sessions() {
    let world = asking();
    let settings = world.settings();
    let clients = clients(&world);
    let make = |random: &mut Random| (0..24).map(|_| random.below(256) as u8).collect();
    run("sessions", make, |script, random| {
        let client = &clients[usize::from(script[0]) % clients.len()];
        session(&settings, client, &script[1..], random);
    });
}

/// Runs a script: each byte says what the client does, and what happens to its bytes.
fn session(settings: &Settings, client: &Client, script: &[u8], random: &mut Random) {
    let mut pair = client.connect(settings);
    let mut said = Vec::new();
    let mut sent = vec![Vec::new()];
    for &step in script {
        if step & 0x80 != 0 {
            let length = random.below(40_000);
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8 ^ step).collect();
            let taken = pair.client.writer().write(&bytes).unwrap();
            said.extend_from_slice(&bytes[..taken]);
        }
        if step & 0x40 != 0 && !pair.client.is_handshaking() {
            let _ = pair.client.refresh_traffic_keys();
        }
        if step & 0x20 != 0 {
            pair.link.seal(b"a reply", &mut pair.wire);
        }
        if step & 0x1f == 31 {
            pair.link.close(&mut pair.wire);
        }
        let mut bytes = pair.client_bytes();
        // Most steps pass the bytes on unchanged, so that a session reaches late stages.
        if random.below(12) == 0 {
            damage(step % KINDS, &mut bytes, &sent, random);
        }
        bytes.truncate(60_000);
        sent.push(bytes.clone());
        let cuts = random.cuts(bytes.len());
        feed_cut(&mut pair, &bytes, &cuts);
        assert!(said.starts_with(&pair.plain), "not what the client said");
        if pair.link.failed() {
            let before = pair.wire.len();
            feed_cut(&mut pair, &[1; 100], &[]);
            pair.link.seal(b"a reply", &mut pair.wire);
            pair.link.close(&mut pair.wire);
            assert_eq!(pair.wire.len(), before, "sent after a fault");
            return;
        }
        if pair.deliver().is_err() {
            return;
        }
        pair.heard();
    }
}

fn damage(kind: u8, bytes: &mut Vec<u8>, sent: &[Vec<u8>], random: &mut Random) {
    match kind {
        0 => {
            let length = random.below(bytes.len() + 1);
            bytes.truncate(length);
        }
        1 => bytes.extend(sent.last().into_iter().flatten().copied()),
        2 => bytes.splice(0..0, [20, 3, 3, 0, 1, 1]).for_each(drop),
        3 => bytes.extend([21, 3, 3, 0, 2, 1, 0]),
        4 => bytes.extend([22, 3, 3, 0, 3, 24, 0, 0]),
        5 => bytes.clear(),
        _ => {
            let place = random.place(bytes);
            random.change(bytes, place, sent);
        }
    }
}

fn feed_cut(pair: &mut Pair, bytes: &[u8], cuts: &[usize]) {
    let mut at = 0;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        if cut <= at && cut != bytes.len() {
            continue;
        }
        let _ = pair.feed(&bytes[at..cut]);
        at = cut;
    }
}

/// Makes a world that asks clients for a certificate, so that all stages of a handshake occur.
fn asking() -> World {
    let mut world = World::new();
    world.config.ca = vec![world.ca.der()];
    world.config.client_certificate = ClientCertificate::Optional;
    world
}

fn clients(world: &World) -> Vec<Client> {
    let identity = world.ca.issue(Purpose::Client, &["client"]);
    let mut small = world.client().with(&identity);
    small.max_fragment = Some(64);
    // The first key share of this client is refused, so that a HelloRetryRequest follows.
    let mut retried = world.client();
    retried.provider.kx_groups = vec![kx_group::MLKEM1024, kx_group::SECP384R1];
    vec![
        world.client(),
        world.client().version(&version::TLS12),
        world.client().version(&version::TLS12).with(&identity),
        world.client().alpn(&["h2", "http/1.1"]).with(&identity),
        small,
        retried,
    ]
}
