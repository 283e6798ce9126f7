use crate::head::request_line;
use crate::semantics::Semantics;
use crate::{Field, Framing, Head, Known, Limits, Refusal, Span, Version};

/// Fills a [`Head`] from parts that were not parsed from lines (HTTP/2), by the same rules. The parts stand in a text as
/// [`parse_head`](crate::parse_head) would read it. Syntax of names and values is the caller's to check.
#[derive(Default)]
pub struct Parts {
    semantics: Semantics,
}

impl Parts {
    /// Clears `head` and reads the request line: method and target, where they stand in `text`; the method at its start.
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

    /// Decides what depends on the whole head. `has_body`: a body follows, whatever Content-Length says.
    #[inline]
    pub fn settle(self, text: &[u8], has_body: bool, head: &mut Head) -> Result<(), Refusal> {
        self.semantics.settle(text, head)?;
        head.expect_continue = self.semantics.expects() && has_body;
        // Other streams go on whatever comes on this one.
        head.keep_alive = true;
        head.len = text.len() as u32;
        debug_assert!(head.framing != Framing::Chunked);
        Ok(())
    }
}
