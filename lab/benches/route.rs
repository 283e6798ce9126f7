//! Lookups beside matchit's, which knows no methods, so that its side looks a path up only.
//!
//! `cargo bench --manifest-path lab/benches/Cargo.toml --bench route`

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use route::{Lookup, Params, Router};

const GET: u8 = 0;

fn ours(patterns: &[String]) -> Router {
    let mut router = Router::default();
    for (id, pattern) in patterns.iter().enumerate() {
        router.insert(GET, pattern, id as u32).expect(pattern);
    }
    router
}

/// `/:name` and `/*name` as matchit writes them.
fn theirs(patterns: &[String]) -> matchit::Router<u32> {
    let mut router = matchit::Router::new();
    for (id, pattern) in patterns.iter().enumerate() {
        let segments = pattern.split('/').map(|segment| match segment.as_bytes() {
            [b':', ..] => format!("{{{}}}", &segment[1..]),
            [b'*', ..] => format!("{{{segment}}}"),
            _ => segment.to_owned(),
        });
        let pattern = segments.collect::<Vec<_>>().join("/");
        router.insert(&pattern, id as u32).expect(&pattern);
    }
    router
}

/// Looks the paths up in turn, so that neither router can learn one by heart; times are per lookup.
fn compare(criterion: &mut Criterion, group: &str, patterns: &[String], paths: &[&str], hit: bool) {
    let mut group = criterion.benchmark_group(group);
    group
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    let router = ours(patterns);
    let mut params = Params::new();
    for path in paths {
        let found = matches!(
            router.lookup(GET, path.as_bytes(), &mut params),
            Lookup::Found { .. }
        );
        assert_eq!(found, hit, "{path}");
    }
    let mut at = 0;
    group.bench_function("volant", |bencher| {
        bencher.iter(|| {
            at = if at + 1 == paths.len() { 0 } else { at + 1 };
            router.lookup(GET, black_box(paths[at]).as_bytes(), &mut params)
        });
    });
    let router = theirs(patterns);
    assert!(paths.iter().all(|path| router.at(path).is_ok() == hit));
    group.bench_function("matchit", |bencher| {
        bencher.iter(|| {
            at = if at + 1 == paths.len() { 0 } else { at + 1 };
            router
                .at(black_box(paths[at]))
                .map(|found| *found.value)
                .ok()
        });
    });
    group.finish();
}

fn owned(patterns: &[&str]) -> Vec<String> {
    patterns
        .iter()
        .map(|pattern| (*pattern).to_owned())
        .collect()
}

fn statics(criterion: &mut Criterion) {
    for count in [10, 100, 1_000, 10_000] {
        let patterns: Vec<String> = (0..count).map(|i| format!("/api/v1/resource{i}")).collect();
        let one = patterns[count / 2].clone();
        compare(
            criterion,
            &format!("static, {count} routes, one path"),
            &patterns,
            &[&one],
            true,
        );
        let paths: Vec<&str> = patterns.iter().map(String::as_str).collect();
        compare(
            criterion,
            &format!("static, {count} routes, all paths"),
            &patterns,
            &paths,
            true,
        );
    }
}

fn parameters(criterion: &mut Criterion) {
    let patterns = owned(&[
        "/users/:id",
        "/users/:id/posts/:post",
        "/users/:id/posts/:post/comments/:comment",
    ]);
    compare(criterion, "1 parameter", &patterns, &["/users/12345"], true);
    compare(
        criterion,
        "2 parameters",
        &patterns,
        &["/users/12345/posts/678"],
        true,
    );
    compare(
        criterion,
        "3 parameters",
        &patterns,
        &["/users/12345/posts/678/comments/90"],
        true,
    );
    let many: Vec<String> = (0..1_000)
        .map(|i| format!("/api/v1/resource{i}/:id"))
        .collect();
    let paths: Vec<String> = (0..1_000)
        .map(|i| format!("/api/v1/resource{i}/42"))
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    compare(
        criterion,
        "1 parameter, 1,000 routes, all paths",
        &many,
        &paths,
        true,
    );
}

fn wildcards(criterion: &mut Criterion) {
    let patterns = owned(&["/files/*path", "/static/*path"]);
    compare(
        criterion,
        "wildcard, short",
        &patterns,
        &["/files/a.txt"],
        true,
    );
    let long = ["/files/documents/2025/reports/quarterly/summary.pdf"];
    compare(criterion, "wildcard, long", &patterns, &long, true);
    compare(
        criterion,
        "wildcard, all",
        &owned(&["/*all"]),
        &["/any/path/at/all"],
        true,
    );
}

fn methods(criterion: &mut Criterion) {
    let mut router = Router::default();
    for (method, id) in [(0, 0), (2, 1), (3, 2), (4, 3), (5, 4)] {
        router.insert(method, "/api/resource", id).expect("a route");
        router
            .insert(method, "/api/resource/:id", id)
            .expect("a route");
    }
    let mut params = Params::new();
    let mut group = criterion.benchmark_group("methods");
    group
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    for (name, method) in [
        ("GET", 0),
        ("HEAD", 1),
        ("POST", 2),
        ("DELETE", 5),
        ("OPTIONS", 6),
        ("not allowed", 7),
    ] {
        for (kind, path) in [
            ("static", "/api/resource"),
            ("1 parameter", "/api/resource/7"),
        ] {
            group.bench_function(format!("{name}, {kind}"), |bencher| {
                bencher.iter(|| {
                    router.lookup(black_box(method), black_box(path).as_bytes(), &mut params)
                });
            });
        }
    }
    group.finish();
}

fn misses(criterion: &mut Criterion) {
    let patterns = owned(&[
        "/users",
        "/users/:id",
        "/users/:id/posts/:post",
        "/posts/:id/edit",
    ]);
    compare(
        criterion,
        "not found, different path",
        &patterns,
        &["/nonexistent"],
        false,
    );
    compare(
        criterion,
        "not found, almost",
        &patterns,
        &["/users/12345/posts"],
        false,
    );
}

fn realistic(criterion: &mut Criterion) {
    let patterns = owned(&[
        "/health",
        "/metrics",
        "/api/v1/users",
        "/api/v1/users/:id",
        "/api/v1/users/:id/posts",
        "/api/v1/users/:id/posts/:post",
        "/api/v1/posts",
        "/api/v1/posts/:id",
        "/api/v1/posts/:id/comments",
        "/api/v1/posts/:id/comments/:comment",
        "/auth/login",
        "/auth/logout",
        "/static/*path",
    ]);
    compare(
        criterion,
        "realistic, health check",
        &patterns,
        &["/health"],
        true,
    );
    compare(
        criterion,
        "realistic, list",
        &patterns,
        &["/api/v1/users"],
        true,
    );
    compare(
        criterion,
        "realistic, resource",
        &patterns,
        &["/api/v1/users/123"],
        true,
    );
    compare(
        criterion,
        "realistic, nested resource",
        &patterns,
        &["/api/v1/users/123/posts/456"],
        true,
    );
    let mix = [
        "/health",
        "/api/v1/users/123",
        "/api/v1/posts",
        "/static/css/app.css",
        "/api/v1/posts/9/comments/8",
    ];
    compare(criterion, "realistic, mix", &patterns, &mix, true);
}

criterion_group!(
    benches, statics, parameters, wildcards, methods, misses, realistic
);
criterion_main!(benches);
