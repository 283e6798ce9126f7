//! The HTTP parser cases of the `ZapJS` benchmark document, plus our own, with plain `httparse` beside each.
//! `httparse` alone checks less: no framing, no Host, no path, no bare LF.
//!
//! `cargo bench --manifest-path lab/benches/Cargo.toml --bench parse -- wrk` runs one group.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;
use wire::{Head, Limits, Progress, canonicalise, chunked, parse_head};

fn both(c: &mut Criterion, group: &str, cases: &[(String, Vec<u8>)]) {
    let limits = Limits::default();
    let mut group = c.benchmark_group(group);
    for (name, bytes) in cases {
        let bytes = bytes.as_slice();
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_with_input(BenchmarkId::new("wire", name), bytes, |b, bytes| {
            let mut head = Head::new();
            b.iter(|| {
                let mut scanned = 0;
                let progress = parse_head(black_box(bytes), &mut scanned, &limits, &mut head);
                assert_eq!(progress, Ok(Progress::Complete));
                black_box(&head);
            });
        });
        group.bench_with_input(BenchmarkId::new("httparse", name), bytes, |b, bytes| {
            b.iter(|| {
                let mut headers = [const { std::mem::MaybeUninit::uninit() }; 128];
                let mut request = httparse::Request::new(&mut []);
                let status = request.parse_with_uninit_headers(black_box(bytes), &mut headers);
                assert!(status.is_ok_and(|status| status.is_complete()));
                black_box(&request);
            });
        });
    }
    group.finish();
}

fn one(name: &str, text: &str) -> (String, Vec<u8>) {
    (name.to_string(), text.replace('\n', "\r\n").into_bytes())
}

const WRK: &str = "GET /json HTTP/1.1\nHost: 127.0.0.1:3000\n\n";

const BROWSER: &str = "GET /api/v1/users?page=2&limit=20 HTTP/1.1
Host: www.example.org
Connection: keep-alive
Cache-Control: max-age=0
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8
Sec-Fetch-Site: same-origin
Sec-Fetch-Mode: navigate
Sec-Fetch-Dest: document
Referer: https://www.example.org/dashboard
Accept-Encoding: gzip, deflate, br, zstd
Accept-Language: en-GB,en;q=0.9,de;q=0.8
Cookie: session=3f2a9c1e7b5d4f60a1b2c3d4e5f60718; theme=dark

";

fn zapjs(c: &mut Criterion) {
    let auth = "Authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N";
    both(
        c,
        "core",
        &[
            one("wrk", WRK),
            one("browser_12_fields", BROWSER),
            one("minimal_get", "GET / HTTP/1.1\nHost: x\n\n"),
            one(
                "typical_headers",
                "GET /api/users HTTP/1.1\nHost: example.com\nUser-Agent: Mozilla/5.0\nAccept: application/json\n\
                 Accept-Encoding: gzip, deflate\nConnection: keep-alive\nCache-Control: no-cache\n\n",
            ),
            one(
                "post_json",
                "POST /api/users HTTP/1.1\nHost: example.com\nContent-Type: application/json\nContent-Length: 44\n\
                 Accept: application/json\n\n",
            ),
        ],
    );
    both(
        c,
        "realistic",
        &[
            one(
                "api_get",
                &format!(
                    "GET /api/v1/users/42 HTTP/1.1\nHost: api.example.com\n{auth}\nAccept: application/json\n\
                     User-Agent: MyApp/1.0\n\n"
                ),
            ),
            one(
                "api_post",
                &format!(
                    "POST /api/v1/users HTTP/1.1\nHost: api.example.com\n{auth}\nContent-Type: application/json\n\
                     Content-Length: 68\n\n"
                ),
            ),
            one(
                "health_check",
                "GET /health HTTP/1.1\nHost: localhost\nUser-Agent: kube-probe/1.30\n\n",
            ),
        ],
    );
    let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"];
    both(
        c,
        "method",
        &methods.map(|method| one(method, &format!("{method} /api/test HTTP/1.1\nHost: x\n\n"))),
    );
    let counts = [0, 1, 5, 10, 20, 50].map(|count| {
        let mut text = "GET / HTTP/1.1\nHost: x\n".to_string();
        for n in 0..count {
            let _ = writeln!(text, "X-Custom-Header-{n}: value-{n}");
        }
        one(&count.to_string(), &(text + "\n"))
    });
    both(c, "headers", &counts);
    let long = "/api/v1/organizations/12345/projects/67890/repositories/abcdef/branches/main/commits/1234567890abcdef/files/src/components/x";
    let paths = [
        ("short", "/"),
        ("medium", "/api/v1/users"),
        ("long", "/api/v1/users/123/posts/456/comments"),
        ("very_long", long),
        ("escaped", "/files/r%C3%A9sum%c3%a9/a%2eb"),
        ("file", "/static/js/main.3f2a9c1e.js"),
    ];
    both(
        c,
        "path",
        &paths.map(|(name, path)| one(name, &format!("GET {path} HTTP/1.1\nHost: x\n\n"))),
    );
    let queries = [
        ("none", ""),
        ("single", "?id=123"),
        (
            "multiple",
            "?page=1&limit=20&sort=name&order=asc&filter=active",
        ),
    ];
    both(
        c,
        "query",
        &queries.map(|(name, query)| {
            one(
                name,
                &format!("GET /api/users{query} HTTP/1.1\nHost: x\n\n"),
            )
        }),
    );
}

/// A head of 16 KB in pieces of 1, 64 and 1,460 bytes: time per byte must not grow with the number of pieces squared.
fn split(c: &mut Criterion) {
    let limits = Limits::default();
    let mut text = "GET / HTTP/1.1\r\nHost: x\r\n".to_string();
    while text.len() < 16_200 {
        let _ = write!(text, "X-{}: {}\r\n", text.len(), "v".repeat(200));
    }
    let bytes = (text + "\r\n").into_bytes();
    let mut group = c.benchmark_group("split");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    for piece in [1, 64, 1_460, bytes.len()] {
        group.bench_function(BenchmarkId::new("wire", piece), |b| {
            let mut head = Head::new();
            b.iter(|| {
                let (mut scanned, mut end) = (0, 0);
                while end < bytes.len() {
                    end = (end + piece).min(bytes.len());
                    let _ = black_box(parse_head(
                        black_box(&bytes[..end]),
                        &mut scanned,
                        &limits,
                        &mut head,
                    ));
                }
                assert_eq!(head.len as usize, bytes.len());
            });
        });
    }
    group.finish();
}

fn body(c: &mut Criterion) {
    let limits = Limits::default();
    let mut group = c.benchmark_group("chunked");
    for size in [16, 1_024, 16_384] {
        let count = 65_536 / size;
        let mut bytes = Vec::new();
        for _ in 0..count {
            bytes.extend_from_slice(format!("{size:x}\r\n{}\r\n", "d".repeat(size)).as_bytes());
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(BenchmarkId::new("chunk_size", size), |b| {
            b.iter(|| {
                let mut decoder = chunked::Decoder::default();
                let (mut at, mut data) = (0, 0);
                while let Ok(step) = decoder.step(black_box(&bytes[at..]), &limits) {
                    at += step.consumed;
                    data += step.data.map_or(0, |range| range.len());
                    if step.done {
                        break;
                    }
                }
                assert_eq!(data, 65_536);
            });
        });
    }
    group.finish();

    let mut out = Vec::new();
    c.bench_function("path/canonicalise", |b| {
        b.iter(|| {
            assert_eq!(
                canonicalise(black_box(b"/files/r%C3%A9sum%c3%a9/a%2eb"), &mut out),
                Ok(())
            );
            black_box(&out);
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(700))
        .sample_size(30);
    targets = zapjs, split, body
}
criterion_main!(benches);
