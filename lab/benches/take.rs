//! One request of one limit: a key that passes, one that is refused, three policies at once, and 100,000 keys, which do
//! not fit into the caches of a core.
//!
//! `cargo bench --manifest-path lab/benches/Cargo.toml --bench take -- passes` runs one of them.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use share::{Algorithm, Key, Level, Quota, Table, World, format};

struct Machine(Instant);

impl World for Machine {
    fn micros(&self) -> u64 {
        1 + self.0.elapsed().as_micros() as u64
    }

    fn is_running(&self, _: u32) -> bool {
        true
    }
}

fn take(c: &mut Criterion) {
    let memory: Vec<AtomicU64> = (0..(16 << 20) / 8).map(|_| AtomicU64::new(0)).collect();
    format(&memory, [1, 2]).expect("a table");
    let table = Table::open(memory, Machine(Instant::now()), 1).expect("a table");
    let quota = |max| Quota::new(Algorithm::Gcra, max, 60_000_000, max).expect("a quota");
    let mut group = c.benchmark_group("take");
    let mut levels = [Level::default(); 3];
    for (name, max, policies) in [
        ("passes", 10_000_000, 1),
        ("refused", 1, 1),
        ("three policies", 10_000_000, 3),
    ] {
        let limit = table
            .limit(name.as_bytes(), vec![quota(max); policies])
            .expect("a limit");
        group.bench_function(name, |b| {
            b.iter(|| {
                let text = black_box(b"2\x000\x003\x00.\x000\x00.\x001\x001\x003\x00.\x007\x00");
                let mut keys = [Key::default(); 3];
                for (at, key) in keys[..policies].iter_mut().enumerate() {
                    *key = limit.key(at, text);
                }
                table.take(&limit, &keys[..policies], 1, &mut levels)
            });
        });
    }
    let limit = table.limit(b"keys", vec![quota(1_000)]).expect("a limit");
    let mut at = 0_u32;
    group.bench_function("100,000 keys", |b| {
        b.iter(|| {
            at = (at + 7_919) % 100_000;
            let key = limit.key(0, &at.to_le_bytes());
            table.take(&limit, &[key], 1, &mut levels)
        });
    });
    group.bench_function("count the keys of 16 MiB", |b| {
        b.iter(|| table.keys(&limit));
    });
    group.finish();
}

criterion_group!(benches, take);
criterion_main!(benches);
