//! Seals and opens texts for JavaScript. It needs no engine: it works on every thread, before an engine starts and
//! after it ended.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::rc::Rc;

use napi_sys::{napi_callback_info, napi_env, napi_value};
use seal::{IV, KeyRing, LONGEST_NAME, LONGEST_SEALED, LONGEST_TEXT, Sealed};

use crate::exports::guarded;
use crate::value::{
    Export, Failure, Result, arguments, call, check, function_owning, owned, set_property, string,
    typed_array,
};

/// `sealer(derived)` takes for each key its 32 bytes and the 6 bytes of its id, and gives `{ seal, open }`. The
/// functions own the keys: the last of them to be collected frees them.
pub unsafe extern "C" fn sealer(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([derived], _) = arguments::<1>(env, info)?;
        let (address, length, kind) = typed_array(env, derived)?;
        if kind != napi_sys::TypedarrayType::uint8_array || address.is_null() {
            return Err(Failure::new("E_INTERNAL", "keys must be a Uint8Array"));
        }
        // SAFETY: a Uint8Array's memory is `length` bytes long; JavaScript does not run meanwhile.
        let derived = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) };
        let keys = KeyRing::new(derived)
            .ok_or_else(|| Failure::new("E_INTERNAL", "keys have the wrong size"))?;
        let owned = Rc::new(Owned::new(keys, env)?);
        let object = call!(napi_create_object(env))?;
        let exports: [(&str, Export); 2] = [("seal", seal), ("open", open)];
        for (name, export) in exports {
            let function = function_owning(env, name, export, &owned)?;
            set_property(env, object, name, function)?;
        }
        Ok(object)
    })
}

/// Keys that functions own. The garbage collector sees only two small functions, and would wait for thousands of them.
struct Owned {
    keys: KeyRing,
    env: napi_env,
}

impl Owned {
    fn new(keys: KeyRing, env: napi_env) -> Result<Self> {
        call!(napi_adjust_external_memory(env, keys.memory() as i64))?;
        Ok(Self { keys, env })
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let env = self.env;
        let _ = call!(napi_adjust_external_memory(
            env,
            -(self.keys.memory() as i64)
        ));
    }
}

/// `seal(name, text)` gives the sealed text, or null if name or text is too long.
unsafe extern "C" fn seal(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([name, text], data) = arguments::<2>(env, info)?;
        with_desk(|desk| {
            let iv = desk.vector()?;
            let name = desk.name.read(env, name)?;
            let text = desk.text.read(env, text)?;
            or_null(env, keys_of(data).seal(iv, name, text, &mut desk.out))
        })
    })
}

/// `open(name, sealed)` gives the text, or null for what was not sealed by these keys under this name.
unsafe extern "C" fn open(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([name, sealed], data) = arguments::<2>(env, info)?;
        with_desk(|desk| {
            let name = desk.name.read(env, name)?;
            let sealed = desk.sealed.read(env, sealed)?;
            or_null(env, keys_of(data).open(name, sealed, &mut desk.opened))
        })
    })
}

fn keys_of<'a>(data: *mut c_void) -> &'a KeyRing {
    // SAFETY: the data of a function of `sealer`.
    &unsafe { owned::<Owned>(data) }.keys
}

fn or_null(env: napi_env, text: Option<&str>) -> Result<napi_value> {
    match text {
        Some(text) if text.is_ascii() => call!(napi_create_string_latin1(
            env,
            text.as_ptr().cast::<c_char>(),
            text.len() as isize
        )),
        Some(text) => string(env, text),
        None => call!(napi_get_null(env)),
    }
}

/// The memory of this thread that a call works in, so that it allocates nothing but its result.
struct Desk {
    name: Text<LONGEST_NAME>,
    text: Text<LONGEST_TEXT>,
    sealed: Text<LONGEST_SEALED>,
    out: Sealed,
    opened: Vec<u8>,
    vectors: Vec<[u8; IV]>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::new(Desk {
        name: Text::new(),
        text: Text::new(),
        sealed: Text::new(),
        out: Sealed::default(),
        opened: Vec::new(),
        vectors: Vec::new(),
    });
}

/// No call runs inside another: what is called here of Node.js runs no JavaScript.
fn with_desk<T>(step: impl FnOnce(&mut Desk) -> Result<T>) -> Result<T> {
    DESK.with_borrow_mut(step)
}

impl Desk {
    /// Gives 96 random bits. The system makes them for 21 calls at once: one call of it takes longer than to seal a
    /// text.
    fn vector(&mut self) -> Result<[u8; IV]> {
        if self.vectors.is_empty() {
            // getentropy gives at most 256 bytes.
            let mut bytes = [[0; IV]; 256 / IV];
            // SAFETY: writes as many bytes as the array has.
            let status =
                unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), size_of_val(&bytes)) };
            if status != 0 {
                return Err(Failure::new(
                    "E_INTERNAL",
                    "the system gave no random bytes",
                ));
            }
            self.vectors.extend(bytes);
        }
        self.vectors
            .pop()
            .ok_or_else(|| Failure::new("E_INTERNAL", "no random bytes"))
    }
}

/// Room for a text of `N` bytes, and for one that is longer to be told from it.
struct Text<const N: usize>(Vec<u8>);

impl<const N: usize> Text<N> {
    fn new() -> Self {
        // UTF-8 is cut between characters, at most 3 bytes before the end, and the last byte is NUL.
        Self(vec![0; N + 5])
    }

    /// Gives the text in UTF-8, or if it is longer than `N` bytes, more than `N` of them.
    fn read(&mut self, env: napi_env, value: napi_value) -> Result<&[u8]> {
        let mut length = 0;
        // SAFETY: writes no more bytes than there is room for.
        check(unsafe {
            napi_sys::napi_get_value_string_utf8(
                env,
                value,
                self.0.as_mut_ptr().cast::<c_char>(),
                self.0.len(),
                &raw mut length,
            )
        })?;
        Ok(&self.0[..length])
    }
}
