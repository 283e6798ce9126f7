//! The addon: the only crate that knows Node.js. It watches the engine's poller through one `uv_poll_t`, enters
//! JavaScript once per slice, and exports the few functions that `packages/engine` calls outside the path of a request.
//!
//! Rules that every function here keeps:
//! - The invariants of [`binding::Binding`] hold. Above all, no borrow of it lives across a call into JavaScript, which
//!   may come back through an exported function (`close` from a handler, say).
//! - Every `extern "C"` entry catches panics: unwinding out of one aborts the process.
//! - The image is pinned, and all handles are closed in a clean-up hook, before the thread's loop ends.

mod binding;
mod config;
mod counting;
mod exports;
mod pin;
mod retained;
mod sealing;
mod supervisor;
mod tls_settings;
mod turn;
mod uv;
mod value;

use napi_sys::{napi_env, napi_value};

/// N-API 8: asynchronous clean-up hooks.
#[unsafe(no_mangle)]
pub extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    8
}

/// # Safety
/// Called by Node when the addon is loaded into an environment, with a live `env` and handle scope.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(env: napi_env, target: napi_value) -> napi_value {
    pin::pin_image();
    exports::guarded(env, || {
        exports::define(env, target)?;
        Ok(target)
    })
}
