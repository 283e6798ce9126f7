//! Measures a request without a body and the end of its reply, in a session with 100 open streams. The request has ten
//! fields of a browser, encoded as in later requests of a connection, with the same path and with a new one. It also
//! measures the request with a body of 100 bytes.
//!
//! `cargo bench --manifest-path lab/benches/Cargo.toml --bench session`

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use h2::{Event, Limits, RequestHead, Session};

/// The blocks of the bench `hpack`: the fields of the first request, which are added to the table; all of them by
/// index; and all with another path.
const PLAIN: &str = "\
    82410f7777772e6578616d706c652e636f6d87441b2f6170692f75736572732f34322f6f72646572733f706167653d337a654d6f7a696c\
    6c612f352e3020285831313b204c696e7578207838365f363429204170706c655765624b69742f3533372e333620284b48544d4c2c206c\
    696b65204765636b6f29204368726f6d652f3134372e302e302e30205361666172692f3533372e33365355746578742f68746d6c2c6170\
    706c69636174696f6e2f7868746d6c2b786d6c2c6170706c69636174696f6e2f786d6c3b713d302e392c696d6167652f617669662c696d\
    6167652f776562702c2a2f2a3b713d302e385017677a69702c206465666c6174652c2062722c207a7374645117656e2d47422c656e3b71\
    3d302e392c64653b713d302e38732068747470733a2f2f7777772e6578616d706c652e636f6d2f75736572732f3432602473657373696f\
    6e3d366631633262396530643761346333353b207468656d653d6461726b";
const INDEXED: &str = "82c587c4c3c2c1c0bfbe";
const NEW_PATH: &str = "82c587040c2f6170692f75736572732f37c3c2c1c0bfbe";
const OPEN: u32 = 99;

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let pairs = digits.map(|pair| str::from_utf8(pair).expect("digits"));
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).expect("two digits"))
        .collect()
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A connection with this many open streams.
struct Connection {
    session: Session,
    head: RequestHead,
    stream: u32,
    bytes: Vec<u8>,
}

impl Connection {
    fn new(block: &str, body: Option<usize>) -> Self {
        let mut session = Session::new(&Limits::default(), 0);
        let mut head = RequestHead::new();
        let mut start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        start.extend(frame(4, 0, 0, &[]));
        start.extend(frame(1, 5, 1, &hex(PLAIN)));
        for stream in 1..OPEN {
            start.extend(frame(1, 5, 1 + 2 * stream, &hex(INDEXED)));
        }
        let mut at = 0;
        while let (used, Event::Head { .. }) = session.read(&start[at..], true, &mut head, 0) {
            at += used;
        }
        assert_eq!(session.open_streams(), OPEN as usize);
        let flags = if body.is_some() { 4 } else { 5 };
        let mut bytes = frame(1, flags, 0, &hex(block));
        if let Some(length) = body {
            bytes.extend(frame(0, 1, 0, &vec![b'x'; length]));
        }
        Self {
            session,
            head,
            stream: 1 + 2 * OPEN,
            bytes,
        }
    }

    fn request(&mut self, body: bool) {
        let head_length = 9 + usize::from(self.bytes[2]);
        let id = self.stream.to_be_bytes();
        self.bytes[5..9].copy_from_slice(&id);
        if body {
            self.bytes[head_length + 5..head_length + 9].copy_from_slice(&id);
        }
        self.stream += 2;
        let mut at = 0;
        loop {
            let rest = &self.bytes[at..];
            let (used, event) = self.session.read(rest, true, &mut self.head, 0);
            at += used;
            match event {
                Event::Head { key, end, .. } | Event::Data { key, end, .. } if end => {
                    black_box(&self.head.text);
                    self.session.end_sent(key);
                }
                Event::Head { .. } | Event::Data { .. } => {}
                Event::More => break,
                event => panic!("{event:?}"),
            }
        }
        self.session.out().clear();
    }
}

fn bench(criterion: &mut Criterion) {
    for (name, block, body) in [
        ("indexed", INDEXED, None),
        ("new_path", NEW_PATH, None),
        ("indexed_body", INDEXED, Some(100)),
    ] {
        let mut group = criterion.benchmark_group("session");
        group.throughput(Throughput::Elements(1));
        group
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2));
        group.bench_function(name, |bencher| {
            let mut connection = Connection::new(block, body);
            bencher.iter(|| {
                // Stream ids end at 2^31.
                if connection.stream > 1 << 30 {
                    connection = Connection::new(block, body);
                }
                connection.request(body.is_some());
            });
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
