//! What a supervisor and its workers need of the system beside Node.js. None of it needs an engine.

use std::collections::HashMap;
use std::ffi::c_void;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use accept::{Acceptor, notify};
use napi_sys::{napi_async_cleanup_hook_handle, napi_callback_info, napi_env, napi_value};
use reactor::net::{ListenAddr, Recv, adopt_socket, pair, receive_with};
use reactor::{lifeline, process};

use crate::exports::{address_object, guarded, listen_failure};
use crate::uv::{Handle, Uv, Watch, data_of};
use crate::value::{
    self, Export, Failure, Result, call, check, integer, number, set_functions, set_property,
    to_bool, to_number, to_numbers, to_option, to_string, undefined,
};

/// The supervisor's acceptor, with what JavaScript does not see of its workers.
struct Desk {
    acceptor: Acceptor,
    /// By worker: our end of the pair for listening sockets, and the two ends that the worker inherits.
    ends: HashMap<usize, Ends>,
    watch: Option<Watch>,
    open_handles: usize,
    cleanup: napi_async_cleanup_hook_handle,
}

struct Ends {
    listeners: OwnedFd,
    inherited: Option<(OwnedFd, OwnedFd)>,
}

pub fn define(env: napi_env, target: napi_value) -> Result<()> {
    let exports: [(&str, Export); 7] = [
        ("acceptor", acceptor),
        ("parallelism", parallelism),
        ("notify", notify_manager),
        ("reap", reap),
        ("follow", follow),
        ("goOnFor", go_on_for),
        ("receiveListener", receive_listener),
    ];
    set_functions(env, target, &exports, ptr::null_mut())
}

/// `acceptor()` gives the functions by which a supervisor accepts connections and passes them to workers.
unsafe extern "C" fn acceptor(env: napi_env, _: napi_callback_info) -> napi_value {
    guarded(env, || {
        let acceptor = Acceptor::new()
            .map_err(|error| Failure::new("E_ENGINE", format!("no poller: {error}")))?;
        let uv = Uv::load().map_err(|reason| Failure::new("E_ENGINE", reason))?;
        let event_loop = call!(napi_get_uv_event_loop(env))?.cast::<c_void>();
        let fd = acceptor.fd();
        let desk = Box::into_raw(Box::new(Desk {
            acceptor,
            ends: HashMap::new(),
            watch: None,
            open_handles: Watch::COUNT,
            cleanup: ptr::null_mut(),
        }));
        // SAFETY: this thread's loop; the acceptor owns `fd`, and the desk outlives the handle.
        let watch = unsafe { Watch::start(uv, event_loop, fd, desk.cast(), on_ready) }
            .map_err(|reason| Failure::new("E_ENGINE", reason))?;
        let cleanup = call!(napi_add_async_cleanup_hook(
            env,
            Some(on_cleanup),
            desk.cast()
        ))?;
        // SAFETY: just made, and no callback has run yet.
        unsafe {
            (*desk).watch = Some(watch);
            (*desk).cleanup = cleanup;
        }
        let object = call!(napi_create_object(env))?;
        let exports: [(&str, Export); 14] = [
            ("listen", listen),
            ("adopt", adopt),
            ("setEncrypted", set_encrypted),
            ("closeListener", close_listener),
            ("addWorker", add_worker),
            ("spawned", spawned),
            ("attach", attach),
            ("detach", detach),
            ("handDown", hand_down),
            ("setTakes", set_takes),
            ("removeWorker", remove_worker),
            ("setRefusing", set_refusing),
            ("stopListening", stop_listening),
            ("tick", tick),
        ];
        set_functions(env, object, &exports, desk.cast())?;
        Ok(object)
    })
}

unsafe extern "C" fn on_ready(handle: Handle, _status: i32, _events: i32) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: libuv calls back with our open handle. Nothing here runs JavaScript, so this is the only borrow.
        let desk = unsafe { &mut *data_of::<Desk>(handle) };
        desk.acceptor.turn();
        desk.release_later();
    }));
}

unsafe extern "C" fn on_release(handle: Handle) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as above.
        let desk = unsafe { &mut *data_of::<Desk>(handle) };
        if let Some(watch) = &mut desk.watch {
            watch.called();
        }
        desk.acceptor.release();
        desk.release_later();
    }));
}

/// How long the supervisor has copies of connections that workers have, in milliseconds, if no connections come meanwhile.
const RELEASE: u64 = 10;

impl Desk {
    fn release_later(&mut self) {
        if self.acceptor.holds()
            && let Some(watch) = &mut self.watch
        {
            watch.call_after(RELEASE, on_release);
        }
    }
}

/// Node.js calls this when the environment ends.
unsafe extern "C" fn on_cleanup(handle: napi_async_cleanup_hook_handle, data: *mut c_void) {
    // SAFETY: registered with the desk, which lives until `on_closed`.
    let desk = unsafe { &mut *data.cast::<Desk>() };
    desk.cleanup = handle;
    if let Some(watch) = &desk.watch {
        watch.close(on_closed);
    }
}

unsafe extern "C" fn on_closed(handle: Handle) {
    // SAFETY: libuv calls back with our handle, which it no longer uses. The desk was made by `Box::into_raw`, and no
    // JavaScript runs any more that could use it. Node.js waits for the removal of the hook, which comes last.
    unsafe {
        let desk = data_of::<Desk>(handle);
        (*desk).open_handles -= 1;
        if (*desk).open_handles > 0 {
            return;
        }
        let desk = Box::from_raw(desk);
        let cleanup = desk.cleanup;
        if let Some(watch) = &desk.watch {
            watch.free();
        }
        drop(desk);
        napi_sys::napi_remove_async_cleanup_hook(cleanup);
    }
}

/// Reads the arguments of a call, and runs `step` with the desk that it was made for.
fn with_desk<const N: usize>(
    env: napi_env,
    info: napi_callback_info,
    step: impl FnOnce([napi_value; N], &mut Desk) -> Result<napi_value>,
) -> napi_value {
    guarded(env, || {
        let (values, data) = value::arguments::<N>(env, info)?;
        // SAFETY: the data of a function of `acceptor`, which lives as long as JavaScript runs. One thread uses it, and
        // no step runs JavaScript.
        let desk = unsafe { &mut *data.cast::<Desk>() };
        let result = step(values, desk);
        desk.release_later();
        result
    })
}

/// `listen(host, port, path, backlog, ipv6Only)` gives `{ listener, host, port }` or `{ listener, path }`.
unsafe extern "C" fn listen(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[host, port, path, backlog, ipv6_only], desk| {
        let backlog = to_number(env, backlog)? as i32;
        let given = if let Some(path) = to_option(env, path)? {
            let path = to_string(env, path)?;
            desk.acceptor.listen_unix(Path::new(&path), backlog)
        } else {
            let host = to_string(env, host)?;
            let ip: IpAddr = host
                .parse()
                .map_err(|_| Failure::new("E_INTERNAL", format!("{host} is no IP address")))?;
            let address = SocketAddr::new(ip, to_number(env, port)? as u16);
            let ipv6_only = to_bool(env, ipv6_only)?;
            desk.acceptor.listen_tcp(address, backlog, ipv6_only)
        };
        listener_object(env, given)
    })
}

/// `adopt(fd)`: as `listen`, with a socket that listens already.
unsafe extern "C" fn adopt(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[fd], desk| {
        let fd = to_number(env, fd)? as i32;
        let given = adopt_socket(fd).and_then(|fd| desk.acceptor.adopt(fd));
        listener_object(env, given)
    })
}

/// `setEncrypted(listener, on)`: whether its clients speak TLS.
unsafe extern "C" fn set_encrypted(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[listener, on], desk| {
        let listener = to_number(env, listener)? as u16;
        desk.acceptor.set_encrypted(listener, to_bool(env, on)?);
        undefined(env)
    })
}

/// `closeListener(listener)`: no worker serves it any more.
unsafe extern "C" fn close_listener(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[listener], desk| {
        desk.acceptor
            .close_listener(to_number(env, listener)? as u16);
        undefined(env)
    })
}

fn listener_object(env: napi_env, given: std::io::Result<(u16, ListenAddr)>) -> Result<napi_value> {
    let (listener, address) = given.map_err(|error| listen_failure(&error))?;
    let object = address_object(env, &address)?;
    set_property(env, object, "listener", integer(env, i32::from(listener))?)?;
    Ok(object)
}

/// `addWorker()` gives the worker's number, and the two descriptors that its process inherits: by the first it gets
/// connections, by the second listening sockets.
unsafe extern "C" fn add_worker(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[], desk| {
        let refused = |error: std::io::Error| listen_failure(&error);
        let (ours, connections) = pair().map_err(refused)?;
        let (listeners, theirs) = pair().map_err(refused)?;
        let worker = desk.acceptor.add_worker(ours).map_err(refused)?;
        let fds = [connections.as_raw_fd(), theirs.as_raw_fd()];
        desk.ends.insert(
            worker,
            Ends {
                listeners,
                inherited: Some((connections, theirs)),
            },
        );
        let list = call!(napi_create_array(env))?;
        for (index, value) in [worker as i32, fds[0], fds[1]].into_iter().enumerate() {
            let value = integer(env, value)?;
            // SAFETY: live values.
            check(unsafe { napi_sys::napi_set_element(env, list, index as u32, value) })?;
        }
        Ok(list)
    })
}

/// `spawned(worker)`: its process has the descriptors, or will never have them.
unsafe extern "C" fn spawned(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[worker], desk| {
        if let Some(ends) = desk.ends.get_mut(&(to_number(env, worker)? as usize)) {
            ends.inherited = None;
        }
        undefined(env)
    })
}

/// `attach(worker, listener)`: the worker serves the connections of the listener, too.
unsafe extern "C" fn attach(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[worker, listener], desk| {
        let worker = to_number(env, worker)? as usize;
        let listener = to_number(env, listener)? as u16;
        desk.acceptor.attach(worker, listener);
        undefined(env)
    })
}

/// `detach(worker, listener)`: the worker gets no more connections of the listener.
unsafe extern "C" fn detach(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[worker, listener], desk| {
        let worker = to_number(env, worker)? as usize;
        let listener = to_number(env, listener)? as u16;
        desk.acceptor.detach(worker, listener);
        undefined(env)
    })
}

/// `handDown(worker, listener)` sends the listening socket itself.
unsafe extern "C" fn hand_down(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[worker, listener], desk| {
        let worker = to_number(env, worker)? as usize;
        let listener = to_number(env, listener)? as u16;
        let ends = desk
            .ends
            .get(&worker)
            .ok_or_else(|| Failure::new("E_INTERNAL", "there is no such worker"))?;
        desk.acceptor
            .hand_down(listener, ends.listeners.as_raw_fd())
            .map_err(|error| listen_failure(&error))?;
        undefined(env)
    })
}

/// `setTakes(worker, on)`: whether the worker gets connections.
unsafe extern "C" fn set_takes(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[worker, on], desk| {
        let worker = to_number(env, worker)? as usize;
        desk.acceptor.set_takes(worker, to_bool(env, on)?);
        undefined(env)
    })
}

/// `removeWorker(worker)`: its process has ended.
unsafe extern "C" fn remove_worker(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[worker], desk| {
        let worker = to_number(env, worker)? as usize;
        desk.ends.remove(&worker);
        desk.acceptor.remove_worker(worker);
        undefined(env)
    })
}

/// `setRefusing(on)`: whether clients that no worker takes are answered with 503.
unsafe extern "C" fn set_refusing(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[on], desk| {
        desk.acceptor.set_refusing(to_bool(env, on)?);
        undefined(env)
    })
}

/// `stopListening()` passes on what waits, and closes the listeners.
unsafe extern "C" fn stop_listening(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[], desk| {
        desk.acceptor.stop_listening();
        undefined(env)
    })
}

/// `tick()`: is called every second.
unsafe extern "C" fn tick(env: napi_env, info: napi_callback_info) -> napi_value {
    with_desk(env, info, |[], desk| {
        desk.acceptor.tick();
        undefined(env)
    })
}

/// `parallelism()` gives how many threads can run at once: the processors that this process may use, within the quota of
/// its control group.
unsafe extern "C" fn parallelism(env: napi_env, _: napi_callback_info) -> napi_value {
    guarded(env, || {
        let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        number(env, count as f64)
    })
}

/// `notify(address, state)` tells the service manager; gives whether it was told.
unsafe extern "C" fn notify_manager(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([address, state], _) = value::arguments::<2>(env, info)?;
        let told = notify::notify(&to_string(env, address)?, &to_string(env, state)?);
        let told = told.is_ok();
        call!(napi_get_boolean(env, told))
    })
}

/// `reap(known)` takes the exit status of children that have ended, but of none whose id `known`, a `Float64Array`, has.
unsafe extern "C" fn reap(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([known], _) = value::arguments::<1>(env, info)?;
        let known = to_numbers(env, known)?;
        let count = process::reap(|pid| known.contains(&f64::from(pid)));
        number(env, count as f64)
    })
}

/// `follow(fd, patience)`: the process ends some time after the other end of the pair is closed: after `patience` ms,
/// unless `goOnFor` was called meanwhile.
unsafe extern "C" fn follow(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([fd, patience], _) = value::arguments::<2>(env, info)?;
        let fd = to_number(env, fd)? as i32;
        let patience = Duration::from_millis(to_number(env, patience)? as u64);
        lifeline::follow(fd, patience).map_err(|error| listen_failure(&error))?;
        undefined(env)
    })
}

/// `goOnFor(ms)`: the process knows that its supervisor is gone, and needs so long to end by itself.
unsafe extern "C" fn go_on_for(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([milliseconds], _) = value::arguments::<1>(env, info)?;
        lifeline::go_on_for(to_number(env, milliseconds)? as u64);
        undefined(env)
    })
}

/// `receiveListener(fd)` gives the descriptor of the listening socket that the supervisor has sent by this pair; −1 if
/// there is none.
unsafe extern "C" fn receive_listener(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([fd], _) = value::arguments::<1>(env, info)?;
        let fd = to_number(env, fd)? as i32;
        let mut fds = Vec::new();
        // One byte goes with each socket, so that no call takes two.
        let outcome = receive_with(fd, &mut [0], &mut fds);
        let received = match (outcome, fds.pop()) {
            (Recv::Data(_), Some(fd)) => std::os::fd::IntoRawFd::into_raw_fd(fd),
            _ => -1,
        };
        integer(env, received)
    })
}
