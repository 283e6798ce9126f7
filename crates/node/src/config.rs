//! `createServer`'s arguments, read into the engine's configuration.

use engine::{BodyMode, Limits, OFF, RouteSpec, ServerConfig, SocketSpec};
use napi_sys::{napi_env, napi_value};
use route::{Options, Router};

use crate::value::{
    Failure, Result, array_length, element, to_bool, to_number, to_numbers, to_string,
};

/// Values of a route in the flat list of routes: method index, pattern, body mode, the most bytes of a body, the index
/// of its settings in the list of sockets (-1 if the route is not for WebSockets), and the time limit of a request in
/// milliseconds.
const ROUTE_WIDTH: u32 = 6;
/// Values per route in the flat list of sockets. `socket_spec` reads them.
const SOCKET_WIDTH: usize = 7;

pub fn read(
    env: napi_env,
    limits: napi_value,
    case_sensitive: napi_value,
    ignore_trailing_slash: napi_value,
    methods: napi_value,
    table: napi_value,
    sockets: napi_value,
) -> Result<ServerConfig> {
    let mut limits = Limits::from_array(&to_numbers(env, limits)?)
        .map_err(|reason| Failure::new("E_INTERNAL", reason))?;
    for at in 0..array_length(env, methods)? {
        let name = to_string(env, element(env, methods, at)?)?;
        limits.wire.methods.push(name.into_bytes().into());
    }

    let options = Options {
        case_sensitive: to_bool(env, case_sensitive)?,
        ignore_trailing_slash: to_bool(env, ignore_trailing_slash)?,
    };
    let mut router = Router::new(options);
    let mut socket_router = Router::new(options);
    let count = array_length(env, table)? / ROUTE_WIDTH;
    let mut specs = Vec::with_capacity(count as usize);
    for id in 0..count {
        let at = |offset: u32| element(env, table, id * ROUTE_WIDTH + offset);
        let method = to_number(env, at(0)?)? as u8;
        let pattern = to_string(env, at(1)?)?;
        let socket = u16::try_from(to_number(env, at(4)?)? as i32).ok();
        let table = match socket {
            Some(_) => &mut socket_router,
            None => &mut router,
        };
        table
            .insert(method, &pattern, id)
            .map_err(|error| Failure::new("E_ROUTE", error.to_string()))?;
        specs.push(RouteSpec {
            body: match to_number(env, at(2)?)? as u8 {
                0 => BodyMode::Buffer,
                1 => BodyMode::Stream,
                _ => BodyMode::Late,
            },
            max_body: to_number(env, at(3)?)? as u64,
            request_timeout: match to_number(env, at(5)?)? as u64 {
                0 => OFF,
                timeout => timeout,
            },
            wildcard: pattern
                .rsplit('/')
                .next()
                .is_some_and(|last| last.starts_with('*')),
            socket,
        });
    }
    Ok(ServerConfig {
        limits,
        router,
        socket_router,
        sockets: to_numbers(env, sockets)?
            .chunks_exact(SOCKET_WIDTH)
            .map(socket_spec)
            .collect(),
        routes: specs,
    })
}

/// Reads the values in the order in which `socketsOf` of `packages/engine/src/native.ts` writes them.
fn socket_spec(values: &[f64]) -> SocketSpec {
    SocketSpec {
        limits: ws::Limits {
            message: values[0] as usize,
            fragments: values[1] as u32,
        },
        idle_timeout: values[2] as u64,
        close_timeout: values[3] as u64,
        max_buffered: values[4] as usize,
        drops: values[5] != 0.0,
        compress_from: (values[6] >= 0.0).then_some(values[6] as usize),
    }
}
