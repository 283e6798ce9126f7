//! What a router should say, found by trying every route.

use super::Piece;
use route::{Lookup, MethodSet, Options};

/// One way a route's pattern can be read, with how many optional segments it leaves out.
pub struct Reading {
    pub method: u8,
    pub id: u32,
    pub pieces: Vec<Piece>,
}

fn same(options: Options, a: &str, b: &str) -> bool {
    if options.case_sensitive {
        a == b
    } else {
        a.eq_ignore_ascii_case(b)
    }
}

fn trimmed(options: Options, path: &str) -> &str {
    if options.ignore_trailing_slash && path.len() > 1 {
        path.strip_suffix('/').unwrap_or(path)
    } else {
        path
    }
}

pub fn fold(options: Options, piece: &Piece) -> Piece {
    match piece {
        Piece::Text(text) if !options.case_sensitive => Piece::Text(text.to_ascii_lowercase()),
        Piece::Suffix(length, ".X") if !options.case_sensitive => Piece::Suffix(*length, ".x"),
        other => other.clone(),
    }
}

/// The values when `pieces` match, by the definition of each piece.
fn values(options: Options, pieces: &[Piece], path: &str) -> Option<Vec<String>> {
    let mut segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let mut values = Vec::new();
    if let Some((Piece::Wildcard, before)) = pieces.split_last() {
        let rest = segments
            .split_off(before.len().min(segments.len()))
            .join("/");
        if rest.is_empty() {
            return None;
        }
        let mut found = values_of(options, before, &segments)?;
        found.push(rest);
        return Some(found);
    }
    values.extend(values_of(options, pieces, &segments)?);
    Some(values)
}

fn values_of(options: Options, pieces: &[Piece], segments: &[&str]) -> Option<Vec<String>> {
    if pieces.len() != segments.len() {
        return None;
    }
    let mut values = Vec::new();
    for (piece, segment) in pieces.iter().zip(segments) {
        match piece {
            Piece::Text(text) if same(options, text, segment) => {}
            Piece::Param if !segment.is_empty() => values.push((*segment).to_owned()),
            Piece::Suffix(_, suffix) if segment.len() > suffix.len() => {
                let (value, end) = segment.split_at(segment.len() - suffix.len());
                if !same(options, end, suffix) {
                    return None;
                }
                values.push(value.to_owned());
            }
            _ => return None,
        }
    }
    Some(values)
}

pub fn expected(
    options: Options,
    readings: &[Reading],
    method: u8,
    path: &str,
) -> (Lookup, Vec<String>) {
    const HEAD: u8 = 1;
    let path = trimmed(options, path);
    let mut allow = 0u32;
    let mut best: Option<(&Reading, Vec<String>)> = None;
    for reading in readings {
        let Some(values) = values(options, &reading.pieces, path) else {
            continue;
        };
        allow |= 1 << reading.method;
        let serves = reading.method == method || (method == HEAD && reading.method == 0);
        let wins = |other: &Reading| {
            let order = rank(&reading.pieces).cmp(&rank(&other.pieces));
            order.is_lt() || (order.is_eq() && reading.method == method)
        };
        if serves && best.as_ref().is_none_or(|(other, _)| wins(other)) {
            best = Some((reading, values));
        }
    }
    if let Some((reading, values)) = best {
        return (Lookup::Found { id: reading.id }, values);
    }
    let miss = if allow == 0 {
        Lookup::NotFound
    } else {
        let set = MethodSet(allow | (1 << 6) | if allow & 1 == 0 { 0 } else { 1 << HEAD });
        if method == 6 {
            Lookup::Options(set)
        } else {
            Lookup::MethodNotAllowed(set)
        }
    };
    (miss, Vec::new())
}

/// Static before suffix (longest first) before parameter before wildcard, from left to right.
fn rank(pieces: &[Piece]) -> Vec<(u8, std::cmp::Reverse<usize>)> {
    let none = std::cmp::Reverse(0);
    let rank = |piece: &Piece| match piece {
        Piece::Text(_) => (0, none),
        Piece::Suffix(length, _) => (1, *length),
        Piece::Param => (2, none),
        Piece::Wildcard => (3, none),
    };
    pieces.iter().map(rank).collect()
}
