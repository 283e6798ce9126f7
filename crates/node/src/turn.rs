//! The event loop's callbacks: when sockets are read, when JavaScript is entered, when replies are sent.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use engine::{NoReferences, References, Retained, Turn};
use napi_sys::{Status, napi_env, napi_value};
use reactor::clock::monotonic_ns;

use crate::binding::Binding;
use crate::retained::RetainedView;
use crate::uv::{Handle, data_of};
use crate::value::{call, clear_list, element, integer, typed_array, undefined, with_scope};

/// A turn ends after this time even when more is ready, so that timers and other sockets get theirs.
const TURN_NS: u64 = 2_000_000;
/// A slice is as large as JavaScript can answer in about this time.
const SLICE_NS: f64 = 300_000.0;
/// JavaScript that took longer than this may have made the turn's clock wrong by as much.
const CLOCK_NS: f64 = 5_000_000.0;
/// Turns before a sweep: after a blocked loop they read what clients sent meanwhile, 2 ms each.
const TURNS_BEFORE_SWEEP: usize = 16;
/// Weight of the newest slice in the moving average.
const PACE_WEIGHT: f64 = 0.2;

/// Catches a panic that was not caught for one connection inside the engine: unwinding out of a callback would abort
/// the process. The turn is lost.
fn shielded(step: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(step));
}

pub unsafe extern "C" fn on_poll(handle: Handle, _status: i32, _events: i32) {
    // SAFETY: libuv calls back with our open handle.
    let binding = unsafe { data_of::<Binding>(handle) };
    shielded(|| turn(binding));
}

/// Is called only while work is left over from an earlier turn.
pub unsafe extern "C" fn on_idle(handle: Handle) {
    // SAFETY: libuv calls back with our open handle.
    let binding = unsafe { data_of::<Binding>(handle) };
    shielded(|| turn(binding));
}

/// Sends the replies that came from promises, timers and other callbacks since the last flush. The check handle and the
/// prepare handle call it.
pub unsafe extern "C" fn on_flush(handle: Handle) {
    // SAFETY: libuv calls back with our open handle.
    let binding = unsafe { data_of::<Binding>(handle) };
    shielded(|| flush(binding));
}

pub unsafe extern "C" fn on_timer(handle: Handle) {
    // SAFETY: libuv calls back with our open handle.
    let binding = unsafe { data_of::<Binding>(handle) };
    shielded(|| {
        // libuv runs timers before sockets, also when JavaScript blocked both. What has arrived is read before its
        // sender is found idle or slow, and what was answered is sent before its handler is found slow.
        flush(binding);
        for _ in 0..TURNS_BEFORE_SWEEP {
            turn(binding);
            // SAFETY: the invariants of `Binding`.
            if !unsafe { (*binding).engine.has_work() } {
                break;
            }
        }
        // SAFETY: the invariants of `Binding`.
        unsafe { (*binding).engine.sweep() };
        flush(binding);
        settle(binding);
    });
}

fn turn(binding: *mut Binding) {
    let started = monotonic_ns();
    // SAFETY: the invariants of `Binding`.
    unsafe { (*binding).engine.begin_turn() };
    loop {
        // SAFETY: the invariants of `Binding`.
        let slice = unsafe { (*binding).engine.collect() };
        if slice.count == 0 {
            break;
        }
        enter(binding, slice);
        apply(binding);
        if monotonic_ns() - started > TURN_NS {
            break;
        }
    }
    settle(binding);
}

/// Applies late replies and delivers what they caused (a drain, an abort).
pub fn flush(binding: *mut Binding) {
    // SAFETY: the invariants of `Binding`.
    if !unsafe { (*binding).engine.has_records() || (*binding).engine.has_notices() } {
        return;
    }
    // SAFETY: the invariants of `Binding`.
    unsafe { (*binding).engine.read_clock() };
    apply(binding);
    // A drain may lead to more data and that to another drain: the rest waits for the idle handle.
    for _ in 0..16 {
        // SAFETY: the invariants of `Binding`.
        let slice = unsafe { (*binding).engine.collect_notices() };
        if slice.count == 0 {
            break;
        }
        enter(binding, slice);
        apply(binding);
    }
    settle(binding);
}

/// Enters JavaScript once, inside one callback scope: `nextTick` callbacks and microtasks run when it closes.
fn enter(binding: *mut Binding, slice: Turn) {
    // SAFETY: the invariants of `Binding`.
    let (env, ending) = unsafe { ((*binding).env, (*binding).ending.get()) };
    if ending {
        return;
    }
    let started = monotonic_ns();
    with_scope(env, || {
        deliver_bodies(binding, env);
        let arguments = [
            integer(env, slice.count as i32).ok()?,
            integer(env, slice.page.0 as i32).ok()?,
        ];
        // SAFETY: the invariants of `Binding`; the references live as long as it does.
        let (on_slice, resource, context) = unsafe {
            (
                (*binding).on_slice,
                (*binding).async_resource,
                (*binding).async_context,
            )
        };
        let function = call!(napi_get_reference_value(env, on_slice)).ok()?;
        let resource = call!(napi_get_reference_value(env, resource)).ok()?;
        let receiver = undefined(env).ok()?;
        let scope = call!(napi_open_callback_scope(env, resource, context)).ok()?;
        let mut result = ptr::null_mut();
        // SAFETY: live values of this scope. No borrow of the binding is held.
        let status = unsafe {
            napi_sys::napi_call_function(
                env,
                receiver,
                function,
                arguments.len(),
                arguments.as_ptr(),
                &raw mut result,
            )
        };
        if status != Status::napi_ok {
            report_exception(env);
        }
        // SAFETY: the scope opened above, closed once.
        unsafe { napi_sys::napi_close_callback_scope(env, scope) };
        Some(())
    });
    let whole = (monotonic_ns() - started) as f64;
    let spent = whole / slice.count as f64;
    // SAFETY: the invariants of `Binding`; JavaScript has returned.
    unsafe {
        if whole > CLOCK_NS {
            (*binding).engine.read_clock();
        }
        (*binding).pace += (spent - (*binding).pace) * PACE_WEIGHT;
        let target = SLICE_NS / (*binding).pace.max(1.0);
        (*binding).engine.set_slice_target(target as usize);
    }
}

/// The dispatcher catches what handlers throw. An exception here is uncaught, as from any other callback.
fn report_exception(env: napi_env) {
    let mut exception = ptr::null_mut();
    // SAFETY: a live env; the exception is a value of the open scope.
    unsafe {
        if napi_sys::napi_get_and_clear_last_exception(env, &raw mut exception) == Status::napi_ok
            && !exception.is_null()
        {
            napi_sys::napi_fatal_exception(env, exception);
        }
    }
}

/// Request bodies too large for the arena become Buffers of their own.
fn deliver_bodies(binding: *mut Binding, env: napi_env) -> Option<()> {
    // SAFETY: the invariants of `Binding`; making a Buffer may collect garbage but runs no JavaScript of ours.
    let bodies = unsafe { (*binding).engine.bodies() };
    if bodies.is_empty() {
        return Some(());
    }
    // SAFETY: the invariants of `Binding`.
    let list = unsafe { (*binding).bodies };
    let list = call!(napi_get_reference_value(env, list)).ok()?;
    for (index, body) in bodies.iter().enumerate() {
        let mut copy = ptr::null_mut();
        let mut buffer = ptr::null_mut();
        // SAFETY: copies `body.len()` bytes into memory Node allocates.
        unsafe {
            napi_sys::napi_create_buffer_copy(
                env,
                body.len(),
                body.as_ptr().cast(),
                &raw mut copy,
                &raw mut buffer,
            );
            napi_sys::napi_set_element(env, list, index as u32, buffer);
        }
    }
    Some(())
}

/// Bodies handed over by reference, read when their record is applied.
struct JsReferences {
    env: napi_env,
    list: napi_value,
    ending: Rc<Cell<bool>>,
}

impl References for JsReferences {
    fn bytes(&self, index: u32) -> Option<&[u8]> {
        let value = element(self.env, self.list, index).ok()?;
        let (address, length, _) = typed_array(self.env, value).ok()?;
        if length == 0 {
            return Some(&[]);
        }
        // SAFETY: the typed array's memory; it is held by the list, and JavaScript does not run until `apply`
        // has sent or copied it. A detached buffer has length 0.
        Some(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) })
    }

    fn retain(&self, index: u32) -> Option<Box<dyn Retained>> {
        let value = element(self.env, self.list, index).ok()?;
        Some(Box::new(RetainedView::new(self.env, value, &self.ending)?))
    }
}

/// Sends what JavaScript wrote.
fn apply(binding: *mut Binding) {
    // SAFETY: the invariants of `Binding`.
    let (env, overflow, by_reference) = unsafe {
        (
            (*binding).env,
            (*binding).engine.overflow(),
            (*binding).engine.has_references(),
        )
    };
    if overflow == 0 && !by_reference {
        // SAFETY: the invariants of `Binding`.
        unsafe { (*binding).engine.apply(&NoReferences) };
        return;
    }
    with_scope(env, || {
        // SAFETY: the invariants of `Binding`.
        let (references, overflow_list, ending) = unsafe {
            (
                (*binding).references,
                (*binding).overflow,
                (*binding).ending.clone(),
            )
        };
        let list = call!(napi_get_reference_value(env, references)).ok()?;
        let references = JsReferences { env, list, ending };
        if overflow > 0 {
            let chunks = call!(napi_get_reference_value(env, overflow_list)).ok()?;
            for index in 0..overflow as u32 {
                let records = typed_array(env, element(env, chunks, index * 2).ok()?).ok()?;
                let out = typed_array(env, element(env, chunks, index * 2 + 1).ok()?).ok()?;
                // SAFETY: two typed arrays held by the list: an Int32Array and the bytes its records point into;
                // JavaScript does not run while they are read.
                unsafe {
                    let records =
                        std::slice::from_raw_parts(records.0.cast::<i32>(), records.1 / 4);
                    let out = if out.1 == 0 {
                        &[]
                    } else {
                        std::slice::from_raw_parts(out.0.cast::<u8>(), out.1)
                    };
                    (*binding).engine.apply_chunk(records, out, &references);
                }
            }
            clear_list(env, chunks).ok()?;
            // SAFETY: the invariants of `Binding`.
            unsafe { (*binding).engine.clear_overflow() };
        }
        // SAFETY: the invariants of `Binding`; `References` only reads typed arrays, which runs no JavaScript.
        unsafe { (*binding).engine.apply(&references) };
        clear_list(env, list).ok()
    });
}

/// What the event loop must do until the next turn.
pub fn settle(binding: *mut Binding) {
    // SAFETY: the invariants of `Binding`.
    let binding = unsafe { &mut *binding };
    if binding.ending.get() {
        return;
    }
    let Some(handles) = &mut binding.handles else {
        return;
    };
    let interval = if binding.engine.needs_sweep() {
        binding.engine.sweep_interval()
    } else {
        0
    };
    binding.engine.report_connections();
    handles.set_idling(binding.engine.has_work(), on_idle);
    handles.set_timer(interval, on_timer);
    handles.set_referenced(binding.engine.keeps_alive());
}
