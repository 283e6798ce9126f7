//! The cases that `packages/volant/test/rate-limit-counts.test.ts` reads, too.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;

use serde_json::Value;
use share::{Algorithm, LEAST_BYTES, Level, Quota, Table, World, format};

struct Clock<'a>(&'a Cell<u64>);

impl World for Clock<'_> {
    fn micros(&self) -> u64 {
        self.0.get()
    }

    fn is_running(&self, _: u32) -> bool {
        true
    }
}

#[test]
fn a_key_stands_as_in_memory_of_one_process() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../../cases/counts.json")).unwrap();
    let mut refused = 0;
    for case in &cases {
        let number = |name: &str| case[name].as_u64().unwrap();
        let algorithm = match case["algorithm"].as_str().unwrap() {
            "gcra" => Algorithm::Gcra,
            "fixed" => Algorithm::Fixed,
            "sliding" => Algorithm::Sliding,
            other => panic!("{other}"),
        };
        let quota = Quota::new(
            algorithm,
            number("max") as u32,
            number("window") * 1_000,
            number("burst") as u32,
        );
        let memory: Vec<AtomicU64> = (0..LEAST_BYTES / 8).map(|_| AtomicU64::new(0)).collect();
        format(&memory, [1, 2]).unwrap();
        let now = Cell::new(0);
        let table = Table::open(memory, Clock(&now), 1).unwrap();
        let limit = table.limit(b"limit", vec![quota.unwrap()]).unwrap();
        let keys = [limit.key(0, b"key")];
        for step in case["steps"].as_array().unwrap() {
            let step = step.as_array().unwrap();
            now.set(step[0].as_u64().unwrap());
            let cost = step[1].as_u64().unwrap() as u32;
            let [_, _, allowed, remaining, reset, retry_after] = step.as_slice() else {
                table.refund(&limit, &keys, cost);
                continue;
            };
            let mut levels = [Level::default()];
            let passes = table.take(&limit, &keys, cost, &mut levels);
            let [level] = levels;
            let shown = format!("{} at {step:?}: {level:?}", case["algorithm"]);
            assert_eq!(level.allowed, passes, "{shown}");
            assert_eq!(level.allowed, allowed.as_bool().unwrap(), "{shown}");
            assert_eq!(level.remaining, remaining.as_u64().unwrap(), "{shown}");
            let is_time = |micros: u64, ms: &Value| {
                (micros as f64 / 1_000.0 - ms.as_f64().unwrap()).abs() < 1e-9
            };
            assert!(is_time(level.reset, reset), "{shown}");
            assert!(is_time(level.retry_after, retry_after), "{shown}");
            refused += usize::from(!passes);
        }
    }
    assert!(refused > cases.len(), "{refused} of {}", cases.len());
}
