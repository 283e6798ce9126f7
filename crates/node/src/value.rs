//! Reads and makes N-API values, with one error type.

use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::rc::Rc;

use napi_sys::{Status, napi_callback, napi_callback_info, napi_env, napi_status, napi_value};

/// Becomes a JavaScript exception with a message and a `code` property.
#[derive(Debug)]
pub struct Failure {
    pub code: &'static str,
    pub message: String,
}

impl Failure {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

pub type Result<T> = std::result::Result<T, Failure>;

pub fn check(status: napi_status) -> Result<()> {
    if status == Status::napi_ok {
        return Ok(());
    }
    Err(Failure::new(
        "E_INTERNAL",
        format!("N-API call failed with status {status}"),
    ))
}

/// Calls an N-API function whose last argument receives its result.
macro_rules! call {
    ($function:ident($($argument:expr),*)) => {{
        let mut result = std::mem::MaybeUninit::uninit();
        // SAFETY: `env` is live on this thread (every entry has it from Node), other arguments are values of
        // the current handle scope, and the result is read only when the call reports that it wrote it.
        #[allow(clippy::macro_metavars_in_unsafe)]
        unsafe {
            $crate::value::check(napi_sys::$function($($argument,)* result.as_mut_ptr()))
                .map(|()| result.assume_init())
        }
    }};
}
pub(crate) use call;

/// A function that JavaScript calls.
pub type Export = unsafe extern "C" fn(napi_env, napi_callback_info) -> napi_value;

/// Makes the function `export`, whose calls get `data`.
fn function(env: napi_env, name: &str, export: Export, data: *mut c_void) -> Result<napi_value> {
    let callback: napi_callback = Some(export);
    call!(napi_create_function(
        env,
        name.as_ptr().cast::<c_char>(),
        name.len() as isize,
        callback,
        data
    ))
}

/// Sets the functions `exports` as properties of `target`, by their names. Their calls get `data`.
pub fn set_functions(
    env: napi_env,
    target: napi_value,
    exports: &[(&str, Export)],
    data: *mut c_void,
) -> Result<()> {
    for &(name, export) in exports {
        set_property(env, target, name, function(env, name, export, data)?)?;
    }
    Ok(())
}

/// Makes a function that owns a share of `data`; calls get it by [`owned`]. The last such function that is collected
/// frees it.
pub fn function_owning<T>(
    env: napi_env,
    name: &str,
    export: Export,
    data: &Rc<T>,
) -> Result<napi_value> {
    let data = Rc::into_raw(data.clone()).cast_mut().cast::<c_void>();
    let made = function(env, name, export, data).and_then(|function| {
        // SAFETY: a live function; `on_collected` takes `data` as it was given here. No reference is asked for.
        check(unsafe {
            napi_sys::napi_add_finalizer(
                env,
                function,
                data,
                Some(on_collected::<T>),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })?;
        Ok(function)
    });
    if made.is_err() {
        // SAFETY: from `into_raw` above, and no finalizer has it.
        drop(unsafe { Rc::from_raw(data.cast::<T>()) });
    }
    made
}

/// Node.js calls this on the function's own thread, once nothing can call the function any more: when it was collected,
/// or when the environment ends.
unsafe extern "C" fn on_collected<T>(_: napi_env, data: *mut c_void, _: *mut c_void) {
    // SAFETY: from `into_raw` in `function_owning`, and given to one finalizer.
    drop(unsafe { Rc::from_raw(data.cast::<T>()) });
}

/// Gives what a function of [`function_owning`] owns, from the data of its call.
///
/// # Safety
/// `data` is that of a call of a function which was made with an `Rc<T>`. It is freed when the function was collected, so
/// not in its call.
pub unsafe fn owned<'a, T>(data: *mut c_void) -> &'a T {
    // SAFETY: the caller's promise.
    unsafe { &*data.cast::<T>() }
}

/// Reads the arguments of a call, and the data of the function that was called. Missing arguments are `undefined`.
pub fn arguments<const N: usize>(
    env: napi_env,
    info: napi_callback_info,
) -> Result<([napi_value; N], *mut c_void)> {
    let mut count = N;
    let mut values = [ptr::null_mut(); N];
    let mut data = ptr::null_mut();
    // SAFETY: room for N values; unused out pointers may be null.
    check(unsafe {
        napi_sys::napi_get_cb_info(
            env,
            info,
            &raw mut count,
            values.as_mut_ptr(),
            ptr::null_mut(),
            &raw mut data,
        )
    })?;
    Ok((values, data))
}

pub fn with_scope<T>(env: napi_env, step: impl FnOnce() -> Option<T>) -> Option<T> {
    let scope = call!(napi_open_handle_scope(env)).ok()?;
    let result = step();
    // SAFETY: the scope opened above, closed once, in order.
    unsafe { napi_sys::napi_close_handle_scope(env, scope) };
    result
}

pub fn number(env: napi_env, value: f64) -> Result<napi_value> {
    call!(napi_create_double(env, value))
}

pub fn integer(env: napi_env, value: i32) -> Result<napi_value> {
    call!(napi_create_int32(env, value))
}

pub fn string(env: napi_env, value: &str) -> Result<napi_value> {
    call!(napi_create_string_utf8(
        env,
        value.as_ptr().cast::<c_char>(),
        value.len() as isize
    ))
}

pub fn undefined(env: napi_env) -> Result<napi_value> {
    call!(napi_get_undefined(env))
}

pub fn null(env: napi_env) -> Result<napi_value> {
    call!(napi_get_null(env))
}

pub fn to_number(env: napi_env, value: napi_value) -> Result<f64> {
    call!(napi_get_value_double(env, value))
}

pub fn to_bool(env: napi_env, value: napi_value) -> Result<bool> {
    call!(napi_get_value_bool(env, value))
}

/// `None` for `null` and `undefined`.
pub fn to_option(env: napi_env, value: napi_value) -> Result<Option<napi_value>> {
    let kind = call!(napi_typeof(env, value))?;
    let absent =
        kind == napi_sys::ValueType::napi_undefined || kind == napi_sys::ValueType::napi_null;
    Ok((!absent).then_some(value))
}

pub fn to_string(env: napi_env, value: napi_value) -> Result<String> {
    let length = {
        let mut length = 0;
        // SAFETY: a null buffer asks for the length only.
        check(unsafe {
            napi_sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut length)
        })?;
        length
    };
    let mut bytes = vec![0u8; length + 1];
    let mut written = 0;
    // SAFETY: the buffer has room for the text and its NUL.
    check(unsafe {
        napi_sys::napi_get_value_string_utf8(
            env,
            value,
            bytes.as_mut_ptr().cast::<c_char>(),
            bytes.len(),
            &raw mut written,
        )
    })?;
    bytes.truncate(written);
    String::from_utf8(bytes).map_err(|_| Failure::new("E_INTERNAL", "a string is not UTF-8"))
}

pub fn element(env: napi_env, list: napi_value, index: u32) -> Result<napi_value> {
    call!(napi_get_element(env, list, index))
}

pub fn array_length(env: napi_env, list: napi_value) -> Result<u32> {
    call!(napi_get_array_length(env, list))
}

pub fn set_property(
    env: napi_env,
    object: napi_value,
    name: &str,
    value: napi_value,
) -> Result<()> {
    let name = CString::new(name).map_err(|_| Failure::new("E_INTERNAL", "a name has a NUL"))?;
    // SAFETY: live values; the name is NUL-terminated and copied by the call.
    check(unsafe { napi_sys::napi_set_named_property(env, object, name.as_ptr(), value) })
}

/// Address and length in bytes of a typed array's memory.
pub fn typed_array(env: napi_env, value: napi_value) -> Result<(*mut c_void, usize, i32)> {
    let mut kind = 0;
    let mut length = 0;
    let mut data = ptr::null_mut();
    // SAFETY: every out pointer is valid or null, which the call allows.
    check(unsafe {
        napi_sys::napi_get_typedarray_info(
            env,
            value,
            &raw mut kind,
            &raw mut length,
            &raw mut data,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    })?;
    let width = match kind {
        napi_sys::TypedarrayType::int32_array => 4,
        napi_sys::TypedarrayType::float64_array => 8,
        napi_sys::TypedarrayType::uint8_array => 1,
        _ => {
            return Err(Failure::new(
                "E_INTERNAL",
                "a typed array of another kind was expected",
            ));
        }
    };
    Ok((data, length * width, kind))
}

/// Copies the values of a `Float64Array`.
pub fn to_numbers(env: napi_env, array: napi_value) -> Result<Vec<f64>> {
    let (address, bytes, kind) = typed_array(env, array)?;
    if kind != napi_sys::TypedarrayType::float64_array {
        return Err(Failure::new("E_INTERNAL", "a Float64Array was expected"));
    }
    if bytes == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: a Float64Array's memory is `bytes` long and aligned for f64; JavaScript does not run meanwhile.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<f64>(), bytes / 8) }.to_vec())
}

/// Copies the bytes of a `Uint8Array` or a `Buffer`.
pub fn to_bytes(env: napi_env, array: napi_value) -> Result<Vec<u8>> {
    let (address, length, kind) = typed_array(env, array)?;
    if kind != napi_sys::TypedarrayType::uint8_array {
        return Err(Failure::new("E_INTERNAL", "a Uint8Array was expected"));
    }
    if length == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: a Uint8Array's memory is `length` bytes long; JavaScript does not run meanwhile.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) }.to_vec())
}

/// Empties an array.
pub fn clear_list(env: napi_env, list: napi_value) -> Result<()> {
    set_property(env, list, "length", integer(env, 0)?)
}

pub fn throw(env: napi_env, failure: &Failure) {
    let code = CString::new(failure.code).unwrap_or_default();
    let message = CString::new(failure.message.replace('\0', "")).unwrap_or_default();
    // SAFETY: NUL-terminated strings, copied by the call. A failure to throw leaves nothing to do.
    unsafe { napi_sys::napi_throw_error(env, code.as_ptr(), message.as_ptr()) };
}
