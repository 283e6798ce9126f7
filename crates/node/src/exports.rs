//! The functions that `packages/engine` calls. None of them is on the path of a request.

use std::ffi::c_void;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use engine::Engine;
use napi_sys::{
    napi_async_cleanup_hook_handle, napi_callback_info, napi_env, napi_ref, napi_value,
};
use reactor::net::{ListenAddr, adopt_socket};
use ring::Memory;
use ring::layout::{LAYOUT_HASH, TOTAL_BYTES};

use crate::binding::Binding;
use crate::config;
use crate::counting;
use crate::sealing::sealer;
use crate::supervisor;
use crate::tls_settings::{set_tls, tls_info};
use crate::turn::{flush, on_flush, on_poll, on_timer, settle};
use crate::uv::{Callbacks, Handle, Handles, Uv, data_of};
use crate::value::{
    self, Export, Failure, Result, call, check, integer, number, set_functions, set_property,
    string, throw, to_bool, to_number, to_option, to_string, undefined,
};

/// The furthest that one call moves the clock, in ms: about 30 years, so that no sum overflows.
const FURTHEST_CLOCK: f64 = 1e12;

/// Turns a failure or a panic into a JavaScript exception.
pub fn guarded(env: napi_env, step: impl FnOnce() -> Result<napi_value>) -> napi_value {
    let result = catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| {
        Err(Failure::new(
            "E_INTERNAL",
            "the engine panicked; see stderr",
        ))
    });
    match result {
        Ok(value) => value,
        Err(failure) => {
            throw(env, &failure);
            ptr::null_mut()
        }
    }
}

pub fn define(env: napi_env, target: napi_value) -> Result<()> {
    set_property(env, target, "layoutHash", integer(env, LAYOUT_HASH as i32)?)?;
    let exports: [(&str, Export); 2] = [("open", open), ("sealer", sealer)];
    set_functions(env, target, &exports, ptr::null_mut())?;
    counting::define(env, target)?;
    supervisor::define(env, target)
}

/// Reads the arguments of a call, and the binding it was made for.
pub fn arguments<const N: usize>(
    env: napi_env,
    info: napi_callback_info,
) -> Result<([napi_value; N], *mut Binding)> {
    value::arguments(env, info).map(|(values, data)| (values, data.cast()))
}

/// `open(memory, onSlice, references, bodies, overflow, resource)`: starts the engine of this environment
/// and gives the functions that drive it.
unsafe extern "C" fn open(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([memory, on_slice, references, bodies, overflow, resource], _) =
            arguments::<6>(env, info)?;
        let mut address = ptr::null_mut();
        let mut length = 0;
        // SAFETY: valid out pointers.
        check(unsafe {
            napi_sys::napi_get_arraybuffer_info(env, memory, &raw mut address, &raw mut length)
        })?;
        let address = NonNull::new(address.cast::<i32>())
            .filter(|address| length == TOTAL_BYTES && address.is_aligned())
            .ok_or_else(|| Failure::new("E_INTERNAL", "the shared memory has the wrong size"))?;
        // SAFETY: TOTAL_BYTES zero-filled bytes that JavaScript allocated, never transfers, and that the
        // reference below keeps until the environment ends. Both sides run on this thread, one at a time.
        let shared = unsafe { Memory::from_raw(address) };
        let engine = Engine::new(shared)
            .map_err(|error| Failure::new("E_ENGINE", format!("no poller: {error}")))?;
        let uv = Uv::load().map_err(|reason| Failure::new("E_ENGINE", reason))?;
        let event_loop = call!(napi_get_uv_event_loop(env))?.cast::<c_void>();
        if event_loop.is_null() {
            return Err(Failure::new("E_ENGINE", "this runtime has no libuv loop"));
        }
        let name = string(env, "VOLANT")?;
        let async_context = call!(napi_async_init(env, resource, name))?;
        // Never deleted: it holds the shared memory until the environment ends.
        let _: napi_ref = call!(napi_create_reference(env, memory, 1))?;
        let fd = engine.fd();
        let binding = Box::into_raw(Box::new(Binding {
            env,
            engine,
            handles: None,
            on_slice: call!(napi_create_reference(env, on_slice, 1))?,
            references: call!(napi_create_reference(env, references, 1))?,
            bodies: call!(napi_create_reference(env, bodies, 1))?,
            overflow: call!(napi_create_reference(env, overflow, 1))?,
            async_context,
            async_resource: call!(napi_create_reference(env, resource, 1))?,
            pace: 1000.0,
            ending: Rc::default(),
            open_handles: 0,
            cleanup: ptr::null_mut(),
        }));
        let callbacks = Callbacks {
            poll: on_poll,
            check: on_flush,
            prepare: on_flush,
        };
        // SAFETY: this thread's loop; the engine owns `fd`, and the binding outlives the handles.
        let handles = unsafe { Handles::start(uv, event_loop, fd, binding.cast(), &callbacks) }
            .map_err(|reason| Failure::new("E_ENGINE", reason))?;
        let cleanup = call!(napi_add_async_cleanup_hook(
            env,
            Some(on_cleanup),
            binding.cast()
        ))?;
        // SAFETY: just made, and no callback has run yet.
        unsafe {
            (*binding).handles = Some(handles);
            (*binding).open_handles = Handles::COUNT;
            (*binding).cleanup = cleanup;
        }
        let object = call!(napi_create_object(env))?;
        let exports: [(&str, Export); 15] = [
            ("createServer", create_server),
            ("setTls", set_tls),
            ("listen", listen),
            ("listenFd", listen_fd),
            ("listenPassed", listen_passed),
            ("attach", attach),
            ("close", close),
            ("dropServer", drop_server),
            ("stats", stats),
            ("unsent", unsent),
            ("tlsInfo", tls_info),
            ("setReferenced", set_referenced),
            ("flush", flush_now),
            ("holdClock", hold_clock),
            ("advanceClock", advance_clock),
        ];
        set_functions(env, object, &exports, binding.cast())?;
        #[cfg(feature = "faults")]
        set_functions(env, object, &[("armFault", arm_fault)], binding.cast())?;
        Ok(object)
    })
}

/// Node.js calls this when the environment ends. It closes every handle; `on_closed` frees the binding after the last.
unsafe extern "C" fn on_cleanup(handle: napi_async_cleanup_hook_handle, data: *mut c_void) {
    let binding = data.cast::<Binding>();
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: registered with the binding, which lives until `on_closed` has seen all handles.
        let binding = unsafe { &mut *binding };
        binding.cleanup = handle;
        binding.ending.set(true);
        // Replies that handlers have given are still sent. Those that need JavaScript's lists cannot be: the lists are
        // out of reach, and a part of a reply without the parts before it would be wrong.
        if binding.engine.overflow() == 0 && !binding.engine.has_references() {
            binding.engine.apply(&engine::NoReferences);
        }
        if let Some(handles) = &binding.handles {
            handles.close(on_closed);
        }
    }));
}

unsafe extern "C" fn on_closed(handle: Handle) {
    // SAFETY: libuv calls back with our handle, which it no longer uses.
    let data = unsafe { data_of::<Binding>(handle) };
    // SAFETY: the binding lives until the last of its handles is closed.
    let binding = unsafe { &mut *data };
    binding.open_handles -= 1;
    if binding.open_handles > 0 {
        return;
    }
    let cleanup = binding.cleanup;
    // SAFETY: made by `Box::into_raw` in `open`; nothing refers to it any more. N-API references die with the
    // environment. The hook handle is removed last: Node waits for that.
    unsafe {
        let binding = Box::from_raw(data);
        if let Some(handles) = &binding.handles {
            handles.free();
        }
        drop(binding);
        napi_sys::napi_remove_async_cleanup_hook(cleanup);
    }
}

/// Runs `step` with the engine behind an exported function.
pub fn with_engine<T>(binding: *mut Binding, step: impl FnOnce(&mut Engine) -> T) -> T {
    // SAFETY: the invariants of `Binding`. An exported function carries the binding it was made for, and runs only
    // while JavaScript does, across which the callbacks in `turn` keep no borrow.
    step(unsafe { &mut (*binding).engine })
}

pub fn server_id(env: napi_env, value: napi_value) -> Result<u16> {
    Ok(to_number(env, value)? as u16)
}

/// `createServer(limits, caseSensitive, ignoreTrailingSlash, methods, routes, sockets)` gives the server's id.
unsafe extern "C" fn create_server(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let (
            [
                limits,
                case_sensitive,
                ignore_slash,
                methods,
                routes,
                sockets,
            ],
            binding,
        ) = arguments::<6>(env, info)?;
        let config = config::read(
            env,
            limits,
            case_sensitive,
            ignore_slash,
            methods,
            routes,
            sockets,
        )?;
        let id = with_engine(binding, |engine| engine.create_server(config));
        integer(env, i32::from(id))
    })
}

/// `listen(id, host, port, path, backlog, ipv6Only, reusePort, http2)` gives `{ host, port, path }`. `http2` allows
/// clients to begin with the preface of HTTP/2.
unsafe extern "C" fn listen(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([id, host, port, path, backlog, ipv6_only, reuse_port, http2], binding) =
            arguments::<8>(env, info)?;
        let id = server_id(env, id)?;
        let backlog = to_number(env, backlog)? as i32;
        let ipv6_only = to_bool(env, ipv6_only)?;
        let reuse_port = to_bool(env, reuse_port)?;
        let http2 = to_bool(env, http2)?;
        with_engine(binding, |engine| engine.set_http2(id, http2));
        let address = if let Some(path) = to_option(env, path)? {
            let path = to_string(env, path)?;
            with_engine(binding, |engine| {
                engine.listen_unix(id, Path::new(&path), backlog)
            })
        } else {
            let host = to_string(env, host)?;
            let ip: IpAddr = host
                .parse()
                .map_err(|_| Failure::new("E_INTERNAL", format!("{host} is no IP address")))?;
            let address = SocketAddr::new(ip, to_number(env, port)? as u16);
            with_engine(binding, |engine| {
                engine.listen_tcp(id, address, backlog, ipv6_only, reuse_port)
            })
        };
        let address = address.map_err(|error| listen_failure(&error))?;
        settle(binding);
        address_object(env, &address)
    })
}

/// `listenFd(id, fd, http2)` gives `{ host, port }` or `{ path }` of a socket that listens already.
unsafe extern "C" fn listen_fd(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([id, fd, http2], binding) = arguments::<3>(env, info)?;
        let id = server_id(env, id)?;
        let fd = to_number(env, fd)? as i32;
        let http2 = to_bool(env, http2)?;
        let address = adopt_socket(fd)
            .and_then(|fd| {
                with_engine(binding, |engine| {
                    engine.set_http2(id, http2);
                    engine.listen_on(id, fd)
                })
            })
            .map_err(|error| listen_failure(&error))?;
        settle(binding);
        address_object(env, &address)
    })
}

/// `listenPassed(id, listener, http2)`: the server gets the connections of a listener of the supervisor.
unsafe extern "C" fn listen_passed(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([id, listener, http2], binding) = arguments::<3>(env, info)?;
        let id = server_id(env, id)?;
        let listener = to_number(env, listener)? as u16;
        let http2 = to_bool(env, http2)?;
        with_engine(binding, |engine| {
            engine.set_http2(id, http2);
            engine.listen_passed(id, listener)
        })
        .map_err(|error| listen_failure(&error))?;
        settle(binding);
        undefined(env)
    })
}

/// `attach(fd)`: connections come by this end of a pair from now on.
unsafe extern "C" fn attach(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([fd], binding) = arguments::<1>(env, info)?;
        let fd = to_number(env, fd)? as i32;
        adopt_socket(fd)
            .and_then(|fd| with_engine(binding, |engine| engine.attach(fd)))
            .map_err(|error| listen_failure(&error))?;
        settle(binding);
        undefined(env)
    })
}

/// Makes `{ host, port }` or `{ path }` of an address.
pub fn address_object(env: napi_env, address: &ListenAddr) -> Result<napi_value> {
    let object = call!(napi_create_object(env))?;
    match address {
        ListenAddr::Tcp(address) => {
            set_property(env, object, "host", string(env, &address.ip().to_string())?)?;
            set_property(
                env,
                object,
                "port",
                integer(env, i32::from(address.port()))?,
            )?;
        }
        ListenAddr::Unix(path) => {
            set_property(env, object, "path", string(env, &path.to_string_lossy())?)?;
        }
    }
    Ok(object)
}

pub fn listen_failure(error: &std::io::Error) -> Failure {
    let code = match error.raw_os_error() {
        Some(libc::EADDRINUSE) => "EADDRINUSE",
        Some(libc::EACCES | libc::EPERM) => "EACCES",
        Some(libc::EADDRNOTAVAIL) => "EADDRNOTAVAIL",
        Some(libc::EAFNOSUPPORT) => "EAFNOSUPPORT",
        Some(libc::ENAMETOOLONG) => "ENAMETOOLONG",
        Some(libc::ENOENT) => "ENOENT",
        Some(libc::EINVAL) => "EINVAL",
        Some(libc::EMFILE | libc::ENFILE) => "EMFILE",
        _ if error.kind() == std::io::ErrorKind::AddrInUse => "EADDRINUSE",
        _ => "E_LISTEN",
    };
    Failure::new(code, error.to_string())
}

/// `close(id, drainIdle)`: graceful, idle connections stay for so many ms; the slice function hears of the end by a `closed` descriptor.
unsafe extern "C" fn close(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([id, drain_idle], binding) = arguments::<2>(env, info)?;
        let id = server_id(env, id)?;
        let drain_idle = to_number(env, drain_idle)? as u64;
        with_engine(binding, |engine| {
            engine.set_drain_idle(id, drain_idle);
            engine.close(id);
        });
        settle(binding);
        undefined(env)
    })
}

/// `dropServer(id)`: frees the id of a closed server.
unsafe extern "C" fn drop_server(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([id], binding) = arguments::<1>(env, info)?;
        let id = server_id(env, id)?;
        with_engine(binding, |engine| engine.drop_server(id));
        undefined(env)
    })
}

/// `unsent(slot, generation)`: how many bytes wait to be sent to a WebSocket, of those that were applied.
unsafe extern "C" fn unsent(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([slot, generation], binding) = arguments::<2>(env, info)?;
        let slot = to_number(env, slot)? as u32;
        // JavaScript reads generations as signed numbers.
        let generation = to_number(env, generation)? as i32 as u32;
        let unsent = with_engine(binding, |engine| engine.unsent(slot, generation));
        number(env, unsent as f64)
    })
}

/// `stats(id)` gives `[connections, inFlight, requests, refused, panics, dropped, sockets]`.
unsafe extern "C" fn stats(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([id], binding) = arguments::<1>(env, info)?;
        let id = server_id(env, id)?;
        let stats = with_engine(binding, |engine| engine.stats(id)).unwrap_or_default();
        let list = call!(napi_create_array(env))?;
        let values = [
            stats.connections,
            stats.in_flight,
            stats.requests,
            stats.refused,
            stats.panics,
            stats.dropped,
            stats.sockets,
        ];
        for (index, value) in values.into_iter().enumerate() {
            let value = number(env, value as f64)?;
            // SAFETY: live values.
            check(unsafe { napi_sys::napi_set_element(env, list, index as u32, value) })?;
        }
        Ok(list)
    })
}

/// `setReferenced(id, on)`: whether a listening server keeps the process alive.
unsafe extern "C" fn set_referenced(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([id, on], binding) = arguments::<2>(env, info)?;
        let (id, on) = (server_id(env, id)?, to_bool(env, on)?);
        with_engine(binding, |engine| engine.set_referenced(id, on));
        settle(binding);
        undefined(env)
    })
}

/// `flush()`: sends what was written, for the moment the process exits.
unsafe extern "C" fn flush_now(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([], binding) = arguments::<0>(env, info)?;
        flush(binding);
        undefined(env)
    })
}

/// `holdClock(hold)`: has the clock of time limits stand still or go on. For tests.
unsafe extern "C" fn hold_clock(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([hold], binding) = arguments::<1>(env, info)?;
        let hold = to_bool(env, hold)?;
        // SAFETY: the invariants of `Binding`.
        unsafe { (*binding).engine.hold_clock(hold) };
        undefined(env)
    })
}

/// `advanceClock(ms)`: moves the clock of time limits on, and has what is late ended in the next round of the event
/// loop, which is outside of any call from JavaScript. For tests.
unsafe extern "C" fn advance_clock(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([ms], binding) = arguments::<1>(env, info)?;
        let ms = to_number(env, ms)?.clamp(0.0, FURTHEST_CLOCK) as u64;
        // SAFETY: the invariants of `Binding`.
        let binding = unsafe { &mut *binding };
        binding.engine.advance_clock(ms);
        if let Some(handles) = &mut binding.handles {
            handles.hasten_timer(on_timer);
        }
        undefined(env)
    })
}

#[cfg(feature = "faults")]
/// `armFault(stage, nth)`: the engine panics the nth time it reaches parse (0), route, encode or flush (3).
unsafe extern "C" fn arm_fault(env: napi_env, info: napi_callback_info) -> napi_value {
    use engine::faults::{Stage, arm};
    guarded(env, || {
        let ([stage, nth], _) = arguments::<2>(env, info)?;
        let stages = [Stage::Parse, Stage::Route, Stage::Encode, Stage::Flush];
        let stage = stages[to_number(env, stage)? as usize];
        arm(stage, to_number(env, nth)? as u32);
        undefined(env)
    })
}
