//! Bodies of replies that stay in JavaScript's memory until they are sent.

use std::cell::Cell;
use std::ffi::c_void;
use std::rc::Rc;

use engine::Retained;
use napi_sys::{napi_env, napi_ref, napi_value};

use crate::value::{call, typed_array, with_scope};

/// A view of bytes that a strong reference keeps alive. The user may still transfer, shrink or grow the memory behind
/// it; its bytes are then not what was handed over, and are not given any more.
pub struct RetainedView {
    env: napi_env,
    reference: napi_ref,
    address: *mut c_void,
    length: usize,
    /// Set when the environment ends: its values are then out of reach, and its references go with it.
    ending: Rc<Cell<bool>>,
}

impl RetainedView {
    /// `value` is a typed array of the open handle scope.
    pub fn new(env: napi_env, value: napi_value, ending: &Rc<Cell<bool>>) -> Option<Self> {
        let (address, length, _) = typed_array(env, value).ok()?;
        let reference = call!(napi_create_reference(env, value, 1)).ok()?;
        Some(Self {
            env,
            reference,
            address,
            length,
            ending: ending.clone(),
        })
    }
}

impl Retained for RetainedView {
    fn bytes(&self) -> Option<&[u8]> {
        let Self { env, reference, .. } = *self;
        if self.ending.get() {
            return None;
        }
        let (address, length, _) = with_scope(env, || {
            let view = call!(napi_get_reference_value(env, reference)).ok()?;
            typed_array(env, view).ok()
        })?;
        if length == 0 || address != self.address || length != self.length {
            return None;
        }
        // SAFETY: the memory of a live typed array, as it is now. It is used before JavaScript runs again, as the
        // trait says, so nobody moves or frees it meanwhile.
        Some(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) })
    }
}

impl Drop for RetainedView {
    fn drop(&mut self) {
        if !self.ending.get() {
            // SAFETY: made by `new`, deleted once, on the thread of its environment, which still lives.
            unsafe { napi_sys::napi_delete_reference(self.env, self.reference) };
        }
    }
}
