//! Text with places that each request fills anew: `{nonce}`, `{unique}`, `{1..1000}`, `{#1}`. `{bytes-1000}` is filled
//! once, when it is read.

use std::io::Write;

use volant_load::random::Random;

/// Of one `{bytes-1000}`.
const MAX_FILLER: usize = 64 * 1024 * 1024;
/// The filler is the same in every run.
const FILLER_SEED: u64 = 1;

/// Text and places. Without places it is a constant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Nonce,
    Unique,
    /// Which of the request's numbers.
    Number(usize),
}

/// The ranges of a request, in the order in which `{#1}`, `{#2}` … name them.
pub type Ranges = Vec<(u64, u64)>;

/// What one request fills its places with.
#[derive(Default)]
pub struct Values {
    pub nonce: u64,
    pub unique: u64,
    numbers: Vec<u64>,
}

impl Values {
    pub fn draw(&mut self, ranges: &Ranges, random: &mut Random) {
        self.nonce = random.number();
        self.numbers.clear();
        for (low, high) in ranges {
            self.numbers.push(low + random.below(high - low + 1));
        }
    }
}

impl Template {
    /// Reads `text`; its ranges are added to `ranges`. `{{` is a literal `{`, and so is a `{` before anything but a
    /// word, so that JSON need not be escaped. The error is half a sentence.
    pub fn read(text: &str, ranges: &mut Ranges) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            literal.extend_from_slice(&rest.as_bytes()[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('{') {
                literal.push(b'{');
                rest = after;
                continue;
            }
            let Some(name) = place(rest) else {
                literal.push(b'{');
                continue;
            };
            rest = &rest[name.len() + 1..];
            if let Some(count) = filler(name) {
                fill(&mut literal, count);
                continue;
            }
            let part = match name {
                "nonce" => Part::Nonce,
                "unique" => Part::Unique,
                _ => Part::Number(number(name, ranges).ok_or_else(|| {
                    format!(
                        "{{{name}}} is no placeholder here: use {{nonce}}, {{unique}}, {{1..1000}}, {{#1}} for the \
                         first range, {{bytes-1000}} for so many bytes, or {{{{ for a literal {{"
                    )
                })?),
            };
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal)));
            }
            parts.push(part);
        }
        literal.extend_from_slice(rest.as_bytes());
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Self { parts })
    }

    /// In bytes, without what is filled in.
    pub fn len(&self) -> usize {
        let text = |part: &Part| match part {
            Part::Text(text) => text.len(),
            _ => 0,
        };
        self.parts.iter().map(text).sum()
    }

    /// The whole text, when nothing in it changes.
    pub fn constant(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(b""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub fn render(&self, values: &Values, into: &mut Vec<u8>) {
        for part in &self.parts {
            // Writing to a vector cannot fail.
            let _ = match part {
                Part::Text(text) => into.write_all(text),
                Part::Nonce => write!(into, "{:016x}", values.nonce),
                Part::Unique => write!(into, "{}", values.unique),
                Part::Number(index) => write!(into, "{}", values.numbers[*index]),
            };
        }
    }
}

/// The word between a brace that was just read and the next; `None` when there is anything but a word.
fn place(text: &str) -> Option<&str> {
    let name = &text[..text.find('}')?];
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'.' | b'_' | b'-');
    (!name.is_empty() && name.bytes().all(word)).then_some(name)
}

/// How many bytes `bytes-1000` stands for.
fn filler(name: &str) -> Option<usize> {
    let count = name.strip_prefix("bytes-")?.parse().ok()?;
    (count <= MAX_FILLER).then_some(count)
}

/// Bytes of all values without an order, as a photograph or an archive has them.
fn fill(into: &mut Vec<u8>, count: usize) {
    let end = into.len() + count;
    let mut random = Random::new(FILLER_SEED);
    while into.len() < end {
        into.extend_from_slice(&random.number().to_le_bytes());
    }
    into.truncate(end);
}

/// Which number `1..1000` or `#1` stands for.
fn number(name: &str, ranges: &mut Ranges) -> Option<usize> {
    if let Some(reference) = name.strip_prefix('#') {
        let index = reference.parse::<usize>().ok()?.checked_sub(1)?;
        return (index < ranges.len()).then_some(index);
    }
    let (low, high) = name.split_once("..")?;
    let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
    if low > high || high == u64::MAX {
        return None;
    }
    ranges.push((low, high));
    Some(ranges.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, values: &Values) -> String {
        let mut ranges = vec![(1, 5), (2, 2)];
        let mut bytes = Vec::new();
        Template::read(text, &mut ranges)
            .unwrap()
            .render(values, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        let values = Values {
            nonce: 0xab,
            unique: 42,
            numbers: vec![4, 2, 9],
        };
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("{nonce}", "00000000000000ab"),
            ("a{unique}b{unique}", "a42b42"),
            ("/{#1}/{#2}/{1..9}/{#3}", "/4/2/9/9"),
            ("{\"a\":{\"b\":[{}]}}", "{\"a\":{\"b\":[{}]}}"),
            ("{{nonce}", "{nonce}"),
            ("{{{nonce}}", "{00000000000000ab}"),
            ("{", "{"),
            ("{\"id\":\"{nonce}\"}", "{\"id\":\"00000000000000ab\"}"),
        ] {
            assert_eq!(render(text, &values), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_place_is_refused_with_what_would_do() {
        for text in [
            "{nonse}",
            "{#3}",
            "{#0}",
            "{9..1}",
            "{1..}",
            "{1..18446744073709551615}",
            "{-1..2}",
            "{bytes-}",
            "{bytes-67108865}",
        ] {
            let error = Template::read(text, &mut vec![(1, 5), (2, 2)]).unwrap_err();
            assert!(
                error.starts_with(text) && error.contains("{nonce}"),
                "{error}"
            );
        }
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_both_ends() {
        let mut random = Random::new(1);
        let mut values = Values::default();
        let mut seen = [false; 4];
        for _ in 0..200 {
            values.draw(&vec![(3, 6), (8, 8)], &mut random);
            seen[values.numbers[0] as usize - 3] = true;
            assert_eq!(values.numbers[1], 8);
        }
        assert_eq!(seen, [true; 4]);
    }

    #[test]
    fn only_a_text_without_places_is_constant() {
        let read = |text| Template::read(text, &mut Vec::new()).unwrap();
        assert_eq!(read("{{a").constant(), Some(b"{a".as_slice()));
        assert_eq!(read("").constant(), Some(b"".as_slice()));
        assert_eq!(read("{nonce}").constant(), None);
    }

    #[test]
    fn a_filler_is_a_constant_of_its_length() {
        let read = |text| Template::read(text, &mut Vec::new()).unwrap();
        let body = read("<{bytes-1001}>");
        let bytes = body.constant().unwrap();
        assert_eq!((bytes.len(), bytes[0], bytes[1002]), (1003, b'<', b'>'));
        assert_eq!(bytes, read("<{bytes-1001}>").constant().unwrap());
        let kinds: std::collections::HashSet<_> = bytes.iter().collect();
        assert!(kinds.len() > 200, "{} values", kinds.len());
    }
}
