//! A decoder that follows the text of RFC 7541 in the simplest way. Tests compare the real decoder with it.

use std::collections::VecDeque;

use h2::hpack::{Decoder, Error};

use super::code;

pub struct Literal {
    /// The dynamic table; the newest field is first.
    pub table: VecDeque<(Vec<u8>, Vec<u8>)>,
    pub statics: Vec<(Vec<u8>, Vec<u8>)>,
    most: usize,
    limit: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    pub name: Vec<u8>,
    pub value: Vec<u8>,
    pub name_index: u8,
    pub sensitive: bool,
}

impl Literal {
    pub fn new(limit: usize) -> Self {
        // The static table is that of the real decoder. Other tests compare it with other decoders.
        let statics = (1..=61).map(|index| {
            let mut found = None;
            let field = &mut |field: h2::hpack::Field| {
                found = Some((field.name.to_vec(), field.value.to_vec()));
            };
            let decoded = Decoder::new(0).decode(&[0x80 | index], field);
            assert_eq!(decoded, Ok(()));
            found.expect("a field")
        });
        Self {
            table: VecDeque::new(),
            statics: statics.collect(),
            most: limit,
            limit,
        }
    }

    /// Gives the fields of a block, each with the offset of its end.
    pub fn decode(&mut self, block: &[u8]) -> Result<Vec<(Read, usize)>, Error> {
        let mut fields = Vec::new();
        let mut updates = 0;
        let mut input = Input { block, at: 0 };
        while let Some(&first) = block.get(input.at) {
            if first & 0x80 != 0 {
                let index = input.integer(7)?;
                let (name, value) = self.entry(index)?;
                fields.push((self.read(name, value, false), input.at));
                continue;
            }
            if first & 0xe0 == 0x20 {
                updates += 1;
                if !fields.is_empty() || updates > 2 {
                    return Err(Error::SizeUpdate);
                }
                let size = input.integer(5)? as usize;
                if size > self.limit {
                    return Err(Error::SizeUpdate);
                }
                self.most = size;
                self.evict();
                continue;
            }
            let is_added = first & 0x40 != 0;
            let index = input.integer(if is_added { 6 } else { 4 })?;
            let name = match index {
                0 => input.string()?,
                _ => self.entry(index)?.0,
            };
            let value = input.string()?;
            let is_sensitive = !is_added && first & 0x10 != 0;
            fields.push((
                self.read(name.clone(), value.clone(), is_sensitive),
                input.at,
            ));
            if is_added {
                self.table.push_front((name, value));
                self.evict();
            }
        }
        Ok(fields)
    }

    fn read(&self, name: Vec<u8>, value: Vec<u8>, sensitive: bool) -> Read {
        let index = self.statics.iter().position(|(known, _)| *known == name);
        Read {
            name,
            value,
            name_index: index.map_or(0, |index| index as u8 + 1),
            sensitive,
        }
    }

    fn entry(&self, index: u64) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let at = (index as usize).checked_sub(1).ok_or(Error::Index)?;
        let entry = self.statics.iter().chain(&self.table).nth(at);
        entry.cloned().ok_or(Error::Index)
    }

    fn evict(&mut self) {
        let size = |(name, value): &(Vec<u8>, Vec<u8>)| name.len() + value.len() + 32;
        while self.table.iter().map(size).sum::<usize>() > self.most {
            self.table.pop_back();
        }
    }
}

struct Input<'a> {
    block: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.block.get(self.at).copied();
        self.at += 1;
        byte.ok_or(Error::Truncated)
    }

    /// Follows the pseudocode of §5.1, except that it limits the number of bytes.
    fn integer(&mut self, prefix: u32) -> Result<u64, Error> {
        let most = (1 << prefix) - 1;
        let mut value = u64::from(self.byte()?) & most;
        if value < most {
            return Ok(value);
        }
        for count in 0..4 {
            let byte = self.byte()?;
            value += u64::from(byte & 127) * 2_u64.pow(7 * count);
            if byte & 128 == 0 {
                return Ok(value);
            }
        }
        Err(Error::Integer)
    }

    fn string(&mut self) -> Result<Vec<u8>, Error> {
        let is_coded = self.block.get(self.at).is_some_and(|byte| byte & 0x80 != 0);
        let length = self.integer(7)? as usize;
        let bytes = self.block.get(self.at..self.at + length);
        let bytes = bytes.ok_or(Error::Truncated)?;
        self.at += length;
        if is_coded {
            code::decode(bytes).ok_or(Error::Huffman)
        } else {
            Ok(bytes.to_vec())
        }
    }
}
