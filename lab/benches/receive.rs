//! A message in one frame: the mask alone, and a whole step for binary and for text. `memcpy` stands beside as the floor.
//!
//! `cargo bench --manifest-path lab/benches/Cargo.toml --bench receive -- text` runs one group.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use ws::{Limits, Receiver, Step};

const LIMITS: Limits = Limits {
    message: 1 << 20,
    fragments: 1_024,
};
const SIZES: [usize; 4] = [16, 128, 4_096, 65_536];
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let mut bytes = vec![0x80 | opcode];
    match length {
        0..=125 => bytes.push(0x80 | length as u8),
        126..=0xffff => {
            bytes.push(0xfe);
            bytes.extend((length as u16).to_be_bytes());
        }
        _ => {
            bytes.push(0xff);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(a, b)| a ^ b));
    bytes
}

fn steps(c: &mut Criterion, name: &str, opcode: u8, unit: &str) {
    let mut group = c.benchmark_group(name);
    for size in SIZES {
        let payload = unit.repeat(size).into_bytes();
        let bytes = frame(opcode, &payload[..size]);
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::new("step", size), |b| {
            let mut receiver = Receiver::default();
            b.iter_batched_ref(
                || bytes.clone(),
                |input| {
                    let step = receiver.next(black_box(input), &LIMITS, None);
                    assert!(matches!(step, Ok(Step::Message { .. })));
                },
                BatchSize::SmallInput,
            );
        });
        group.bench_function(BenchmarkId::new("memcpy", size), |b| {
            let mut copy = bytes.clone();
            b.iter(|| black_box(&mut copy).copy_from_slice(black_box(&bytes)));
        });
    }
    group.finish();
}

fn receive(c: &mut Criterion) {
    steps(c, "binary", 2, "\u{e9}");
    steps(c, "ascii text", 1, "a");
    // Whole characters at every size.
    steps(c, "text", 1, "\u{e9}");
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(700))
        .sample_size(30);
    targets = receive
}
criterion_main!(benches);
