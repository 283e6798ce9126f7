//! Writes descriptors into the page, and the spans of requests.

use std::net::{IpAddr, SocketAddr};

use reactor::net::Peer;
use ring::Memory;
use ring::layout::{
    FIELD_SPAN_WORDS, PARAMETER_SPAN_WORDS, PEER_WORDS, REQUEST_WORDS, kind, request,
};
use route::Params;
use wire::Head;

use super::{DispatchedBody, Notice, Routed, Slice};
use crate::connection::Connection;
use crate::exchange::Identity;

impl Slice {
    fn descriptor<'a>(&mut self, memory: &'a mut Memory) -> &'a mut [i32] {
        let start = self.count * REQUEST_WORDS;
        self.count += 1;
        &mut memory.page(self.page()).requests[start..start + REQUEST_WORDS]
    }

    pub(super) fn write_notice(&mut self, memory: &mut Memory, notice: &Notice) {
        let place = if notice.bytes.is_empty() {
            notice.detail
        } else {
            self.bodies.push(notice.bytes.to_vec());
            -(self.bodies.len() as i32)
        };
        let words = self.descriptor(memory);
        words[request::SLOT] = notice.about.slot.0 as i32;
        words[request::GENERATION] = notice.about.generation as i32;
        words[request::KIND] = notice.kind;
        words[request::BODY_OFFSET] = place;
        words[request::SERVER] = i32::from(notice.about.server);
        if matches!(notice.kind, kind::CLOSED_SOCKET | kind::BODY_END) {
            words[request::BODY_LENGTH] = notice.bytes.len() as i32;
            words[request::ALLOW] = notice.value;
        } else {
            words[request::BODY_LENGTH] = notice.value;
        }
    }

    /// Writes the descriptor of a message.
    pub fn write_message(
        &mut self,
        memory: &mut Memory,
        about: Identity,
        body: DispatchedBody,
        flags: i32,
    ) {
        let base = self.page().arena_offset();
        let (offset, length) = match body {
            DispatchedBody::Inline(offset, length) => ((base + offset) as i32, length),
            DispatchedBody::Listed(index, length) => (-1 - index as i32, length),
            DispatchedBody::None | DispatchedBody::Stream(_) => (0, 0),
        };
        let words = self.descriptor(memory);
        words[request::SLOT] = about.slot.0 as i32;
        words[request::GENERATION] = about.generation as i32;
        words[request::KIND] = kind::MESSAGE | flags << 16;
        words[request::BODY_OFFSET] = offset;
        words[request::BODY_LENGTH] = length as i32;
    }

    /// Writes the descriptor of a part of a streamed body, which stays where it is in the arena.
    pub fn write_chunk(
        &mut self,
        memory: &mut Memory,
        about: Identity,
        offset: usize,
        length: usize,
    ) {
        let base = self.page().arena_offset();
        let words = self.descriptor(memory);
        words[request::SLOT] = about.slot.0 as i32;
        words[request::GENERATION] = about.generation as i32;
        words[request::KIND] = kind::CHUNK;
        words[request::BODY_OFFSET] = (base + offset) as i32;
        words[request::BODY_LENGTH] = length as i32;
    }

    /// Replaces the descriptor of a request that JavaScript has not seen by the end of its exchange, so that no handler
    /// is called. Returns true when the descriptor was in this slice.
    pub fn withdraw(&mut self, memory: &mut Memory, about: Identity, reason: i32) -> bool {
        let written = self.count * REQUEST_WORDS;
        let words = &mut memory.page(self.page()).requests[..written];
        let mut descriptors = words.chunks_exact_mut(REQUEST_WORDS);
        let found = descriptors.find(|words| {
            words[request::KIND] & 0xff == kind::REQUEST
                && words[request::SLOT] == about.slot.0 as i32
                && words[request::GENERATION] == about.generation as i32
        });
        if let Some(words) = found {
            // JavaScript ignores an `abort` of an exchange that it does not know.
            words[request::KIND] = kind::ABORT;
            words[request::BODY_OFFSET] = 0;
            words[request::BODY_LENGTH] = reason;
            return true;
        }
        false
    }

    /// Writes the descriptor of a request whose head starts at `at` in the arena.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "one place writes the descriptor's sixteen words"
    )]
    pub fn write_request(
        &mut self,
        memory: &mut Memory,
        about: Identity,
        at: usize,
        head: &Head,
        routed: &Routed,
        params: &Params,
        body: DispatchedBody,
        connection: &Connection,
    ) {
        let page = self.page();
        let base = (page.arena_offset() + at) as i32;
        let count = self.count;
        self.count += 1;
        let first = self.spans;
        let parts = memory.page(page);

        let spans = &mut parts.spans[first..];
        let (param_spans, rest) = spans.split_at_mut(params.len() * PARAMETER_SPAN_WORDS);
        let path = (page.arena_offset() + routed.path) as i32;
        for (index, words) in param_spans
            .chunks_exact_mut(PARAMETER_SPAN_WORDS)
            .enumerate()
        {
            if let Some((start, length)) = params.get(index) {
                words[0] = path + start as i32;
                words[1] = length as i32;
            } else {
                words[0] = 0;
                words[1] = -1;
            }
        }
        let (field_spans, rest) = rest.split_at_mut(head.fields.len() * FIELD_SPAN_WORDS);
        for (words, field) in field_spans
            .chunks_exact_mut(FIELD_SPAN_WORDS)
            .zip(&head.fields)
        {
            words[0] = base + field.name.start as i32;
            words[1] = field.name.len as i32 | (field.known as i32) << 16;
            words[2] = base + field.value.start as i32;
            words[3] = field.value.len as i32;
        }
        write_peer(&mut rest[..PEER_WORDS], &connection.peer);
        self.spans = first
            + params.len() * PARAMETER_SPAN_WORDS
            + head.fields.len() * FIELD_SPAN_WORDS
            + PEER_WORDS;

        let mut flags = match head.version {
            wire::Version::Http11 => 0,
            wire::Version::Http10 => ring::layout::flag::HTTP10,
            wire::Version::Http2 => ring::layout::flag::HTTP2,
        };
        if connection.transport.is_encrypted() {
            flags |= ring::layout::flag::ENCRYPTED;
        }
        // An authority stands in front of the path.
        if head.path.start != head.target.start {
            flags |= ring::layout::flag::OTHER_TARGET;
        }
        let (body_offset, body_length) = match body {
            DispatchedBody::None => (0, 0),
            DispatchedBody::Inline(offset, length) => {
                flags |= ring::layout::flag::BODY_COMPLETE;
                ((page.arena_offset() + offset) as i32, length as i32)
            }
            DispatchedBody::Listed(index, length) => {
                flags |= ring::layout::flag::BODY_COMPLETE;
                (-1 - index as i32, length as i32)
            }
            DispatchedBody::Stream(length) => {
                flags |= ring::layout::flag::BODY_STREAM;
                let length = length.and_then(|length| i32::try_from(length).ok());
                (0, length.unwrap_or(-1))
            }
        };
        let query = head.query.unwrap_or_default();
        let words = &mut parts.requests[count * REQUEST_WORDS..(count + 1) * REQUEST_WORDS];
        words[request::SLOT] = about.slot.0 as i32;
        words[request::GENERATION] = about.generation as i32;
        words[request::ROUTE] = routed.route;
        words[request::KIND] = kind::REQUEST | i32::from(head.method.index()) << 8 | flags << 16;
        words[request::HEAD_OFFSET] = base;
        words[request::HEAD_LENGTH] = head.len as i32;
        words[request::PATH_OFFSET] = path;
        words[request::PATH_LENGTH] = routed.path_length as i32;
        words[request::QUERY_OFFSET] = base + query.start as i32;
        words[request::QUERY_LENGTH] = query.len as i32;
        words[request::SPANS] = (page.spans_offset() + first) as i32;
        words[request::COUNTS] = params.len() as i32 | (head.fields.len() as i32) << 8;
        words[request::BODY_OFFSET] = body_offset;
        words[request::BODY_LENGTH] = body_length;
        words[request::ALLOW] = routed.allow;
        words[request::SERVER] = i32::from(about.server);
    }
}

fn write_peer(words: &mut [i32], peer: &Peer) {
    words.fill(0);
    let Peer::Tcp(address) = peer else {
        return;
    };
    let ip = match address {
        SocketAddr::V4(address) => IpAddr::V4(*address.ip()),
        SocketAddr::V6(address) => address.ip().to_canonical(),
    };
    match ip {
        IpAddr::V4(ip) => {
            words[0] = 4;
            words[1] = i32::from_be_bytes(ip.octets());
        }
        IpAddr::V6(ip) => {
            words[0] = 6;
            for (word, bytes) in words[1..].iter_mut().zip(ip.octets().chunks_exact(4)) {
                *word = i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
    }
}
