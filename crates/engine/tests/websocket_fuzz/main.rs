//! Seeded mutation fuzz of WebSockets on stable Rust: frames that are cut and broken, clients that leave, and hooks that
//! do anything at any time. `FUZZ_SECONDS` (default 1) and `FUZZ_SEED` steer it.

mod client;
#[path = "../direct/driver/mod.rs"]
mod driver;
mod hooks;
mod script;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use client::{Client, Sent};
use driver::frames::KEY;
use driver::retained_body::Shared;
use driver::{Driver, Seen, end, limits, make};
use engine::{NoReferences, SocketSpec};
use hooks::act;
use mutants::Random;
use ring::layout::{kind, operation, request};
use script::{Script, compresses};
use ws::Deflater;

/// Large enough to be handed over by reference.
const LARGE: usize = 700_000;

/// How often each thing was reached that the fuzz is for.
#[derive(Default, Debug)]
struct Reached {
    messages: usize,
    /// Messages whose bytes were compared with what their client sent, and those of clients that compress.
    compared: usize,
    inflated: usize,
    /// Frames that clients got, and those of them that were compressed.
    received: usize,
    deflated: usize,
    /// Publications that a second client got, too.
    shared: usize,
    reused: usize,
    /// How sockets ended, by the code that JavaScript was told.
    ends: HashMap<i32, usize>,
}

/// What was seen of each exchange that may have become a socket.
#[derive(Default)]
struct Ends {
    counts: HashMap<(i32, i32), usize>,
    /// The number of the client by slot and generation.
    numbers: HashMap<(i32, i32), usize>,
    scripts: Vec<Script>,
}

impl Ends {
    fn note(&mut self, seen: &Seen, reached: &mut Reached) {
        let who = (seen.slot(), seen.generation());
        let ends = self.counts.get(&who).copied();
        match seen.kind() {
            kind::REQUEST => {
                let earlier = self.counts.keys().any(|known| known.0 == who.0);
                reached.reused += usize::from(earlier);
                self.counts.insert(who, 0);
                let number = seen.path.strip_prefix("/ws/");
                if let Some(number) = number.and_then(|number| number.parse().ok()) {
                    self.numbers.insert(who, number);
                }
            }
            kind::MESSAGE => {
                assert_eq!(ends, Some(0), "nothing comes after the end of a socket");
                self.compare(who, &seen.body, reached);
            }
            kind::DROPPED => {
                assert_eq!(ends, Some(0), "nothing comes after the end of a socket");
            }
            kind::CLOSED_SOCKET => {
                *reached.ends.entry(seen.words[request::ALLOW]).or_default() += 1;
                self.counts.insert(who, ends.unwrap_or_default() + 1);
            }
            _ => {}
        }
    }

    fn compare(&mut self, who: (i32, i32), body: &[u8], reached: &mut Reached) {
        reached.messages += 1;
        let number = self.numbers[&who];
        let script = &mut self.scripts[number];
        let expected = script.messages.pop_front();
        if script.exact {
            assert!(expected.is_some_and(|expected| expected == body));
            reached.compared += 1;
            reached.inflated += usize::from(script.compresses);
        }
    }
}

/// `negotiated`: the server takes compressed messages. `closes`: it is closed in the middle of the round.
fn round(
    driver: &mut Driver,
    random: &mut Random,
    shared: &Shared,
    reached: &mut Reached,
    deflater: &mut Deflater,
    [negotiated, closes]: [bool; 2],
) {
    let mut ends = Ends::default();
    let mut sent = Sent::of(driver.server);
    let mut clients: Vec<Client> = Vec::new();
    let most = 4 + random.below(8);
    let mut requests: Vec<Seen> = Vec::new();
    for step in 0..400 {
        // Those who have left are replaced, so that slots are used again.
        let is_open = !closes || step < 200;
        if clients.len() < most && step < 300 && is_open {
            let number = ends.scripts.len();
            let offers = compresses(number) && (negotiated || random.chance(20));
            let script = Script::new(random, number, Some(&mut *deflater).filter(|_| offers));
            clients.push(Client::new(driver, random, script.bytes.clone()));
            ends.scripts.push(script);
        }
        if closes && step == 200 {
            driver.engine.close(driver.server);
        }
        for client in &mut clients {
            client.step(random, &mut sent, reached);
        }
        driver.turn(|memory, seen| {
            ends.note(seen, reached);
            match seen.kind() {
                kind::REQUEST => {
                    requests.push(seen.clone());
                    if seen.route() == 0 {
                        end(memory, seen, 200, b"plain");
                    } else if random.chance(20) {
                        end(memory, seen, 403, b"no");
                    } else if !random.chance(10) {
                        let key = &KEY[usize::from(random.chance(20))..];
                        let number = ends.numbers.get(&(seen.slot(), seen.generation()));
                        let offers = match number {
                            Some(number) if compresses(*number) => &b"permessage-deflate"[..],
                            _ => b"",
                        };
                        let handshake = [key, offers].concat();
                        memory.push_record(make(seen, operation::UPGRADE, 0), &[], &handshake);
                    }
                }
                kind::MESSAGE => act(memory, seen, random, &mut sent),
                _ => {}
            }
        });
        driver.seen.clear();
        clients.retain(|client| !client.gone);
        for seen in &requests {
            if random.chance(4) {
                act(driver.engine.memory(), seen, random, &mut sent);
            }
        }
        driver.engine.apply(shared);
        shared.whole.set(!random.chance(50));
        if step % 50 == 0 {
            driver.engine.advance_clock(random.below(20) as u64);
            driver.engine.sweep();
        }
    }
    drop(clients);
    for seen in &requests {
        let memory = driver.engine.memory();
        end(memory, seen, 200, b"late");
        memory.push_signal(make(seen, operation::DESTROY, 0));
    }
    driver.engine.apply(&NoReferences);
    let started = Instant::now();
    while driver.engine.connection_count() > 0 || driver.engine.in_flight() > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{} connections and {} exchanges are left",
            driver.engine.connection_count(),
            driver.engine.in_flight()
        );
        driver.turn(|memory, seen| {
            ends.note(seen, reached);
            if seen.kind() == kind::REQUEST {
                end(memory, seen, 200, b"");
            }
        });
        driver.seen.clear();
        // What is left ends by its limits.
        driver.engine.advance_clock(20);
        driver.engine.sweep();
    }
    driver.turn(|_, seen| ends.note(seen, reached));
    driver.seen.clear();
    assert!(
        ends.counts.values().all(|&ends| ends <= 1),
        "each socket ends once"
    );
}

#[test]
fn every_socket_ends_once_and_nothing_panics() {
    let (seconds, seed) = (mutants::seconds(), mutants::seed());
    println!("FUZZ_SEED={seed}");
    let mut values = limits();
    values[ring::layout::limit::SEND_TIMEOUT] = 300.0;
    values[ring::layout::limit::DRAIN_TIMEOUT] = 200.0;
    values[ring::layout::limit::KEEP_ALIVE_TIMEOUT] = 300.0;
    values[ring::layout::limit::HEADERS_TIMEOUT] = 300.0;
    values[ring::layout::limit::MAX_BUFFERED_BODIES] = 100_000.0;
    values[ring::layout::limit::MAX_BUFFERED_REPLIES] = 3_000_000.0;
    let mut random = Random::new(seed);
    let shared = Shared::new(LARGE);
    let mut deflater = Deflater::new();
    let started = Instant::now();
    let (mut rounds, mut reached) = (0, Reached::default());
    for drops in [false, true].into_iter().cycle() {
        if rounds > 1 && started.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        let spec = SocketSpec {
            limits: ws::Limits {
                message: 80_000,
                fragments: 8,
            },
            idle_timeout: 400,
            close_timeout: 200,
            max_buffered: 200_000,
            drops,
            compress_from: drops.then_some(100),
        };
        let mut driver = Driver::sockets(&values, spec);
        let until = Instant::now() + Duration::from_secs(seconds).min(Duration::from_secs(2)) / 2;
        loop {
            let is_last = Instant::now() >= until;
            let how = [drops, is_last];
            round(
                &mut driver,
                &mut random,
                &shared,
                &mut reached,
                &mut deflater,
                how,
            );
            rounds += 1;
            if is_last {
                break;
            }
        }
        let stats = driver.engine.stats(driver.server).unwrap();
        assert_eq!(stats.panics, 0, "FUZZ_SEED={seed}");
        let open = (stats.connections, stats.in_flight, stats.sockets);
        assert_eq!(open, (0, 0, 0), "FUZZ_SEED={seed}");
        assert_eq!(driver.engine.topics(driver.server), 0, "FUZZ_SEED={seed}");
        assert_eq!(driver.engine.buffered(driver.server), 0, "FUZZ_SEED={seed}");
        assert_eq!(shared.held.get(), 0, "FUZZ_SEED={seed}");
    }
    println!("{rounds} rounds, {reached:?}");
    // What a change of the fuzz could lose unnoticed.
    let few = [
        reached.compared,
        reached.inflated,
        reached.deflated,
        reached.shared,
        reached.reused,
    ];
    let is_long = rounds > 20;
    assert!(
        !is_long || few.iter().all(|&count| count > 0),
        "{reached:?}"
    );
}
