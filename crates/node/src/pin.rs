//! Keeps this image mapped for the life of the process: a worker that ends would otherwise unload it under
//! close callbacks that are still due.

use std::ffi::c_void;
use std::sync::Once;

static PINNED: Once = Once::new();

pub fn pin_image() {
    PINNED.call_once(|| {
        // SAFETY: `info` is written by dladdr before it is read; `pin_image` is an address in this image, and
        // dli_fname is the NUL-terminated path it was loaded from. RTLD_NODELETE keeps the image for good, so
        // the handle is never closed.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            let address = pin_image as *const c_void;
            if libc::dladdr(address, &raw mut info) != 0 && !info.dli_fname.is_null() {
                libc::dlopen(info.dli_fname, libc::RTLD_NOW | libc::RTLD_NODELETE);
            }
        }
    });
}
