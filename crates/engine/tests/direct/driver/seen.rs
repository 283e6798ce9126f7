//! What JavaScript reads: the descriptors of a page.

use ring::Memory;
use ring::layout::{REQUEST_WORDS, kind, request};

/// A descriptor as JavaScript would see it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub words: [i32; REQUEST_WORDS],
    pub path: String,
    pub head: Vec<u8>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn kind(&self) -> i32 {
        self.words[request::KIND] & 0xff
    }

    pub fn slot(&self) -> i32 {
        self.words[request::SLOT]
    }

    pub fn generation(&self) -> i32 {
        self.words[request::GENERATION]
    }

    pub fn route(&self) -> i32 {
        self.words[request::ROUTE]
    }
}

pub fn read(memory: &mut Memory, page: ring::Page, index: usize, bodies: &[Vec<u8>]) -> Seen {
    let start = page.arena_offset();
    let parts = memory.page(page);
    let mut words = [0; REQUEST_WORDS];
    words.copy_from_slice(&parts.requests[index * REQUEST_WORDS..(index + 1) * REQUEST_WORDS]);
    let slice = |offset: i32, length: i32| {
        let from = offset as usize - start;
        parts.arena[from..from + length as usize].to_vec()
    };
    let kind = words[request::KIND] & 0xff;
    let flags = words[request::KIND] >> 16;
    let (path, head) = if kind == kind::REQUEST {
        (
            slice(words[request::PATH_OFFSET], words[request::PATH_LENGTH]),
            slice(words[request::HEAD_OFFSET], words[request::HEAD_LENGTH]),
        )
    } else {
        Default::default()
    };
    let path = String::from_utf8(path).unwrap();
    let length = words[request::BODY_LENGTH];
    let complete = kind == kind::REQUEST && flags & ring::layout::flag::BODY_COMPLETE != 0;
    let whole = complete || matches!(kind, kind::MESSAGE | kind::CLOSED_SOCKET | kind::BODY_END);
    let body = if whole && words[request::BODY_OFFSET] < 0 {
        bodies[(-1 - words[request::BODY_OFFSET]) as usize].clone()
    } else if complete || matches!(kind, kind::CHUNK | kind::MESSAGE) {
        slice(words[request::BODY_OFFSET], length)
    } else {
        Vec::new()
    };
    Seen {
        words,
        path,
        head,
        body,
    }
}
