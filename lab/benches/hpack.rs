//! Measures the fields of a browser's request: ten fields, as the first request of a connection encodes them, and as
//! later requests do. The `h2` crate is measured beside; it also reads the head of a frame and sorts the fields, since
//! its decoder cannot be called alone. The head of a reply is encoded.
//!
//! `cargo bench --manifest-path lab/benches/Cargo.toml --bench hpack -- indexed` runs one group.

use std::hint::black_box;
use std::io::Cursor;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_core::Stream;
use h2::hpack::{Decoder, encode};
use h2_oracle::{Codec, frame::Frame};

/// Method, authority, scheme, path, User-Agent, Accept, Accept-Encoding, Accept-Language, Referer and Cookie.
const HUFFMAN: &str = "\
    82418cf1e3c2e5f23a6ba0ab90f4ff8744946075998b505b10c34260f6485b11fe56398b033f7aced07f66a281b0dae053fafc087ed4ce\
    6aadf2a7979c89c6bfb521aeba0bc8b1e632586d975765c53facd8f7e8cff4a506ea5531149d4ffda97a7b0f49580b4eae05c0b814dc39\
    4761986d975765cf53c0497ca589d34d1f43aeba0c41a4c7a98f33a69a3fdf9a68fa1d75d0620d263d4c79a68fbed00177fe8d48e62b03\
    ee697e8d48e62b1e0b1d7f5f2c7cfdf6800bbd50929bd9abfa5242cb40d25fa523b3e94f684c9f51932d4b62bbf45abefb4005dffa90bf\
    7da002ef7f73989d29ad171863c78f0b97c8e9ae82ae43d2c5a82d8861a17f609a4150831ea81c9424146f94123a3688cb7f6a2672d258\
    241d9d7f";
/// The same fields without Huffman codes.
const PLAIN: &str = "\
    82410f7777772e6578616d706c652e636f6d87441b2f6170692f75736572732f34322f6f72646572733f706167653d337a654d6f7a696c\
    6c612f352e3020285831313b204c696e7578207838365f363429204170706c655765624b69742f3533372e333620284b48544d4c2c206c\
    696b65204765636b6f29204368726f6d652f3134372e302e302e30205361666172692f3533372e33365355746578742f68746d6c2c6170\
    706c69636174696f6e2f7868746d6c2b786d6c2c6170706c69636174696f6e2f786d6c3b713d302e392c696d6167652f617669662c696d\
    6167652f776562702c2a2f2a3b713d302e385017677a69702c206465666c6174652c2062722c207a7374645117656e2d47422c656e3b71\
    3d302e392c64653b713d302e38732068747470733a2f2f7777772e6578616d706c652e636f6d2f75736572732f3432602473657373696f\
    6e3d366631633262396530643761346333353b207468656d653d6461726b";
const INDEXED: &str = "82c587c4c3c2c1c0bfbe";
/// The fields of a later request, with a path that was not sent before.
const NEW_PATH: &str = "82c587040c2f6170692f75736572732f37c3c2c1c0bfbe";

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let pairs = digits.map(|pair| str::from_utf8(pair).expect("digits"));
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).expect("two digits"))
        .collect()
}

/// Reads blocks with the `h2` crate, each block in a frame of its own.
struct Rival {
    codec: Codec<Cursor<Vec<u8>>, &'static [u8]>,
    stream: u32,
}

impl Rival {
    fn new() -> Self {
        Self {
            codec: Codec::new(Cursor::default()),
            stream: 1,
        }
    }

    fn decode(&mut self, block: &[u8]) -> usize {
        let io = self.codec.get_mut();
        io.get_mut().clear();
        io.set_position(0);
        let bytes = io.get_mut();
        bytes.extend(&(block.len() as u32).to_be_bytes()[1..]);
        bytes.extend([0x1, 0x5]);
        bytes.extend(self.stream.to_be_bytes());
        bytes.extend(block);
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.codec).poll_next(&mut context) {
            Poll::Ready(Some(Ok(Frame::Headers(frame)))) => frame.fields().len(),
            _ => panic!("no fields"),
        }
    }
}

fn count(decoder: &mut Decoder, block: &[u8]) -> usize {
    let mut count = 0;
    let result = decoder.decode(black_box(block), &mut |field| {
        black_box(field);
        count += 1;
    });
    assert_eq!(result, Ok(()));
    count
}

fn decode(c: &mut Criterion) {
    let first = hex(HUFFMAN);
    for (name, block) in [("indexed", INDEXED), ("new path", NEW_PATH)] {
        let block = hex(block);
        let mut group = c.benchmark_group(name);
        let mut decoder = Decoder::new(4_096);
        assert_eq!(count(&mut decoder, &first), 10);
        group.bench_function("volant", |b| b.iter(|| count(&mut decoder, &block)));
        let mut rival = Rival::new();
        rival.decode(&first);
        group.bench_function("h2", |b| b.iter(|| rival.decode(black_box(&block))));
        group.finish();
    }
    for (name, block) in [("first, huffman", HUFFMAN), ("first, plain", PLAIN)] {
        let block = hex(block);
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(block.len() as u64));
        // All blocks belong to one connection. Each adds nine fields to the table, and evicts nine once the table is
        // full.
        let mut decoder = Decoder::new(4_096);
        group.bench_function("volant", |b| b.iter(|| count(&mut decoder, &block)));
        let mut rival = Rival::new();
        group.bench_function("h2", |b| b.iter(|| rival.decode(black_box(&block))));
        group.finish();
    }
}

const REPLY: [(&[u8], &[u8]); 5] = [
    (b"Content-Type", b"application/json; charset=utf-8"),
    (b"Content-Length", b"1234"),
    (b"Date", b"Mon, 23 Nov 2026 22:00:00 GMT"),
    (b"Cache-Control", b"private, max-age=0"),
    (b"X-Request-Id", b"0194f3a2-7d5b-7c3e-9f10-5a6b7c8d9e0f"),
];

fn write(c: &mut Criterion) {
    let mut out = Vec::with_capacity(1_024);
    c.bench_function("reply", |b| {
        b.iter(|| {
            out.clear();
            encode::status(&mut out, black_box(200));
            for (name, value) in black_box(REPLY) {
                encode::field(&mut out, name, value);
            }
            out.len()
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(700))
        .sample_size(30);
    targets = decode, write
}
criterion_main!(benches);
