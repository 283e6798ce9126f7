//! Decodes the chunked transfer coding (RFC 9112 §7.1) of bodies that arrive in any pieces.

use crate::field::{is_token_byte, is_value_byte};
use crate::framing::MAX_LENGTH;
use crate::{Limits, Refusal, trailers};
use std::ops::Range;

/// The state of a chunked body between two reads. It has 56 bytes and allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    state: State,
    /// How many hex digits of the size were read.
    digits: u8,
    name_len: u8,
    /// The name of the current trailer in lower case, as far as a forbidden one could reach.
    name: [u8; LONGEST_REFUSED],
    trailers: u16,
    /// The size while it is read, then the number of bytes of the chunk that are left.
    size: u64,
    total: u64,
    extension: u32,
    extensions: u32,
    trailer_size: u32,
}

/// The result of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// How many bytes of the input were used: more than 0 unless the input is empty or the body is complete.
    pub consumed: usize,
    /// Where in the input data of the body lies, if there is any. It is never empty.
    pub data: Option<Range<usize>>,
    /// The range of the input that belongs to the trailer section, never empty; `None` if there is none.
    /// [`trailers::fields`](crate::trailers::fields) reads all ranges together.
    pub trailers: Option<Range<usize>>,
    /// The body is complete. The bytes behind `consumed` belong to the next request.
    pub done: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Size,
    SizeLf,
    /// After `;`.
    ExtensionName,
    ExtensionNameRest,
    /// After `=`.
    ExtensionValue,
    ExtensionToken,
    ExtensionQuoted,
    ExtensionQuotedPair,
    ExtensionEnd,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    FinalLf,
    Done,
}

impl Decoder {
    /// Reads `input` to its end, to the end of the body or to the end of one run of data, whichever comes first.
    ///
    /// It is strict on purpose: it takes CRLF only, no empty extension, and no white space after a size or inside
    /// extensions. (RFC 9112 §7.1.1 asks recipients to take that white space, llhttp refuses it, and a server that
    /// differs from the proxy in front of it can be smuggled to.) Trailers are checked as fields are, and bounded.
    pub fn step(&mut self, input: &[u8], limits: &Limits) -> Result<Step, Refusal> {
        let mut at = 0;
        let mut trailers = self.in_trailers().then_some(0);
        while at < input.len() && self.state != State::Done {
            if self.state == State::Data {
                let take = self.size.min((input.len() - at) as u64);
                self.size -= take;
                if self.size == 0 {
                    self.state = State::DataCr;
                }
                let end = at + take as usize;
                return Ok(Step {
                    consumed: end,
                    data: Some(at..end),
                    trailers: None,
                    done: false,
                });
            }
            self.byte(input[at], limits)?;
            at += 1;
            if trailers.is_none() && self.in_trailers() {
                trailers = Some(at);
            }
        }
        Ok(Step {
            consumed: at,
            data: None,
            trailers: trailers
                .map(|start| start..at)
                .filter(|range| !range.is_empty()),
            done: self.state == State::Done,
        })
    }

    fn in_trailers(&self) -> bool {
        matches!(
            self.state,
            State::TrailerStart
                | State::TrailerName
                | State::TrailerValue
                | State::TrailerLf
                | State::FinalLf
        )
    }

    /// Whether the body is complete.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The sum of the chunk sizes announced so far, in bytes.
    pub fn announced(&self) -> u64 {
        self.total
    }

    fn byte(&mut self, byte: u8, limits: &Limits) -> Result<(), Refusal> {
        self.state = match (self.state, byte) {
            (State::Size, b'\r') if self.digits > 0 => State::SizeLf,
            (State::Size, b';') if self.digits > 0 => self.extend(State::ExtensionName, limits)?,
            (State::Size, _) => self.size_digit(byte)?,
            (State::SizeLf, b'\n') => self.size_end()?,

            (State::ExtensionNameRest | State::ExtensionToken | State::ExtensionEnd, b'\r') => {
                State::SizeLf
            }
            (State::ExtensionNameRest | State::ExtensionToken | State::ExtensionEnd, b';') => {
                self.extend(State::ExtensionName, limits)?
            }
            (State::ExtensionNameRest, b'=') => self.extend(State::ExtensionValue, limits)?,
            (State::ExtensionName | State::ExtensionNameRest, _) if is_token_byte(byte) => {
                self.extend(State::ExtensionNameRest, limits)?
            }
            (State::ExtensionValue, b'"') => self.extend(State::ExtensionQuoted, limits)?,
            (State::ExtensionValue | State::ExtensionToken, _) if is_token_byte(byte) => {
                self.extend(State::ExtensionToken, limits)?
            }
            (State::ExtensionQuoted, b'"') => self.extend(State::ExtensionEnd, limits)?,
            (State::ExtensionQuoted, b'\\') => self.extend(State::ExtensionQuotedPair, limits)?,
            (State::ExtensionQuoted | State::ExtensionQuotedPair, _) if is_value_byte(byte) => {
                self.extend(State::ExtensionQuoted, limits)?
            }

            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => {
                self.size = 0;
                self.digits = 0;
                self.extension = 0;
                State::Size
            }

            (State::TrailerStart, b'\r') => State::FinalLf,
            (State::TrailerStart, b' ' | b'\t') => return Err(Refusal::FieldFold),
            (State::TrailerStart, _) if is_token_byte(byte) => self.trailer_start(byte, limits)?,
            (State::TrailerName, b':') => self.trailer_name_end(limits)?,
            (State::TrailerName, b' ' | b'\t') => return Err(Refusal::FieldSpace),
            (State::TrailerName, _) if is_token_byte(byte) => self.trailer_name(byte, limits)?,
            (State::TrailerValue, b'\r') => self.trailer(State::TrailerLf, limits)?,
            (State::TrailerValue, _) if is_value_byte(byte) => {
                self.trailer(State::TrailerValue, limits)?
            }
            (State::TrailerLf, b'\n') => self.trailer(State::TrailerStart, limits)?,
            (State::FinalLf, b'\n') => State::Done,

            (state, byte) => return Err(misplaced(state, byte)),
        };
        Ok(())
    }

    fn size_digit(&mut self, byte: u8) -> Result<State, Refusal> {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(misplaced(State::Size, byte));
        };
        // 16 digits fill a u64. More digits are either leading zeros or an overflow.
        if self.digits == 16 {
            return Err(Refusal::ChunkSize);
        }
        self.digits += 1;
        self.size = self.size << 4 | u64::from(digit);
        Ok(State::Size)
    }

    fn size_end(&mut self) -> Result<State, Refusal> {
        self.total = match self.total.checked_add(self.size) {
            Some(total) if total <= MAX_LENGTH => total,
            _ => return Err(Refusal::ChunkOverflow),
        };
        Ok(if self.size == 0 {
            State::TrailerStart
        } else {
            State::Data
        })
    }

    fn extend(&mut self, next: State, limits: &Limits) -> Result<State, Refusal> {
        self.extension += 1;
        self.extensions += 1;
        let fits = self.extension <= limits.max_chunk_extensions
            && self.extensions <= limits.max_chunk_extensions_total;
        if fits {
            Ok(next)
        } else {
            Err(Refusal::ChunkExtensionSize)
        }
    }

    fn trailer_start(&mut self, byte: u8, limits: &Limits) -> Result<State, Refusal> {
        if self.trailers >= limits.max_trailers {
            return Err(Refusal::TooManyTrailers);
        }
        self.trailers += 1;
        self.name_len = 0;
        self.trailer_name(byte, limits)
    }

    fn trailer_name(&mut self, byte: u8, limits: &Limits) -> Result<State, Refusal> {
        if let Some(slot) = self.name.get_mut(self.name_len as usize) {
            *slot = byte.to_ascii_lowercase();
        }
        self.name_len = self.name_len.saturating_add(1);
        self.trailer(State::TrailerName, limits)
    }

    fn trailer_name_end(&mut self, limits: &Limits) -> Result<State, Refusal> {
        if self
            .name
            .get(..self.name_len as usize)
            .is_some_and(|name| trailers::REFUSED.contains(&name))
        {
            return Err(Refusal::TrailerForbidden);
        }
        self.trailer(State::TrailerValue, limits)
    }

    fn trailer(&mut self, next: State, limits: &Limits) -> Result<State, Refusal> {
        self.trailer_size += 1;
        if self.trailer_size <= limits.max_trailer_size {
            Ok(next)
        } else {
            Err(Refusal::TrailerTooLarge)
        }
    }
}

#[cold]
fn misplaced(state: State, byte: u8) -> Refusal {
    match (state, byte) {
        (State::DataCr | State::DataLf, _) => Refusal::ChunkEnd,
        (State::SizeLf | State::TrailerLf | State::FinalLf, _) => Refusal::BareCr,
        (_, b'\n') => Refusal::BareLf,
        (State::Size, _) => Refusal::ChunkSize,
        (State::TrailerName, b'\r') => Refusal::FieldColon,
        (State::TrailerStart | State::TrailerName, _) => Refusal::FieldName,
        (State::TrailerValue, _) => Refusal::FieldValue,
        _ => Refusal::ChunkExtension,
    }
}

const LONGEST_REFUSED: usize = "transfer-encoding".len();

#[cfg(test)]
mod tests {
    use super::{Decoder, LONGEST_REFUSED};
    use crate::trailers::REFUSED;

    #[test]
    fn stays_small() {
        assert_eq!(size_of::<Decoder>(), 56);
    }

    #[test]
    fn refused_names_fit_and_are_lower_case() {
        for name in REFUSED {
            assert!(name.len() <= LONGEST_REFUSED && name.to_ascii_lowercase() == name);
        }
    }
}
