//! Random route sets and paths, against a matcher that tries every route and compares how specific the matches are.

mod expected;

use expected::{Reading, expected, fold};
use route::{Lookup, METHODS, Options, Params, Router};

/// Methods beyond `METHODS` that routes and lookups have.
const REGISTERED: usize = 3;

/// xorshift64*, so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

#[derive(Clone, Debug, PartialEq, PartialOrd, Eq, Ord)]
enum Piece {
    Text(String),
    /// Sorts longer suffixes first.
    Suffix(std::cmp::Reverse<usize>, &'static str),
    Param,
    Wildcard,
}

const TEXTS: [&str; 9] = ["a", "b", "ab", "abc", "A", "a.x", "b-d", "", "c.x-d"];

const SUFFIXES: [&str; 4] = [".x", "-d", ".x.x", ".X"];

struct Route {
    method: u8,
    pattern: String,
    readings: Vec<Vec<Piece>>,
}

fn route(random: &mut Random) -> Route {
    let mut pattern = Vec::new();
    let mut pieces = Vec::new();
    let count = 1 + random.below(5);
    for at in 0..count {
        let segment = match random.below(10) {
            0..=4 => {
                let text = random.pick(&TEXTS);
                pieces.push(Piece::Text(text.to_owned()));
                text.to_owned()
            }
            5..=6 => {
                let suffix = SUFFIXES[random.below(SUFFIXES.len())];
                pieces.push(Piece::Suffix(std::cmp::Reverse(suffix.len()), suffix));
                format!(":p{at}{suffix}")
            }
            7..=8 => {
                pieces.push(Piece::Param);
                format!(":q{at}")
            }
            _ => {
                pieces.push(Piece::Wildcard);
                "*rest".to_owned()
            }
        };
        pattern.push(format!("/{segment}"));
        if pieces.last() == Some(&Piece::Wildcard) {
            break;
        }
    }
    let mut readings = vec![pieces.clone()];
    if pieces.last() != Some(&Piece::Wildcard) && random.below(4) == 0 {
        for extra in 0..=random.below(2) {
            pattern.push(format!("/:o{extra}?"));
            pieces.push(Piece::Param);
            readings.push(pieces.clone());
        }
    }
    Route {
        method: random.below(METHODS.len() + REGISTERED) as u8,
        pattern: pattern.concat(),
        readings,
    }
}

fn path(random: &mut Random) -> String {
    let parts = [
        "a", "b", "ab", "abc", "A", "a.x", "A.X", "a.x.x", "b-d", "", ".x", "-d", "z", "c.x-d",
        "zzz.x.x",
    ];
    let mut path = String::new();
    for _ in 0..=random.below(5) {
        path.push('/');
        path.push_str(random.pick(&parts));
    }
    path
}

#[test]
fn agrees_with_trying_every_route() {
    let mut found = 0;
    let mut missed = 0;
    let mut refused = 0;
    for seed in 1..=600u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let options = Options {
            case_sensitive: random.below(2) == 0,
            ignore_trailing_slash: random.below(2) == 0,
        };
        let mut router = Router::new(options);
        let mut readings: Vec<Reading> = Vec::new();
        for id in 0..=random.below(40) as u32 {
            let route = route(&mut random);
            // A pattern that ends with an empty segment is the shorter one when that slash is ignored.
            let mut own = route.readings;
            if options.ignore_trailing_slash
                && route.pattern.len() > 1
                && route.pattern.ends_with('/')
            {
                for pieces in &mut own {
                    pieces.pop();
                }
            }
            let own: Vec<Vec<Piece>> = own
                .into_iter()
                .map(|pieces| pieces.iter().map(|piece| fold(options, piece)).collect())
                .collect();
            let taken = readings
                .iter()
                .any(|reading| reading.method == route.method && own.contains(&reading.pieces));
            let inserted = router.insert(route.method, &route.pattern, id);
            assert_eq!(
                inserted.is_err(),
                taken,
                "seed {seed}: {} {inserted:?}",
                route.pattern
            );
            refused += usize::from(taken);
            if !taken {
                let method = route.method;
                readings.extend(own.into_iter().map(|pieces| Reading { method, id, pieces }));
            }
        }
        let mut params = Params::new();
        for _ in 0..200 {
            let path = path(&mut random);
            let method = random.below(METHODS.len() + REGISTERED) as u8;
            let (answer, values) = expected(options, &readings, method, &path);
            let got = router.lookup(method, path.as_bytes(), &mut params);
            assert_eq!(
                got,
                answer,
                "seed {seed}: {} {path}",
                METHODS.get(usize::from(method)).unwrap_or(&"registered")
            );
            let spans = params.as_slice().iter();
            let got: Vec<&str> = spans
                .map(|&(start, len)| &path[start as usize..(start + len) as usize])
                .collect();
            assert_eq!(got, values, "seed {seed}: {path}");
            if matches!(answer, Lookup::Found { .. }) {
                found += 1;
            } else {
                missed += 1;
            }
        }
    }
    assert!(
        found > 10_000 && missed > 10_000 && refused > 200,
        "{found} {missed} {refused}"
    );
}

/// No bytes make a lookup panic or report a span outside the path.
#[test]
fn any_bytes_are_safe() {
    let mut router = Router::default();
    for (id, pattern) in ["/a/:x", "/a/:x.svg", "/a/*r", "/:o?/:p?", "/a/b/:c-d/e"]
        .iter()
        .enumerate()
    {
        router.insert(0, pattern, id as u32).expect(pattern);
    }
    let mut random = Random(7);
    let mut params = Params::new();
    let mut found = 0;
    for _ in 0..200_000 {
        let alphabet = b"/ab.-svgde*:%\0\xff\x80";
        let path: Vec<u8> = (0..random.below(24))
            .map(|_| alphabet[random.below(alphabet.len())])
            .collect();
        let answer = router.lookup(random.below(9) as u8, &path, &mut params);
        found += usize::from(matches!(answer, Lookup::Found { .. }));
        for &(start, len) in params.as_slice() {
            assert!(len > 0 && (start + len) as usize <= path.len());
        }
    }
    assert!(found > 100);
}
