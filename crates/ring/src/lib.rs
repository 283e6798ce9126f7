//! The memory shared with JavaScript: request descriptors, heads and small bodies on the way in,
//! reply records and their bytes on the way out.
//!
//! JavaScript allocates one `ArrayBuffer` and hands its address over once. Both sides run on the same
//! thread and never at the same time: JavaScript touches the memory only while the engine waits inside
//! the call that entered it, and the engine holds no reference into it across that call. The layout has
//! one definition, `layout.json`, from which both sides' constants are generated.

#[rustfmt::skip]
#[path = "generated/layout.rs"]
pub mod layout;
mod memory;
mod record;

pub use memory::{Memory, Page, PageParts};
pub use record::{HeaderBlock, Record};
