//! Chunked bodies (RFC 9112 §7.1), byte by byte between the data.

/// Where in the coding a body is.
pub struct Chunked {
    state: State,
}

enum State {
    /// Digits of a size: their value and how many there were.
    Size(u64, u8),
    /// The rest of the line of a size.
    Extension(u64),
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    /// The first byte of a trailer, or of the blank line.
    Trailer,
    TrailerRest,
    TrailerLf,
    LastLf,
}

pub enum Progress {
    /// No bytes are left.
    More,
    /// So many bytes belong to the coding.
    Skip(usize),
    /// So many bytes belong to the body.
    Body(usize),
    /// The body ended with so many bytes.
    End(usize),
    Malformed(&'static str),
}

impl Chunked {
    pub fn new() -> Self {
        Self {
            state: State::Size(0, 0),
        }
    }

    /// Looks at `bytes` up to the next change between coding and data.
    pub fn next(&mut self, bytes: &[u8]) -> Progress {
        if bytes.is_empty() {
            return Progress::More;
        }
        if let State::Data(left) = &mut self.state {
            let taken = bytes
                .len()
                .min(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= taken as u64;
            if *left == 0 {
                self.state = State::DataCr;
            }
            return Progress::Body(taken);
        }
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(self.state, State::LastLf) && *byte == b'\n' {
                return Progress::End(index + 1);
            }
            match self.step(*byte) {
                Ok(State::Data(size)) => {
                    self.state = State::Data(size);
                    return Progress::Skip(index + 1);
                }
                Ok(state) => self.state = state,
                Err(why) => return Progress::Malformed(why),
            }
        }
        Progress::Skip(bytes.len())
    }

    fn step(&self, byte: u8) -> Result<State, &'static str> {
        Ok(match (&self.state, byte) {
            (State::Size(value, digits), _) if byte.is_ascii_hexdigit() => {
                if *digits == 15 {
                    return Err("the size of a chunk has more than 15 digits");
                }
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                State::Size(value * 16 + u64::from(digit), digits + 1)
            }
            (State::Size(_, 0), _) => return Err("a chunk does not begin with its size"),
            (State::Size(value, _) | State::Extension(value), b'\r') => State::SizeLf(*value),
            (State::Size(value, _), b';' | b' ' | b'\t') => State::Extension(*value),
            (State::Extension(value), _) if byte != b'\n' => State::Extension(*value),
            (State::SizeLf(0) | State::TrailerLf, b'\n') => State::Trailer,
            (State::SizeLf(size), b'\n') => State::Data(*size),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size(0, 0),
            (State::Trailer, b'\r') => State::LastLf,
            (State::TrailerRest, b'\r') => State::TrailerLf,
            (State::Trailer | State::TrailerRest, _) if byte != b'\n' => State::TrailerRest,
            (State::DataCr | State::DataLf, _) => return Err("a chunk is longer than its size"),
            _ => return Err("a line of the chunked coding is broken"),
        })
    }
}
