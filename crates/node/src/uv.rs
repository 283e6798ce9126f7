//! libuv's functions, found in the running process by name. Nothing is linked and no struct is known: sizes come from
//! `uv_handle_size`, because libuv promises no ABI (Node.js says so of `napi_get_uv_event_loop`).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

pub type Handle = *mut c_void;

/// The data of the handle of a libuv callback.
///
/// # Safety
/// `handle` is open, and was started with a `T` as its data.
pub unsafe fn data_of<T>(handle: Handle) -> *mut T {
    // uv_handle_t begins with `void* data` in every libuv 1.x: what uv_handle_get_data returns.
    // SAFETY: the first word of an initialised handle.
    unsafe { *handle.cast::<*mut c_void>() }.cast()
}

pub type Callback = unsafe extern "C" fn(Handle);
pub type PollCallback = unsafe extern "C" fn(Handle, c_int, c_int);

const CHECK: c_int = 2;
const IDLE: c_int = 6;
const POLL: c_int = 8;
const PREPARE: c_int = 9;
const TIMER: c_int = 13;
const READABLE: c_int = 1;

type Init = unsafe extern "C" fn(Handle, Handle) -> c_int;
type Start = unsafe extern "C" fn(Handle, Callback) -> c_int;
type Stop = unsafe extern "C" fn(Handle) -> c_int;

/// The functions used, resolved once per environment.
#[derive(Clone, Copy)]
pub struct Uv {
    version: unsafe extern "C" fn() -> c_uint,
    handle_size: unsafe extern "C" fn(c_int) -> usize,
    set_data: unsafe extern "C" fn(Handle, *mut c_void),
    reference: unsafe extern "C" fn(Handle),
    unreference: unsafe extern "C" fn(Handle),
    close: unsafe extern "C" fn(Handle, Option<Callback>),
    poll_init: unsafe extern "C" fn(Handle, Handle, c_int) -> c_int,
    poll_start: unsafe extern "C" fn(Handle, c_int, PollCallback) -> c_int,
    check_init: Init,
    check_start: Start,
    prepare_init: Init,
    prepare_start: Start,
    idle_init: Init,
    idle_start: Start,
    idle_stop: Stop,
    timer_init: Init,
    timer_start: unsafe extern "C" fn(Handle, Callback, u64, u64) -> c_int,
    timer_stop: Stop,
}

fn symbol(name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: a NUL-terminated name; RTLD_DEFAULT searches the images already loaded.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast::<c_char>()) };
    if address.is_null() {
        return Err(format!("this runtime has no {}", name.to_string_lossy()));
    }
    Ok(address)
}

macro_rules! function {
    ($name:literal) => {
        // SAFETY: libuv's documented signature for this name, stable throughout its 1.x line; `load` checks the
        // major version before any other function is called.
        unsafe { std::mem::transmute::<*mut c_void, _>(symbol($name)?) }
    };
}

#[expect(
    clippy::missing_transmute_annotations,
    reason = "the field's declared type is the annotation"
)]
impl Uv {
    /// # Errors
    /// When this is no process with libuv 1.x.
    pub fn load() -> Result<Self, String> {
        let uv = Self {
            version: function!(c"uv_version"),
            handle_size: function!(c"uv_handle_size"),
            set_data: function!(c"uv_handle_set_data"),
            reference: function!(c"uv_ref"),
            unreference: function!(c"uv_unref"),
            close: function!(c"uv_close"),
            poll_init: function!(c"uv_poll_init"),
            poll_start: function!(c"uv_poll_start"),
            check_init: function!(c"uv_check_init"),
            check_start: function!(c"uv_check_start"),
            prepare_init: function!(c"uv_prepare_init"),
            prepare_start: function!(c"uv_prepare_start"),
            idle_init: function!(c"uv_idle_init"),
            idle_start: function!(c"uv_idle_start"),
            idle_stop: function!(c"uv_idle_stop"),
            timer_init: function!(c"uv_timer_init"),
            timer_start: function!(c"uv_timer_start"),
            timer_stop: function!(c"uv_timer_stop"),
        };
        // SAFETY: takes nothing and only returns a constant.
        let version = unsafe { (uv.version)() };
        if version >> 16 != 1 {
            return Err(format!("libuv {}.x is not known", version >> 16));
        }
        Ok(uv)
    }

    fn allocate(&self, kind: c_int) -> Handle {
        // SAFETY: `kind` is one of libuv's handle types; the size is never 0.
        unsafe { alloc_zeroed(self.layout(kind)).cast() }
    }

    fn layout(&self, kind: c_int) -> Layout {
        // SAFETY: reads a table.
        let size = unsafe { (self.handle_size)(kind) }.max(1);
        Layout::from_size_align(size, 16).unwrap_or(Layout::new::<[u128; 64]>())
    }
}

/// One descriptor that is watched for input, and a timer.
pub struct Watch {
    uv: Uv,
    poll: Handle,
    timer: Handle,
    timing: bool,
}

impl Watch {
    /// Calls `callback` when `fd` is readable. It does not keep the process alive.
    ///
    /// # Safety
    /// `event_loop` is the loop of the calling thread, `fd` a descriptor that outlives the handle, `data` the value that
    /// the callback can rely on until the handle has reported its close.
    ///
    /// # Errors
    /// When libuv refuses the descriptor.
    pub unsafe fn start(
        uv: Uv,
        event_loop: *mut c_void,
        fd: c_int,
        data: *mut c_void,
        callback: PollCallback,
    ) -> Result<Self, String> {
        let poll = uv.allocate(POLL);
        let timer = uv.allocate(TIMER);
        // SAFETY: freshly allocated, zeroed memory of libuv's own sizes, initialised before use.
        unsafe {
            let status = (uv.poll_init)(event_loop, poll, fd);
            if status != 0 {
                return Err(format!("uv_poll_init failed with {status}"));
            }
            (uv.timer_init)(event_loop, timer);
            for handle in [poll, timer] {
                (uv.set_data)(handle, data);
                (uv.unreference)(handle);
            }
            (uv.poll_start)(poll, READABLE, callback);
        }
        Ok(Self {
            uv,
            poll,
            timer,
            timing: false,
        })
    }

    /// Calls `callback` once after so many milliseconds, unless it is to be called already.
    pub fn call_after(&mut self, milliseconds: u64, callback: Callback) {
        if self.timing {
            return;
        }
        self.timing = true;
        // SAFETY: an initialised handle of this thread's loop.
        unsafe { (self.uv.timer_start)(self.timer, callback, milliseconds, 0) };
    }

    /// Is called when `call_after` has called back.
    pub fn called(&mut self) {
        self.timing = false;
    }

    pub const COUNT: usize = 2;

    /// Starts closing both handles; `callback` is called once for each.
    pub fn close(&self, callback: Callback) {
        for handle in [self.poll, self.timer] {
            // SAFETY: initialised, and closed once.
            unsafe { (self.uv.close)(handle, Some(callback)) };
        }
    }

    /// # Safety
    /// Both handles have reported their close.
    pub unsafe fn free(&self) {
        for (handle, kind) in [(self.poll, POLL), (self.timer, TIMER)] {
            // SAFETY: allocated by `allocate` with this layout; libuv is done with it.
            unsafe { dealloc(handle.cast(), self.uv.layout(kind)) };
        }
    }
}

/// The five handles of one environment. Freed by `free` after every one of them reported its close.
pub struct Handles {
    uv: Uv,
    pub poll: Handle,
    pub check: Handle,
    pub prepare: Handle,
    pub idle: Handle,
    pub timer: Handle,
    idling: bool,
    timing: u64,
    referenced: bool,
}

/// What libuv calls.
pub struct Callbacks {
    pub poll: PollCallback,
    pub check: Callback,
    pub prepare: Callback,
}

impl Handles {
    /// Starts the poll, check and prepare handles; only poll keeps the process alive, and only while
    /// `set_referenced(true)`.
    ///
    /// # Safety
    /// `event_loop` is the loop of the calling thread, `fd` a descriptor that outlives the handles, `data` the
    /// value every callback can rely on until `close`.
    ///
    /// # Errors
    /// When libuv refuses the descriptor.
    pub unsafe fn start(
        uv: Uv,
        event_loop: *mut c_void,
        fd: c_int,
        data: *mut c_void,
        callbacks: &Callbacks,
    ) -> Result<Self, String> {
        let handles = Self {
            uv,
            poll: uv.allocate(POLL),
            check: uv.allocate(CHECK),
            prepare: uv.allocate(PREPARE),
            idle: uv.allocate(IDLE),
            timer: uv.allocate(TIMER),
            idling: false,
            timing: 0,
            referenced: false,
        };
        // SAFETY: freshly allocated, zeroed memory of libuv's own sizes; each handle is initialised before use.
        unsafe {
            let status = (uv.poll_init)(event_loop, handles.poll, fd);
            if status != 0 {
                return Err(format!("uv_poll_init failed with {status}"));
            }
            (uv.check_init)(event_loop, handles.check);
            (uv.prepare_init)(event_loop, handles.prepare);
            (uv.idle_init)(event_loop, handles.idle);
            (uv.timer_init)(event_loop, handles.timer);
            for handle in handles.all() {
                (uv.set_data)(handle, data);
                (uv.unreference)(handle);
            }
            (uv.poll_start)(handles.poll, READABLE, callbacks.poll);
            (uv.check_start)(handles.check, callbacks.check);
            (uv.prepare_start)(handles.prepare, callbacks.prepare);
        }
        Ok(handles)
    }

    fn all(&self) -> [Handle; 5] {
        [self.poll, self.check, self.prepare, self.idle, self.timer]
    }

    /// Runs `callback` in every iteration and keeps the loop from blocking.
    pub fn set_idling(&mut self, on: bool, callback: Callback) {
        if self.idling == on {
            return;
        }
        self.idling = on;
        // SAFETY: an initialised handle of this thread's loop.
        unsafe {
            if on {
                (self.uv.idle_start)(self.idle, callback);
            } else {
                (self.uv.idle_stop)(self.idle);
            }
        }
    }

    /// Repeats `callback` every `interval` milliseconds; 0 stops.
    pub fn set_timer(&mut self, interval: u64, callback: Callback) {
        if self.timing == interval {
            return;
        }
        self.timing = interval;
        // SAFETY: an initialised handle of this thread's loop.
        unsafe {
            if interval > 0 {
                (self.uv.timer_start)(self.timer, callback, interval, interval);
            } else {
                (self.uv.timer_stop)(self.timer);
            }
        }
    }

    /// Calls the timer's callback in the next round of the loop, and then as [`set_timer`](Self::set_timer) said.
    pub fn hasten_timer(&mut self, callback: Callback) {
        // SAFETY: an initialised handle of this thread's loop.
        unsafe { (self.uv.timer_start)(self.timer, callback, 0, self.timing) };
    }

    /// Whether the engine keeps the process alive. The timer follows, so that limits hold in that phase.
    pub fn set_referenced(&mut self, on: bool) {
        if self.referenced == on {
            return;
        }
        self.referenced = on;
        // SAFETY: initialised handles of this thread's loop.
        unsafe {
            for handle in [self.poll, self.timer, self.idle] {
                if on {
                    (self.uv.reference)(handle);
                } else {
                    (self.uv.unreference)(handle);
                }
            }
        }
    }

    /// Starts closing all handles; `callback` is called once for each.
    pub fn close(&self, callback: Callback) {
        for handle in self.all() {
            // SAFETY: initialised, closed once (the clean-up hook runs once).
            unsafe { (self.uv.close)(handle, Some(callback)) };
        }
    }

    pub const COUNT: usize = 5;

    /// # Safety
    /// Every handle has reported its close.
    pub unsafe fn free(&self) {
        let kinds = [POLL, CHECK, PREPARE, IDLE, TIMER];
        for (handle, kind) in self.all().into_iter().zip(kinds) {
            // SAFETY: allocated by `allocate` with this layout; libuv is done with it.
            unsafe { dealloc(handle.cast(), self.uv.layout(kind)) };
        }
    }
}
