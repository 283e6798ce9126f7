use wire::{Limits, trailers};

use super::{Fault, RequestHead, check};
use crate::hpack;

/// Collects trailer fields (RFC 9113 §8.1), with the rules of HTTP/1.1.
pub(crate) struct Trailers<'a> {
    out: &'a mut RequestHead,
    limits: &'a Limits,
    /// The sum of the sizes of all fields that were read, also of those that are left out: a block may stand for four
    /// thousand times its bytes.
    size: usize,
    fields: usize,
    fault: Option<TrailerFault>,
}

/// An error in trailer fields. The handler has the request by then, so the stream is reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TrailerFault {
    Malformed,
    /// Their number or their size is above the limit.
    TooLarge,
}

impl<'a> Trailers<'a> {
    pub fn new(out: &'a mut RequestHead, limits: &'a Limits) -> Self {
        out.text.clear();
        out.head.fields.clear();
        out.head.known = 0;
        Self {
            out,
            limits,
            size: 0,
            fields: 0,
            fault: None,
        }
    }

    pub fn field(&mut self, field: hpack::Field<'_>) {
        if self.fault.is_none() {
            self.fault = self.accept(field).err();
        }
    }

    pub fn finish(self) -> Result<(), TrailerFault> {
        self.fault.map_or(Ok(()), Err)
    }

    fn accept(&mut self, field: hpack::Field<'_>) -> Result<(), TrailerFault> {
        let (name, value) = (field.name, field.value);
        self.size += name.len() + value.len() + 4;
        self.fields += 1;
        if self.size > self.limits.max_trailer_size as usize
            || self.fields > usize::from(self.limits.max_trailers)
        {
            return Err(TrailerFault::TooLarge);
        }
        // The static table has names of pseudo-header fields, which are not tokens.
        if name.first() == Some(&b':') || trailers::is_refused(name) {
            return Err(TrailerFault::Malformed);
        }
        let known = match check(name, field.name_index, value) {
            Ok(known) => known,
            Err(Fault::Malformed | Fault::Refused(_)) => return Err(TrailerFault::Malformed),
        };
        if !trailers::allowed(name) {
            return Ok(());
        }
        let field = self.out.line(name, value, known);
        self.out.head.known |= known.bit();
        self.out.head.fields.push(field);
        Ok(())
    }
}
