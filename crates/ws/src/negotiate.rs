/// What every answer says.
macro_rules! answer {
    () => {
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    };
}

/// The base-2 logarithms of the sizes that a window may have (RFC 7692 §7.1.2). The compressor has the largest.
const SMALLEST_WINDOW: usize = 8;
const LARGEST_WINDOW: usize = 15;

/// The answers to an offer with `server_max_window_bits` of 8 to 15, and to one without. There is no context takeover in
/// either direction, so that no socket holds a window.
const ANSWERS: [&str; 8] = [
    concat!(answer!(), "; server_max_window_bits=8"),
    concat!(answer!(), "; server_max_window_bits=9"),
    concat!(answer!(), "; server_max_window_bits=10"),
    concat!(answer!(), "; server_max_window_bits=11"),
    concat!(answer!(), "; server_max_window_bits=12"),
    concat!(answer!(), "; server_max_window_bits=13"),
    concat!(answer!(), "; server_max_window_bits=14"),
    concat!(answer!(), "; server_max_window_bits=15"),
];
const ANSWER: &str = answer!();

/// permessage-deflate as it was negotiated for one socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deflate {
    /// The value of Sec-WebSocket-Extensions in the reply.
    pub answer: &'static str,
    /// Messages up to this many bytes may be sent compressed; [`usize::MAX`] for most clients. A client with a smaller
    /// window than that of the one compressor cannot read what refers further back, which a message that fits into its
    /// window never does.
    pub longest: usize,
}

/// Gives what to reply to `offers`, the value of Sec-WebSocket-Extensions in the request (several lines of it are joined
/// with a comma). Gives `None` where no offer of permessage-deflate can be accepted, or the value is malformed: the socket
/// then works without compression.
///
/// The first acceptable offer counts. An offer is declined for parameters that RFC 7692 §7.1 does not know, or has twice
/// or with other values.
pub fn negotiate(offers: &str) -> Option<Deflate> {
    let mut answer = None;
    for offer in split(offers, ',') {
        let mut parts = split(offer, ';');
        let name = parts.next()?;
        let mut parameters = Vec::new();
        for part in parts {
            parameters.push(parameter(part)?);
        }
        if name.is_empty() && parameters.is_empty() {
            // RFC 9110 §5.6.1.2: a recipient ignores empty elements of a list.
            continue;
        }
        if !is_token(name) {
            return None;
        }
        if answer.is_none() && name.eq_ignore_ascii_case("permessage-deflate") {
            answer = accept(&parameters);
        }
    }
    answer
}

/// Answers one offer of permessage-deflate, or declines it.
fn accept(parameters: &[(&str, Option<&str>)]) -> Option<Deflate> {
    let mut seen: Vec<&str> = Vec::new();
    let mut accepted = Deflate {
        answer: ANSWER,
        longest: usize::MAX,
    };
    for (name, value) in parameters {
        if seen.contains(name) {
            return None;
        }
        seen.push(name);
        match (*name, *value) {
            (
                "server_no_context_takeover"
                | "client_no_context_takeover"
                | "client_max_window_bits",
                None,
            ) => {}
            ("client_max_window_bits", Some(bits)) if window_bits(bits).is_some() => {}
            ("server_max_window_bits", Some(bits)) => {
                let bits = window_bits(bits)?;
                accepted.answer = ANSWERS[bits - SMALLEST_WINDOW];
                if bits < LARGEST_WINDOW {
                    accepted.longest = 1 << bits;
                }
            }
            _ => return None,
        }
    }
    Some(accepted)
}

/// A number from 8 to 15 without leading zeros (RFC 7692 §7.1.2).
fn window_bits(value: &str) -> Option<usize> {
    let is_canonical = !value.starts_with(['0', '+']);
    let bits = value.parse().ok().filter(|_| is_canonical)?;
    (SMALLEST_WINDOW..=LARGEST_WINDOW)
        .contains(&bits)
        .then_some(bits)
}

/// `token [ "=" ( token | quoted-string ) ]`, of which a quoted value has to be a token without its quotes (RFC 6455
/// §9.1).
fn parameter(part: &str) -> Option<(&str, Option<&str>)> {
    let Some((name, value)) = part.split_once('=') else {
        return is_token(part).then_some((part, None));
    };
    let value = value
        .strip_prefix('"')
        .map_or(Some(value), |rest| rest.strip_suffix('"'))?;
    (is_token(name) && is_token(value)).then_some((name, Some(value)))
}

/// Splits, and trims white space. No quotes need care: a quoted value is a token, which has no separator.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    text.split(separator)
        .map(|part| part.trim_matches([' ', '\t']))
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}
