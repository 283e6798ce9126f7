//! Finds the route of a request: the canonical path, the lookup, and the limits on parameters.

use ring::Memory;
use route::{Lookup, Params};
use wire::{Head, PathKind};

use crate::faults::{self, Stage};
use crate::server::{RouteSpec, ServerConfig};
use crate::slice::{Routed, Slice};

/// The buffers for the next request. They are kept, so that a request allocates nothing.
#[derive(Default)]
pub struct Scratch {
    pub head: Option<Box<Head>>,
    pub params: Option<Box<Params>>,
    pub path: Vec<u8>,
}

/// The status and the error code of a request that JavaScript never sees.
pub type Refused = (u16, &'static str);

/// The route of a request.
pub struct Destination {
    pub routed: Routed,
    /// The route; `None` if none was found.
    pub spec: Option<RouteSpec>,
}

impl Destination {
    /// Gives the parameters of the lookup, or none for a request without a route.
    #[inline]
    pub fn params<'a>(&self, params: &'a Params) -> &'a Params {
        if self.spec.is_some() {
            params
        } else {
            const { &Params::new() }
        }
    }
}

const NOT_FOUND: i32 = -1;
const METHOD_NOT_ALLOWED: i32 = -2;
const OPTIONS: i32 = -3;
const UPGRADE_REQUIRED: i32 = -4;

/// Finds the route of a request whose head begins at `at` in the arena, which must have room for its canonical path.
///
/// The function is inlined into both versions of HTTP, as are the other functions that each request of both passes. As
/// calls they cost a request of HTTP/1 210 of 3,950 instructions of the addon (callgrind).
#[inline(always)]
pub fn find(
    config: &ServerConfig,
    slice: &mut Slice,
    memory: &mut Memory,
    canonical: &mut Vec<u8>,
    params: &mut Params,
    at: usize,
    head: &Head,
) -> Result<Destination, Refused> {
    let raw = at + head.path.start as usize;
    let length = head.path.len as usize;
    let (path, path_length, escaped) = match head.path_kind {
        PathKind::Plain | PathKind::Asterisk => (raw, length, false),
        PathKind::Root => (slice.store(memory, b"/"), 1, true),
        PathKind::Authority => (slice.store(memory, b"*"), 1, true),
        PathKind::Escaped => {
            let arena = memory.page(slice.page()).arena;
            if let Err(refusal) = wire::canonicalise(&arena[raw..raw + length], canonical) {
                return Err((refusal.status(), refusal.code()));
            }
            // Escaping bytes makes a path up to three times as long. The page has room for its limit.
            if canonical.len() > config.limits.wire.max_url_length as usize {
                return Err((414, "E_TARGET_TOO_LONG"));
            }
            (slice.store(memory, canonical), canonical.len(), true)
        }
    };
    faults::check(Stage::Route);
    let arena = &memory.page(slice.page()).arena[path..path + path_length];
    let table = if head.websocket {
        &config.socket_router
    } else {
        &config.router
    };
    let lookup = table.lookup(head.method.index(), arena, params);
    let (route, allow, spec) = match lookup {
        Lookup::Found { id } => (id as i32, 0, config.routes.get(id as usize).copied()),
        _ if head.websocket => (UPGRADE_REQUIRED, 0, None),
        Lookup::MethodNotAllowed(set) => (METHOD_NOT_ALLOWED, set.0 as i32, None),
        Lookup::Options(set) => (OPTIONS, set.0 as i32, None),
        Lookup::NotFound => (NOT_FOUND, 0, None),
    };
    let routed = Routed {
        route,
        allow,
        path,
        path_length,
        escaped,
    };
    let destination = Destination { routed, spec };
    let found = destination.params(params);
    let limit = config.limits.max_param_length;
    let limited = found.len() - usize::from(spec.is_some_and(|spec| spec.wildcard));
    if (0..limited).any(|index| found.get(index).is_some_and(|(_, length)| length > limit)) {
        return Err((414, "E_PARAM_TOO_LONG"));
    }
    Ok(destination)
}
