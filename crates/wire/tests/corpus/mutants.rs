use mutants::Random;

/// Checks mutants of `seeds`.
pub fn run(name: &str, seeds: &[Vec<u8>], check: impl FnMut(&[u8], &mut Random)) {
    mutants::run(name, |random| mutant(random, seeds), check);
}

/// What parsers trip over.
const TOKENS: &[&[u8]] = &[
    b"\r\n",
    b"\r",
    b"\n",
    b"\r\n\r\n",
    b"\n\n",
    b"\0",
    b" ",
    b"\t",
    b"\x0b",
    b"\x7f",
    b"\x80",
    b"\xff",
    b":",
    b";",
    b",",
    b"=",
    b"\"",
    b"\\",
    b"%",
    b"%2e",
    b"%00",
    b"%2f",
    b"%C3%A9",
    b"%c0%ae",
    b"/",
    b"/./",
    b"/../",
    b"//",
    b"?",
    b"#",
    b"*",
    b"@",
    b"0",
    b"1",
    b"f",
    b"0\r\n\r\n",
    b"ffffffffffffffff",
    b"5\r\nhello\r\n",
    b";a=b",
    b";a=\"b\"",
    b"HTTP/1.1",
    b"HTTP/1.0",
    b"HTTP/2.0",
    b"GET / HTTP/1.1\r\n",
    b"POST /a HTTP/1.1\r\nHost: a\r\n",
    b"OPTIONS * ",
    b"http://a",
    b"Host: a\r\n",
    b"Host:\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: x\r\n",
    b"Connection: close\r\n",
    b"Expect: 100-continue\r\n",
    b"X: y\r\n",
    b" folded\r\n",
    b"chunked",
    b"Transfer-Encoding",
    b"Content-Length",
    b"99999999999999999999",
];

fn mutant(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let place = random.place(&bytes);
        let token = TOKENS[random.below(TOKENS.len())].iter().copied();
        match random.below(8) {
            0 => bytes.splice(place.start..place.start, token).for_each(drop),
            1 => bytes.splice(place, token).for_each(drop),
            _ => random.change(&mut bytes, place, seeds),
        }
    }
    bytes.truncate(40_000);
    bytes
}
