//! The counts of rate limits that the workers of a machine share, for JavaScript. Like sealing, it needs no engine.

use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr;
use std::rc::Rc;

use napi_sys::{napi_callback_info, napi_env, napi_value};
use reactor::clock::monotonic_ns;
use reactor::process::is_running;
use reactor::shared_memory::SharedMemory;
use share::{Algorithm, Fault, Key, LEAST_BYTES, Level, Limit, MOST_POLICIES, Quota, Table, World};

use crate::exports::guarded;
use crate::value::{
    Export, Failure, Result, arguments, call, check, function_owning, integer, number, owned,
    set_functions, set_property, to_number, to_numbers, to_string, typed_array, undefined,
};

/// The most bytes of a table.
const MOST_BYTES: f64 = 4_294_967_296.0;
/// The numbers of a quota and of a level, as JavaScript gives and gets them.
const QUOTA: usize = 4;
const LEVEL: usize = 4;
/// The keys of `rateLimit` have fewer characters.
const SHORT: usize = 128;

type Counts = Table<SharedMemory, Machine>;

struct Machine;

impl World for Machine {
    fn micros(&self) -> u64 {
        monotonic_ns() / 1_000
    }

    fn is_running(&self, process: u32) -> bool {
        is_running(process)
    }
}

/// A table. Its limits keep it mapped.
struct Opened {
    counts: Rc<Counts>,
}

/// A limit, and the table that it is counted in.
struct Counted {
    counts: Rc<Counts>,
    limit: Limit,
}

pub fn define(env: napi_env, target: napi_value) -> Result<()> {
    let exports: [(&str, Export); 2] = [("shareTable", share_table), ("openTable", open_table)];
    set_functions(env, target, &exports, ptr::null_mut())
}

/// `shareTable(bytes)` makes a table, and gives its descriptor. It is close-on-exec, and is the caller's to close.
unsafe extern "C" fn share_table(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([bytes], _) = arguments::<1>(env, info)?;
        let bytes = to_number(env, bytes)?;
        if !(LEAST_BYTES as f64..=MOST_BYTES).contains(&bytes) {
            let wanted =
                format!("a table has {LEAST_BYTES} to {MOST_BYTES} bytes, and not {bytes}");
            return Err(Failure::new("E_BAD_OPTION", wanted));
        }
        let failed = |error| Failure::new("E_ENGINE", format!("no shared memory: {error}"));
        let fd = SharedMemory::create(bytes as usize & !7).map_err(failed)?;
        let memory = SharedMemory::map(fd.as_raw_fd()).map_err(failed)?;
        share::format(memory.as_ref(), secret()?).map_err(no_table)?;
        integer(env, fd.into_raw_fd())
    })
}

/// `openTable(fd)` gives `{ limit, stats }` of a table that `shareTable` made, in this process or in the one that it has
/// the descriptor from. The descriptor stays open, and becomes close-on-exec.
unsafe extern "C" fn open_table(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([fd], _) = arguments::<1>(env, info)?;
        let fd = to_number(env, fd)? as i32;
        let memory = SharedMemory::map(fd).map_err(|error| {
            Failure::new(
                "E_ENGINE",
                format!("descriptor {fd} is no table of counts: {error}"),
            )
        })?;
        let counts = Table::open(memory, Machine, std::process::id()).map_err(no_table)?;
        let opened = Rc::new(Opened {
            counts: Rc::new(counts),
        });
        exports_owning(env, &opened, [("limit", limit as Export), ("stats", stats)])
    })
}

fn exports_owning<T, const N: usize>(
    env: napi_env,
    data: &Rc<T>,
    exports: [(&str, Export); N],
) -> Result<napi_value> {
    let object = call!(napi_create_object(env))?;
    for (name, export) in exports {
        set_property(env, object, name, function_owning(env, name, export, data)?)?;
    }
    Ok(object)
}

fn no_table(fault: Fault) -> Failure {
    let reason = match fault {
        Fault::TooShort => "it is too short",
        Fault::NoTable => "it does not begin as one",
        Fault::OtherVersion => "another version of the engine made it",
        Fault::OtherLength => "it has another length than it says",
    };
    Failure::new(
        "E_ENGINE",
        format!("the memory is no table of counts: {reason}"),
    )
}

fn secret() -> Result<[u64; 2]> {
    let mut secret = [0_u64; 2];
    // SAFETY: writes as many bytes as the array has.
    if unsafe { libc::getentropy(secret.as_mut_ptr().cast(), size_of_val(&secret)) } != 0 {
        return Err(Failure::new(
            "E_INTERNAL",
            "the system gave no random bytes",
        ));
    }
    Ok(secret)
}

/// `limit(identity, quotas)` takes four numbers for each policy: the algorithm (0 gcra, 1 fixed, 2 sliding), `max`, the
/// window in µs, and `burst`. Gives `{ take, refund, reset, keys }`. Limits of the same identity and numbers count
/// together in all processes.
unsafe extern "C" fn limit(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([identity, numbers], data) = arguments::<2>(env, info)?;
        // SAFETY: the data of a function of `open_table`.
        let opened = unsafe { owned::<Opened>(data) };
        let mut identity = to_string(env, identity)?.into_bytes();
        let numbers = to_numbers(env, numbers)?;
        let (quotas, rest) = numbers.as_chunks::<QUOTA>();
        identity.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let quotas = quotas.iter().map(quota).collect::<Option<Vec<_>>>();
        let limit = quotas
            .filter(|_| rest.is_empty())
            .and_then(|quotas| opened.counts.limit(&identity, quotas))
            .ok_or_else(|| Failure::new("E_INTERNAL", "the numbers of a limit are wrong"))?;
        let counted = Rc::new(Counted {
            counts: opened.counts.clone(),
            limit,
        });
        let exports: [(&str, Export); 4] = [
            ("take", take),
            ("refund", refund),
            ("reset", reset),
            ("keys", keys),
        ];
        exports_owning(env, &counted, exports)
    })
}

fn quota(&[algorithm, max, window, burst]: &[f64; QUOTA]) -> Option<Quota> {
    let algorithm = match algorithm as u8 {
        0 => Algorithm::Gcra,
        1 => Algorithm::Fixed,
        2 => Algorithm::Sliding,
        _ => return None,
    };
    Quota::new(algorithm, max as u32, window as u64, burst as u32)
}

/// `take(cost, levels, …keys)`, with a key for each policy, gives true if all of them were charged. `levels` is a
/// `Float64Array`, and gets four numbers for each: 1 if it is allowed, what remains, and the µs until the quota and the
/// units are there.
unsafe extern "C" fn take(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([cost, out, texts @ ..], data) = arguments::<{ 2 + MOST_POLICIES }>(env, info)?;
        let Counted { counts, limit } = counted(data);
        let count = limit.quotas().len();
        let keys = keys_of(env, limit, texts)?;
        let mut levels = [Level::default(); MOST_POLICIES];
        let cost = to_number(env, cost)? as u32;
        let passes = counts.take(limit, &keys[..count], cost, &mut levels[..count]);
        let (address, bytes, kind) = typed_array(env, out)?;
        if kind != napi_sys::TypedarrayType::float64_array || bytes < count * LEVEL * 8 {
            return Err(Failure::new("E_INTERNAL", "levels have no room"));
        }
        // SAFETY: a Float64Array of at least so many numbers, aligned for them; JavaScript does not run meanwhile.
        let out = unsafe { std::slice::from_raw_parts_mut(address.cast::<f64>(), count * LEVEL) };
        for (out, level) in out.as_chunks_mut::<LEVEL>().0.iter_mut().zip(levels) {
            *out = [
                f64::from(u8::from(level.allowed)),
                level.remaining as f64,
                level.reset as f64,
                level.retry_after as f64,
            ];
        }
        call!(napi_get_boolean(env, passes))
    })
}

/// `refund(cost, …keys)`, with a key for each policy, gives what was taken back.
unsafe extern "C" fn refund(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([cost, texts @ ..], data) = arguments::<{ 1 + MOST_POLICIES }>(env, info)?;
        let Counted { counts, limit } = counted(data);
        let keys = keys_of(env, limit, texts)?;
        let cost = to_number(env, cost)? as u32;
        counts.refund(limit, &keys[..limit.quotas().len()], cost);
        undefined(env)
    })
}

/// `reset(key)` forgets a key of all policies.
unsafe extern "C" fn reset(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([text], data) = arguments::<1>(env, info)?;
        let Counted { counts, limit } = counted(data);
        let keys = keys_of(env, limit, [text; MOST_POLICIES])?;
        counts.reset(&keys[..limit.quotas().len()]);
        undefined(env)
    })
}

/// `keys()` says how many keys of the limit are kept.
unsafe extern "C" fn keys(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([], data) = arguments::<0>(env, info)?;
        let Counted { counts, limit } = counted(data);
        number(env, counts.keys(limit) as f64)
    })
}

/// `stats()` gives `{ evicted, broken }` of the whole table: how many keys had to go while they still counted, and how
/// often a lock was taken from a process that had ended or was stopped.
unsafe extern "C" fn stats(env: napi_env, info: napi_callback_info) -> napi_value {
    guarded(env, || {
        let ([], data) = arguments::<0>(env, info)?;
        // SAFETY: the data of a function of `open_table`.
        let Opened { counts } = unsafe { owned::<Opened>(data) };
        let object = call!(napi_create_object(env))?;
        set_property(
            env,
            object,
            "evicted",
            number(env, counts.evicted() as f64)?,
        )?;
        set_property(env, object, "broken", number(env, counts.broken() as f64)?)?;
        Ok(object)
    })
}

fn counted<'a>(data: *mut std::ffi::c_void) -> &'a Counted {
    // SAFETY: the data of a function of `limit`.
    unsafe { owned::<Counted>(data) }
}

/// Makes a key of each policy of its text.
fn keys_of(
    env: napi_env,
    limit: &Limit,
    texts: [napi_value; MOST_POLICIES],
) -> Result<[Key; MOST_POLICIES]> {
    let mut keys = [Key::default(); MOST_POLICIES];
    for (policy, (key, text)) in keys.iter_mut().zip(texts).enumerate() {
        if policy == limit.quotas().len() {
            break;
        }
        *key = key_of(env, limit, policy, text)?;
    }
    Ok(keys)
}

/// Keys are hashed in UTF-16, which tells broken surrogates apart.
fn key_of(env: napi_env, limit: &Limit, policy: usize, text: napi_value) -> Result<Key> {
    let mut short = [0_u16; SHORT];
    let length = read_units(env, text, &mut short)?;
    if length < SHORT - 1 {
        let mut bytes = [0_u8; 2 * SHORT];
        for (bytes, unit) in bytes
            .as_chunks_mut::<2>()
            .0
            .iter_mut()
            .zip(&short[..length])
        {
            *bytes = unit.to_le_bytes();
        }
        return Ok(limit.key(policy, &bytes[..2 * length]));
    }
    let mut length = 0;
    // SAFETY: a null buffer asks for the length only.
    check(unsafe {
        napi_sys::napi_get_value_string_utf16(env, text, ptr::null_mut(), 0, &raw mut length)
    })?;
    let mut long = vec![0_u16; length + 1];
    read_units(env, text, &mut long)?;
    let bytes: Vec<u8> = long[..length]
        .iter()
        .flat_map(|unit| unit.to_le_bytes())
        .collect();
    Ok(limit.key(policy, &bytes))
}

/// Reads as much as there is room for, and gives how much that is. The last unit is NUL.
fn read_units(env: napi_env, text: napi_value, units: &mut [u16]) -> Result<usize> {
    let mut length = 0;
    // SAFETY: writes no more units than there is room for.
    check(unsafe {
        napi_sys::napi_get_value_string_utf16(
            env,
            text,
            units.as_mut_ptr().cast(),
            units.len(),
            &raw mut length,
        )
    })?;
    Ok(length)
}
