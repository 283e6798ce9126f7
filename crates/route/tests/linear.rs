//! A lookup's time grows at most with the path: time(2n) / time(n) ≤ 2.2.

use std::hint::black_box;
use std::time::{Duration, Instant};

use route::{Params, Router};

/// Mean over 4 KiB to 64 KiB, as one doubling may leave a cache of the processor.
const FOUR_DOUBLINGS: f64 = 2.2 * 2.2 * 2.2 * 2.2;

fn adversarial() -> Router {
    let mut router = Router::default();
    let mut id = 0;
    let mut add = |pattern: &str| {
        router.insert(0, pattern, id).expect(pattern);
        id += 1;
    };
    // Every way to go static or parameter in five segments, so that a path of `a` visits them all before it fails.
    for bits in 0..32 {
        let segment = |at: i32| {
            if bits >> at & 1 == 0 {
                "/a".to_owned()
            } else {
                format!("/:p{at}")
            }
        };
        add(&((0..5).map(segment).collect::<Vec<_>>().concat() + "/end"));
    }
    add("/s/:x.a/end");
    add("/s/:x.a.a/end");
    add("/s/:x-a/end");
    add("/s/:x/end");
    add("/w/:x/*rest");
    add("/w/*rest");
    add(&("/d".repeat(250) + "/:last"));
    add(&format!("/{}/:x", "t".repeat(4000)));
    add(&format!("/{}", "t".repeat(4095)));
    router
}

/// The best of many runs: what else the machine does can only add.
fn time(router: &Router, method: u8, path: &[u8]) -> Duration {
    let mut params = Params::new();
    let mut best = Duration::MAX;
    let mut repeat = 1;
    for _ in 0..40 {
        loop {
            let start = Instant::now();
            for _ in 0..repeat {
                black_box(router.lookup(method, black_box(path), &mut params));
            }
            let took = start.elapsed();
            if took > Duration::from_micros(100) {
                best = best.min(took / repeat);
                break;
            }
            repeat *= 2;
        }
    }
    best
}

fn assert_linear(name: &str, path: impl Fn(usize) -> String) {
    let router = adversarial();
    for method in [0, 2] {
        let (short, long) = (path(4 << 10), path(64 << 10));
        let best = |path: &str| time(&router, method, path.as_bytes()).as_secs_f64();
        let ratios: Vec<f64> = (0..5).map(|_| best(&long) / best(&short)).collect();
        let linear = ratios.iter().any(|ratio| *ratio <= FOUR_DOUBLINGS);
        assert!(linear, "{name}, method {method}: {ratios:?}");
    }
}

#[test]
fn one_long_segment() {
    assert_linear("no route", |size| format!("/{}", "x".repeat(size)));
    assert_linear("a parameter", |size| format!("/s/{}", "x".repeat(size)));
    assert_linear("suffixes over and over", |size| {
        format!("/s/{}", ".a-a".repeat(size / 4))
    });
    assert_linear("text of a pattern over and over", |size| {
        format!("/{}", "t".repeat(size))
    });
}

#[test]
fn many_segments() {
    assert_linear("choices", |size| "/a".repeat(size / 2));
    assert_linear("empty segments", |size| "/".repeat(size));
    assert_linear("a wildcard", |size| format!("/w{}", "/b".repeat(size / 2)));
    assert_linear("deep text", |size| "/d".repeat(size / 2));
    assert_linear("1,000 segments and more", |size| {
        format!("/{}", "seg.a/".repeat(size / 6))
    });
}

#[test]
fn choices_with_long_segments() {
    assert_linear("five long segments", |size| {
        format!("/{}", "a".repeat(size / 5)).repeat(5) + "/no"
    });
}
