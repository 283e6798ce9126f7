//! Paths with parameters: a byte-wise prefix tree whose nodes after a `/` may branch into parameters.

use crate::method::MethodSet;
use crate::params::Params;
use crate::pattern::Segment;

const NONE: u32 = u32::MAX;
const ROOT: u32 = 0;

#[derive(Debug)]
struct Node {
    /// The text that leads here from the parent. It is empty after a parameter.
    prefix: Box<[u8]>,
    /// The methods of the leaves at and below this node. A walk for other methods skips it.
    methods: MethodSet,
    leaf: u32,
    /// The first bytes of the children's prefixes. `children` has the same order.
    firsts: Vec<u8>,
    children: Vec<u32>,
    /// Whether `suffixes`, `param` or `wildcard` is there, which only a node can have whose text so far ends with `/`.
    branches: bool,
    /// Parameters with a suffix, the longest suffix first.
    suffixes: Vec<(Box<[u8]>, u32)>,
    param: u32,
    /// The leaf of the wildcard (an index of a leaf, not of a node).
    wildcard: u32,
}

impl Node {
    fn new(prefix: &[u8]) -> Self {
        Self {
            prefix: prefix.into(),
            methods: MethodSet(0),
            leaf: NONE,
            firsts: Vec::new(),
            children: Vec::new(),
            branches: false,
            suffixes: Vec::new(),
            param: NONE,
            wildcard: NONE,
        }
    }

    #[inline]
    fn child(&self, first: u8) -> Option<u32> {
        let at = self.firsts.iter().position(|&byte| byte == first)?;
        self.children.get(at).copied()
    }
}

/// A tree of paths. Every node has one way from the root, and a path determines the span that each node on this way
/// matches. So one walk visits a node at most once, and costs at most the tree plus the segments its parameters span.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    case_sensitive: bool,
}

impl Tree {
    pub(crate) fn new(case_sensitive: bool) -> Self {
        Self {
            nodes: vec![Node::new(b"/")],
            case_sensitive,
        }
    }

    /// Calls `accept` with the leaves that match `path` and may have routes of `methods`, the most specific first,
    /// until it returns true; `params` are then those of that leaf.
    #[inline]
    pub(crate) fn walk<F: FnMut(u32) -> bool>(
        &self,
        methods: MethodSet,
        path: &[u8],
        params: &mut Params,
        accept: F,
    ) -> bool {
        params.truncate(0);
        let root = &self.nodes[ROOT as usize];
        if path.first() != Some(&b'/') || !root.methods.meets(methods) {
            return false;
        }
        let mut walk = Walk {
            tree: self,
            methods,
            path,
            params,
            accept,
        };
        if self.case_sensitive {
            walk.from::<false>(root, 1)
        } else {
            walk.from::<true>(root, 1)
        }
    }

    /// Gives the leaf for these segments, which is `leaf` if they had none. `method` is added to all nodes on the way.
    pub(crate) fn insert(&mut self, segments: &[Segment], method: MethodSet, leaf: u32) -> u32 {
        let mut at = ROOT;
        let mut text = Vec::new();
        self.mark(at, method);
        for (index, segment) in segments.iter().enumerate() {
            // The root stands after the first `/`.
            if index > 0 {
                text.push(b'/');
            }
            match segment {
                Segment::Text(segment) => text.extend_from_slice(segment.as_bytes()),
                Segment::Param { suffix } => {
                    at = self.text(at, &text, method);
                    text.clear();
                    at = self.param(at, suffix.as_bytes());
                    self.mark(at, method);
                }
                Segment::Wildcard => {
                    at = self.text(at, &text, method);
                    let node = &mut self.nodes[at as usize];
                    node.branches = true;
                    if node.wildcard == NONE {
                        node.wildcard = leaf;
                    }
                    return node.wildcard;
                }
            }
        }
        at = self.text(at, &text, method);
        let node = &mut self.nodes[at as usize];
        if node.leaf == NONE {
            node.leaf = leaf;
        }
        node.leaf
    }

    fn mark(&mut self, at: u32, method: MethodSet) {
        let node = &mut self.nodes[at as usize];
        node.methods = node.methods.union(method);
    }

    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Gives the node that `text` leads to from `at`. It is made, and others are split for it, where needed.
    fn text(&mut self, mut at: u32, mut text: &[u8], method: MethodSet) -> u32 {
        while let Some(&first) = text.first() {
            let Some(child) = self.nodes[at as usize].child(first) else {
                let new = self.push(Node::new(text));
                let parent = &mut self.nodes[at as usize];
                parent.firsts.push(first);
                parent.children.push(new);
                self.mark(new, method);
                return new;
            };
            let prefix = &self.nodes[child as usize].prefix;
            let shared = prefix.iter().zip(text).take_while(|(a, b)| a == b).count();
            if shared < prefix.len() {
                self.split(child, shared);
            }
            self.mark(child, method);
            text = &text[shared..];
            at = child;
        }
        at
    }

    /// Keeps the first `len` bytes of a node's prefix where it is and moves the rest to a child of it.
    fn split(&mut self, at: u32, len: usize) {
        let upper = Node::new(&self.nodes[at as usize].prefix[..len]);
        let mut lower = std::mem::replace(&mut self.nodes[at as usize], upper);
        lower.prefix = lower.prefix[len..].into();
        let first = lower.prefix[0];
        let methods = lower.methods;
        let lower = self.push(lower);
        let upper = &mut self.nodes[at as usize];
        upper.methods = methods;
        upper.firsts.push(first);
        upper.children.push(lower);
    }

    fn param(&mut self, at: u32, suffix: &[u8]) -> u32 {
        let node = &self.nodes[at as usize];
        let existing = if suffix.is_empty() {
            Some(node.param).filter(|&param| param != NONE)
        } else {
            let mut suffixes = node.suffixes.iter();
            suffixes
                .find(|(text, _)| **text == *suffix)
                .map(|&(_, target)| target)
        };
        if let Some(existing) = existing {
            return existing;
        }
        let new = self.push(Node::new(b""));
        let node = &mut self.nodes[at as usize];
        node.branches = true;
        if suffix.is_empty() {
            node.param = new;
        } else {
            let place = node
                .suffixes
                .partition_point(|(text, _)| text.len() >= suffix.len());
            node.suffixes.insert(place, (suffix.into(), new));
        }
        new
    }
}

struct Walk<'a, F> {
    tree: &'a Tree,
    methods: MethodSet,
    path: &'a [u8],
    params: &'a mut Params,
    accept: F,
}

impl<'a, F: FnMut(u32) -> bool> Walk<'a, F> {
    /// Goes on from a node whose text ends at `pos`. Recurses only where there is another choice to come back to: at
    /// most twice for each segment of the deepest pattern. `FOLD` compares without case.
    fn from<const FOLD: bool>(&mut self, mut node: &'a Node, mut pos: usize) -> bool {
        let tree = self.tree;
        loop {
            let Some(&first) = self.path.get(pos) else {
                return node.leaf != NONE && (self.accept)(node.leaf);
            };
            let first = if FOLD {
                first.to_ascii_lowercase()
            } else {
                first
            };
            let child = node.child(first).map(|child| &tree.nodes[child as usize]);
            let child = child.filter(|child| self.enters::<FOLD>(child, pos));
            if !node.branches {
                let Some(child) = child else { return false };
                pos += child.prefix.len();
                node = child;
                continue;
            }
            let depth = self.params.len();
            if let Some(child) = child {
                if self.from::<FOLD>(child, pos + child.prefix.len()) {
                    return true;
                }
                self.params.truncate(depth);
            }
            let end = self.segment_end(pos);
            for (suffix, target) in &node.suffixes {
                let value_end = end.saturating_sub(suffix.len());
                if value_end > pos && same::<FOLD>(&self.path[value_end..end], suffix) {
                    self.params.push(pos, value_end);
                    if self.from::<FOLD>(&tree.nodes[*target as usize], end) {
                        return true;
                    }
                    self.params.truncate(depth);
                }
            }
            if node.param != NONE && end > pos {
                let param = &tree.nodes[node.param as usize];
                self.params.push(pos, end);
                if node.wildcard == NONE {
                    node = param;
                    pos = end;
                    continue;
                }
                if self.from::<FOLD>(param, end) {
                    return true;
                }
                self.params.truncate(depth);
            }
            if node.wildcard == NONE {
                return false;
            }
            self.params.push(pos, self.path.len());
            return (self.accept)(node.wildcard);
        }
    }

    /// Whether the walk goes to a child that was found by its first byte.
    #[inline]
    fn enters<const FOLD: bool>(&self, child: &Node, pos: usize) -> bool {
        let len = child.prefix.len();
        child.methods.meets(self.methods)
            && (len == 1
                || self
                    .path
                    .get(pos..pos + len)
                    .is_some_and(|text| same::<FOLD>(text, &child.prefix)))
    }

    #[inline]
    fn segment_end(&self, pos: usize) -> usize {
        let mut rest = self.path[pos..].iter();
        rest.position(|&byte| byte == b'/')
            .map_or(self.path.len(), |len| pos + len)
    }
}

#[inline]
fn same<const FOLD: bool>(text: &[u8], pattern: &[u8]) -> bool {
    if FOLD {
        text.eq_ignore_ascii_case(pattern)
    } else {
        text == pattern
    }
}
