//! What one environment (the main thread or a worker) owns.

use std::cell::Cell;
use std::rc::Rc;

use engine::Engine;
use napi_sys::{napi_async_cleanup_hook_handle, napi_async_context, napi_env, napi_ref};

use crate::uv::Handles;

/// Lives from `open` until the last handle reported its close in the clean-up hook.
///
/// # Invariants
/// libuv's callbacks and the exported functions share one binding as a `*mut Binding`. Each use of the pointer is sound
/// because:
/// - **It is live.** `open` leaks the box, and only the close callback of the last handle frees it. libuv calls nothing
///   back after that, and Node.js runs no JavaScript, so no exported function either, once its clean-up hooks have begun.
/// - **One thread uses it.** Handles, environment and exported functions belong to one event loop.
/// - **No two borrows overlap.** A reference made from the pointer ends with its statement, or before JavaScript can
///   run. Only `napi_call_function`, the end of a callback scope and `napi_fatal_exception` run JavaScript, and it may
///   come back through an exported function, which borrows the binding anew. Reading values and typed arrays, making
///   Buffers and setting elements of our own lists run none.
pub struct Binding {
    pub env: napi_env,
    pub engine: Engine,
    pub handles: Option<Handles>,
    /// JavaScript's function that answers a slice.
    pub on_slice: napi_ref,
    /// JavaScript's lists: bodies handed over by reference, request bodies too large for the arena, and
    /// chunks of records that did not fit.
    pub references: napi_ref,
    pub bodies: napi_ref,
    pub overflow: napi_ref,
    pub async_context: napi_async_context,
    pub async_resource: napi_ref,
    /// Moving average of JavaScript's nanoseconds per descriptor.
    pub pace: f64,
    /// Set by the clean-up hook: JavaScript must not be entered any more, nor its values looked at.
    pub ending: Rc<Cell<bool>>,
    pub open_handles: usize,
    pub cleanup: napi_async_cleanup_hook_handle,
}
