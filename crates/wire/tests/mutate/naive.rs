//! A second reading of bodies and of streams of requests, as simple as can be.

use wire::{Framing, Head, Limits, Progress, Refusal, chunked, parse_head};

/// Decodes a complete chunked body with string functions.
pub fn naive_body(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let mut rest = bytes;
    loop {
        let line = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let size = rest[..line].split(|byte| *byte == b';').next()?;
        let size = usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()?;
        rest = &rest[line + 2..];
        if size == 0 {
            let trailers = rest == b"\r\n" || rest.ends_with(b"\r\n\r\n");
            return trailers.then_some(data);
        }
        data.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

/// What a connection makes of a stream of requests: head lengths and bodies, and the refusal that ended it.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Stream {
    pub requests: Vec<(String, Vec<u8>)>,
    pub open: Option<(String, Vec<u8>)>,
    pub refusal: Option<Refusal>,
}

pub fn requests(bytes: &[u8], ends: impl IntoIterator<Item = usize>) -> Stream {
    enum Reading {
        Head,
        Length(usize),
        Chunks(chunked::Decoder),
    }
    let limits = Limits::default();
    let mut stream = Stream::default();
    let mut head = Head::new();
    let (mut at, mut scanned) = (0, 0);
    let mut reading = Reading::Head;
    for end in ends {
        loop {
            let input = &bytes[at..end];
            match &mut reading {
                Reading::Head => match parse_head(input, &mut scanned, &limits, &mut head) {
                    Ok(Progress::Partial) => break,
                    Ok(Progress::Complete) => {
                        stream.open =
                            Some((head.target.of(input).escape_ascii().to_string(), Vec::new()));
                        at += head.len as usize;
                        reading = match head.framing {
                            Framing::None => Reading::Length(0),
                            Framing::Length(length) => {
                                Reading::Length(usize::try_from(length).unwrap_or(usize::MAX))
                            }
                            Framing::Chunked => Reading::Chunks(chunked::Decoder::default()),
                        };
                    }
                    Err(refusal) => {
                        return Stream {
                            refusal: Some(refusal),
                            ..stream
                        };
                    }
                },
                Reading::Length(0) => {
                    stream.requests.extend(stream.open.take());
                    reading = Reading::Head;
                }
                Reading::Length(_) | Reading::Chunks(_) if input.is_empty() => break,
                Reading::Length(left) => {
                    let take = input.len().min(*left);
                    body(&mut stream).extend_from_slice(&input[..take]);
                    *left -= take;
                    at += take;
                }
                Reading::Chunks(decoder) => match decoder.step(input, &limits) {
                    Ok(step) => {
                        if let Some(range) = step.data {
                            body(&mut stream).extend_from_slice(&input[range]);
                        }
                        at += step.consumed;
                        if step.done {
                            reading = Reading::Length(0);
                        }
                    }
                    Err(refusal) => {
                        return Stream {
                            refusal: Some(refusal),
                            ..stream
                        };
                    }
                },
            }
        }
    }
    stream
}

pub fn body(stream: &mut Stream) -> &mut Vec<u8> {
    &mut stream.open.as_mut().expect("a request is open").1
}
