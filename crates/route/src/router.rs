//! The route table: inserts patterns, and answers a lookup from the static paths or the tree.

use std::collections::HashMap;

use crate::error::InsertError;
use crate::method::{METHODS, MethodSet, OPTIONS_INDEX};
use crate::params::Params;
use crate::pattern::{Pattern, Segment, shape};
use crate::statics::Statics;
use crate::tree::Tree;

/// How paths are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `/Users` and `/users` are different paths (ASCII letters). Parameters keep their case. Default true.
    pub case_sensitive: bool,
    /// One `/` at the end of a path or pattern other than `/` is ignored; a wildcard's value is without it. Default
    /// false.
    pub ignore_trailing_slash: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            case_sensitive: true,
            ignore_trailing_slash: false,
        }
    }
}

/// The answer to a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    Found {
        id: u32,
    },
    /// The path has routes, but none of this method. Allow names the set (RFC 9110 §15.5.6).
    MethodNotAllowed(MethodSet),
    /// An OPTIONS request without a route of its own, for a path that has routes, or for `*`: what Allow names.
    Options(MethodSet),
    NotFound,
}

/// The routes of one set of paths, by method.
#[derive(Debug)]
struct Leaf {
    methods: MethodSet,
    ids: [u32; METHODS.len()],
    /// Registered methods are kept here: each has its index and the id of its route.
    registered: Vec<(u8, u32)>,
}

impl Leaf {
    fn id(&self, method: u8) -> u32 {
        const GET: usize = 0;
        if !self.methods.contains(method) {
            return self.ids[GET];
        }
        match self.ids.get(usize::from(method)) {
            Some(&id) => id,
            None => self.registered_id(method),
        }
    }

    #[cold]
    fn registered_id(&self, method: u8) -> u32 {
        let mut pairs = self.registered.iter();
        pairs
            .find(|(index, _)| *index == method)
            .map_or(0, |&(_, id)| id)
    }

    fn set(&mut self, method: u8, id: u32) {
        match self.ids.get_mut(usize::from(method)) {
            Some(place) => *place = id,
            None => self.registered.push((method, id)),
        }
    }
}

/// Method and canonical path → route id.
#[derive(Debug)]
pub struct Router {
    options: Options,
    statics: Statics,
    tree: Tree,
    leaves: Vec<Leaf>,
    methods: MethodSet,
    /// Pattern by method and shape, to refuse a second route for the same paths.
    taken: HashMap<(u8, String), String>,
}

impl Router {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            statics: Statics::new(options.case_sensitive),
            tree: Tree::new(options.case_sensitive),
            leaves: Vec::new(),
            methods: MethodSet(0),
            taken: HashMap::new(),
        }
    }

    /// Adds a route. `method` is an index in `METHODS` or of a registered method, below 32; `id` is what a lookup
    /// finds. On an error nothing has changed.
    pub fn insert(&mut self, method: u8, pattern: &str, id: u32) -> Result<(), InsertError> {
        let set = MethodSet::of(method);
        if set.is_empty() {
            return Err(InsertError::UnknownMethod { method });
        }
        let mut parsed =
            Pattern::parse(self.trimmed(pattern)).map_err(|reason| InsertError::BadPattern {
                pattern: pattern.to_owned(),
                reason,
            })?;
        if !self.options.case_sensitive {
            parsed = parsed.lowercase();
        }
        let keys: Vec<_> = parsed
            .expand()
            .map(|segments| (method, shape(segments)))
            .collect();
        if let Some(existing) = keys.iter().find_map(|key| self.taken.get(key)) {
            return Err(InsertError::Conflict {
                method,
                existing: existing.clone(),
                pattern: pattern.to_owned(),
            });
        }
        for (segments, key) in parsed.expand().zip(keys) {
            self.add(segments, &key.1, set, method, id);
            self.taken.insert(key, pattern.to_owned());
        }
        self.methods = self.methods.union(set);
        Ok(())
    }

    /// Finds the route for a canonical path; `params` are filled when one is found, else empty.
    ///
    /// Precedence is among the routes of this method: another method's more specific pattern does not hide a less
    /// specific one. HEAD is served by HEAD and GET routes alike, HEAD's first where both have the same pattern.
    #[inline(always)]
    pub fn lookup(&self, method: u8, path: &[u8], params: &mut Params) -> Lookup {
        params.truncate(0);
        let path = self.trimmed_bytes(path);
        let wanted = MethodSet::serving(method);
        let fixed = self
            .statics
            .find(path)
            .map(|leaf| &self.leaves[leaf as usize]);
        if let Some(leaf) = fixed
            && leaf.methods.meets(wanted)
        {
            return Lookup::Found {
                id: leaf.id(method),
            };
        }
        let mut found = None;
        let accept = |leaf: u32| {
            found = self
                .leaves
                .get(leaf as usize)
                .filter(|leaf| leaf.methods.meets(wanted));
            found.is_some()
        };
        if self.tree.walk(wanted, path, params, accept)
            && let Some(leaf) = found
        {
            return Lookup::Found {
                id: leaf.id(method),
            };
        }
        self.miss(method, path, fixed, wanted, params)
    }

    /// Answers for a path that has no route of the `wanted` methods.
    #[cold]
    fn miss(
        &self,
        method: u8,
        path: &[u8],
        fixed: Option<&Leaf>,
        wanted: MethodSet,
        params: &mut Params,
    ) -> Lookup {
        let mut methods = fixed.map_or(MethodSet(0), |leaf| leaf.methods);
        let others = MethodSet(self.methods.0 & !methods.0 & !wanted.0);
        self.tree.walk(others, path, params, |leaf| {
            methods = methods.union(self.leaves[leaf as usize].methods);
            false
        });
        params.truncate(0);
        let server = path == b"*";
        if server && method == OPTIONS_INDEX {
            Lookup::Options(self.methods.allowed())
        } else if server && wanted.is_empty() {
            // CONNECT concerns the server, too, and no route has it.
            Lookup::MethodNotAllowed(self.methods.allowed())
        } else if methods.is_empty() {
            Lookup::NotFound
        } else if method == OPTIONS_INDEX {
            Lookup::Options(methods.allowed())
        } else {
            Lookup::MethodNotAllowed(methods.allowed())
        }
    }

    fn add(&mut self, segments: &[Segment], path: &str, set: MethodSet, method: u8, id: u32) {
        let new = self.leaves.len() as u32;
        let fixed = segments
            .iter()
            .all(|segment| matches!(segment, Segment::Text(_)));
        let leaf = if fixed {
            self.statics.insert(path.as_bytes(), new)
        } else {
            self.tree.insert(segments, set, new)
        };
        if leaf == new {
            self.leaves.push(Leaf {
                methods: MethodSet(0),
                ids: [0; METHODS.len()],
                registered: Vec::new(),
            });
        }
        let leaf = &mut self.leaves[leaf as usize];
        leaf.methods = leaf.methods.union(set);
        leaf.set(method, id);
    }

    fn trimmed<'a>(&self, pattern: &'a str) -> &'a str {
        match pattern.strip_suffix('/') {
            Some(shorter) if self.options.ignore_trailing_slash && !shorter.is_empty() => shorter,
            _ => pattern,
        }
    }

    fn trimmed_bytes<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        match path {
            [shorter @ .., b'/'] if self.options.ignore_trailing_slash && !shorter.is_empty() => {
                shorter
            }
            _ => path,
        }
    }
}

impl Default for Router {
    fn default() -> Self {
        Self::new(Options::default())
    }
}
