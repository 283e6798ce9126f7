//! `createServer`'s arguments, read into the engine's configuration.

use engine::{BodyMode, Limits, RouteSpec, ServerConfig};
use napi_sys::{napi_env, napi_value};
use route::{Options, Router};

use crate::value::{
    Failure, Result, array_length, element, to_bool, to_number, to_string, typed_array,
};

/// Values per route in the flat route list: method index, pattern, body mode, most bytes of a body.
const ROUTE_WIDTH: u32 = 4;

pub fn read(
    env: napi_env,
    limits: napi_value,
    case_sensitive: napi_value,
    ignore_trailing_slash: napi_value,
    methods: napi_value,
    table: napi_value,
) -> Result<ServerConfig> {
    let (address, bytes, kind) = typed_array(env, limits)?;
    if kind != napi_sys::TypedarrayType::float64_array {
        return Err(Failure::new("E_INTERNAL", "limits must be a Float64Array"));
    }
    // SAFETY: a Float64Array's memory is `bytes` long and aligned for f64; JavaScript does not run meanwhile.
    let values = unsafe { std::slice::from_raw_parts(address.cast::<f64>(), bytes / 8) };
    let mut limits =
        Limits::from_array(values).map_err(|reason| Failure::new("E_INTERNAL", reason))?;
    for at in 0..array_length(env, methods)? {
        let name = to_string(env, element(env, methods, at)?)?;
        limits.wire.methods.push(name.into_bytes().into());
    }

    let mut router = Router::new(Options {
        case_sensitive: to_bool(env, case_sensitive)?,
        ignore_trailing_slash: to_bool(env, ignore_trailing_slash)?,
    });
    let count = array_length(env, table)? / ROUTE_WIDTH;
    let mut specs = Vec::with_capacity(count as usize);
    for id in 0..count {
        let at = |offset: u32| element(env, table, id * ROUTE_WIDTH + offset);
        let method = to_number(env, at(0)?)? as u8;
        let pattern = to_string(env, at(1)?)?;
        router
            .insert(method, &pattern, id)
            .map_err(|error| Failure::new("E_ROUTE", error.to_string()))?;
        specs.push(RouteSpec {
            body: match to_number(env, at(2)?)? as u8 {
                0 => BodyMode::Buffer,
                1 => BodyMode::Stream,
                _ => BodyMode::Late,
            },
            max_body: to_number(env, at(3)?)? as u64,
            wildcard: pattern
                .rsplit('/')
                .next()
                .is_some_and(|last| last.starts_with('*')),
        });
    }
    Ok(ServerConfig {
        limits,
        router,
        routes: specs,
    })
}
