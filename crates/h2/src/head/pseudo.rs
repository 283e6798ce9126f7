use wire::{Limits, Refusal};

use super::Fault;

/// The pseudo-header fields of a request (RFC 9113 §8.3.1, RFC 8441 §4), which come before the others and each at most
/// once.
#[derive(Clone, Debug, Default)]
pub(super) struct Pseudo {
    pub method: Value,
    pub scheme: Value,
    pub authority: Value,
    pub path: Value,
    pub protocol: Value,
}

/// The value of a pseudo-header field. Its memory is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Value {
    bytes: Vec<u8>,
    is_present: bool,
}

impl Value {
    #[inline]
    pub fn get(&self) -> Option<&[u8]> {
        self.is_present.then_some(&self.bytes)
    }

    #[inline]
    fn set(&mut self, value: &[u8]) -> Result<(), Fault> {
        if self.is_present {
            return Err(Fault::Malformed);
        }
        self.is_present = true;
        self.bytes.clear();
        self.bytes.extend_from_slice(value);
        Ok(())
    }
}

impl Pseudo {
    pub fn clear(&mut self) {
        for value in [
            &mut self.method,
            &mut self.scheme,
            &mut self.authority,
            &mut self.path,
            &mut self.protocol,
        ] {
            value.is_present = false;
        }
    }

    /// Keeps a value, unless it is too long. `index` is the index of the name in the static table, or 0.
    #[inline]
    pub fn set(
        &mut self,
        name: &[u8],
        index: u8,
        value: &[u8],
        limits: &Limits,
    ) -> Result<(), Fault> {
        if !wire::is_trimmed_value(value) {
            return Err(Fault::Malformed);
        }
        let longest = limits.max_header_line.min(limits.max_header_size) as usize;
        let (place, longest, too_long) = match (index, name) {
            (2, _) => (&mut self.method, longest, Refusal::FieldLineTooLong),
            (4, _) => (
                &mut self.path,
                limits.max_url_length as usize,
                Refusal::TargetTooLong,
            ),
            (6, _) => (&mut self.scheme, longest, Refusal::FieldLineTooLong),
            (1, _) => (&mut self.authority, longest, Refusal::FieldLineTooLong),
            (_, b":protocol") => (&mut self.protocol, longest, Refusal::FieldLineTooLong),
            _ => return Err(Fault::Malformed),
        };
        if value.len() > longest {
            return Err(too_long.into());
        }
        place.set(value)
    }
}
