//! The tables that the JavaScript router is tested with too.

use route::{InsertError, Lookup, METHODS, MethodSet, Options, Params, Router};
use serde_json::Value;

fn table() -> Value {
    serde_json::from_str(include_str!("../../cases/routes.json")).expect("routes.json")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Every table with the option `methods` names these.
const REGISTERED: [&str; 3] = ["PURGE", "PROPFIND", "LINK"];

fn index(method: &str) -> u8 {
    match method {
        "TRACE" => 32,
        "CONNECT" => 33,
        _ => {
            let mut names = METHODS.iter().chain(&REGISTERED);
            names.position(|name| *name == method).expect("a method") as u8
        }
    }
}

fn router(set: &Value) -> Router {
    let flag = |name: &str, default| set["options"][name].as_bool().unwrap_or(default);
    Router::new(Options {
        case_sensitive: flag("caseSensitive", true),
        ignore_trailing_slash: flag("ignoreTrailingSlash", false),
    })
}

fn insert(router: &mut Router, route: &str, id: usize) -> Result<(), InsertError> {
    let (method, pattern) = route.split_once(' ').expect("METHOD pattern");
    router.insert(index(method), pattern, id as u32)
}

fn filled(set: &Value) -> Router {
    let mut router = router(set);
    for (id, route) in list(&set["routes"]).iter().enumerate() {
        let inserted = insert(&mut router, text(route), id);
        assert_eq!(inserted, Ok(()), "{route}");
    }
    router
}

#[test]
fn lookups() {
    let table = table();
    let mut count = 0;
    for set in list(&table["sets"]) {
        let router = filled(set);
        let names = list(&set["routes"]);
        let mut params = Params::new();
        for lookup in list(&set["lookups"]) {
            let (method, path, expected) = (text(&lookup[0]), text(&lookup[1]), &lookup[2]);
            let wanted = match expected {
                Value::String(route) if route == "OPTIONS" => Lookup::Options(allow(&lookup[3])),
                Value::String(route) => {
                    let id = names
                        .iter()
                        .position(|entry| text(entry) == route)
                        .expect("a route of the set");
                    Lookup::Found { id: id as u32 }
                }
                _ if expected == 405 => Lookup::MethodNotAllowed(allow(&lookup[3])),
                _ => {
                    assert_eq!(expected, 404);
                    Lookup::NotFound
                }
            };
            let found = router.lookup(index(method), path.as_bytes(), &mut params);
            let title = format!("{}: {method} {path}", set["name"]);
            assert_eq!(found, wanted, "{title}");
            let values: Vec<&str> = params
                .as_slice()
                .iter()
                .map(|&(start, len)| &path[start as usize..(start + len) as usize])
                .collect();
            let expected_values: Vec<&str> = match found {
                Lookup::Found { .. } => lookup
                    .get(3)
                    .map_or_else(Vec::new, |values| list(values).iter().map(text).collect()),
                _ => Vec::new(),
            };
            assert_eq!(values, expected_values, "{title}");
            count += 1;
        }
    }
    assert!(count >= 150, "{count} lookups");
}

fn allow(names: &Value) -> MethodSet {
    MethodSet(list(names).iter().map(|name| 1 << index(text(name))).sum())
}

#[test]
fn conflicts_name_both_routes_and_change_nothing() {
    for case in list(&table()["conflicts"]) {
        let mut router = filled(case);
        let (method, pattern) = text(&case["add"]).split_once(' ').expect("METHOD pattern");
        let error = insert(&mut router, text(&case["add"]), 99).expect_err(pattern);
        let expected = InsertError::Conflict {
            method: index(method),
            existing: text(&case["existing"]).to_owned(),
            pattern: pattern.to_owned(),
        };
        assert_eq!(error, expected);
        let message = format!(
            "Route {method} {pattern} conflicts with {method} {}: both match the same paths. \
             Remove one of them, or make their static text differ.",
            text(&case["existing"])
        );
        assert_eq!(error.to_string(), message);
        let mut params = Params::new();
        for path in ["/", "/a", "/a/b", "/a/b/c", "/a/x.svg", "/caf%C3%A9"] {
            assert_ne!(
                router.lookup(0, path.as_bytes(), &mut params),
                Lookup::Found { id: 99 },
                "{pattern} {path}"
            );
        }
    }
}

#[test]
fn routes_that_differ_live_together() {
    for case in list(&table()["together"]) {
        filled(case);
    }
}

#[test]
fn bad_patterns_are_refused_with_a_reason() {
    for case in list(&table()["bad"]) {
        let (pattern, reason) = (text(&case[0]), text(&case[1]));
        match Router::default().insert(0, pattern, 0) {
            Err(InsertError::BadPattern {
                pattern: named,
                reason: found,
            }) => {
                let name = format!("{found:?}");
                assert_eq!(name.split('(').next(), Some(reason), "{pattern}");
                assert_eq!(named, pattern);
                assert!(!found.to_string().is_empty());
            }
            other => panic!("{pattern}: {other:?}"),
        }
    }
}

#[test]
fn limits_of_a_pattern() {
    let reason = |pattern: &str| match Router::default().insert(0, pattern, 0) {
        Err(InsertError::BadPattern { reason, .. }) => format!("{reason:?}"),
        other => format!("{other:?}"),
    };
    let params = |count: usize| {
        (0..count)
            .map(|i| format!("/:p{i}"))
            .collect::<Vec<_>>()
            .concat()
    };
    assert_eq!(reason(&params(32)), "Ok(())");
    assert_eq!(reason(&params(33)), "TooManyParameters");
    assert_eq!(reason(&"/a".repeat(256)), "Ok(())");
    assert_eq!(reason(&"/a".repeat(257)), "TooManySegments");
    assert_eq!(reason(&format!("/{}", "a".repeat(4095))), "Ok(())");
    assert_eq!(reason(&format!("/{}", "a".repeat(4096))), "TooLong");
    assert_eq!(
        Router::default().insert(32, "/", 0),
        Err(InsertError::UnknownMethod { method: 32 })
    );
}

#[test]
fn thirty_two_parameters_are_all_there() {
    let mut router = Router::default();
    let pattern: String = (0..31)
        .map(|i| format!("/:p{i}"))
        .collect::<Vec<_>>()
        .concat()
        + "/*rest";
    router.insert(2, &pattern, 5).expect("32 parameters");
    let path = "/ab".repeat(40);
    let mut params = Params::new();
    assert_eq!(
        router.lookup(2, path.as_bytes(), &mut params),
        Lookup::Found { id: 5 }
    );
    assert_eq!(params.len(), 32);
    assert_eq!(params.get(30), Some((91, 2)));
    assert_eq!(params.get(31), Some((94, 26)));
    assert_eq!(params.get(32), None);
}

/// The text of a pattern is made canonical by the rules for a request's path.
#[test]
fn pattern_text_is_spelled_as_paths_are() {
    let paths: Value =
        serde_json::from_str(include_str!("../../cases/paths.json")).expect("paths.json");
    assert!(list(&paths).len() >= 500);
    let mut used = 0;
    for case in list(&paths) {
        let (raw, canonical) = (text(&case[0]), case[1].as_str());
        // What has a meaning of its own in a pattern: a parameter, a wildcard, text outside ASCII.
        if raw.contains("/:") || raw.contains('*') || !raw.is_ascii() {
            continue;
        }
        let mut router = Router::default();
        let inserted = router.insert(0, &raw.replace(':', "::"), 3);
        assert_eq!(inserted.is_ok(), canonical.is_some(), "{raw}: {inserted:?}");
        if let Some(path) = canonical {
            let found = router.lookup(0, path.as_bytes(), &mut Params::new());
            assert_eq!(found, Lookup::Found { id: 3 }, "{raw}");
        }
        used += 1;
    }
    assert!(used >= 500, "{used}");
}
