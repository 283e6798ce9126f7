use crate::head::request_line;
use crate::semantics::Semantics;
use crate::{Field, Framing, Head, Known, Limits, Refusal, Span, Version};

/// Fills a [`Head`] from parts that were not parsed from lines (HTTP/2), with the same rules. The parts are in a text
/// in the form that [`parse_head`](crate::parse_head) reads. The caller must check the syntax of names and values.
#[derive(Default)]
pub struct Parts {
    semantics: Semantics,
}

impl Parts {
    /// Clears `head` and reads the request line: method and target, as spans of `text`. The method is at its start.
    /// After a refusal `head` is unspecified.
    pub fn begin(
        text: &[u8],
        method: Span,
        target: Span,
        limits: &Limits,
        head: &mut Head,
    ) -> Result<Self, Refusal> {
        head.clear();
        head.version = Version::Http2;
        request_line(text, method.of(text), target.of(text), limits, head)?;
        Ok(Self::default())
    }

    /// Reads a field of `text`.
    #[inline]
    pub fn field(&mut self, text: &[u8], field: Field, head: &mut Head) -> Result<(), Refusal> {
        let Field { value, known, .. } = field;
        if known != Known::Other {
            self.semantics.read(known, value.of(text), value, head)?;
        }
        head.known |= known.bit();
        head.fields.push(field);
        Ok(())
    }

    /// Decides what depends on the whole head. `has_body`: a body follows, for any Content-Length.
    #[inline]
    pub fn settle(self, text: &[u8], has_body: bool, head: &mut Head) -> Result<(), Refusal> {
        self.semantics.settle(text, head)?;
        head.expect_continue = self.semantics.expects() && has_body;
        // A refused stream does not end its connection.
        head.keep_alive = true;
        head.len = text.len() as u32;
        debug_assert!(head.framing != Framing::Chunked);
        Ok(())
    }
}
