use super::huffman;
use super::table::{Name, Table, Text, static_name};

/// Decodes the field blocks of one connection (RFC 7541 §3). It uses at most three times the size of its dynamic table.
pub struct Decoder {
    table: Table,
}

/// A decoded field. Only the encoding of RFC 7541 was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
    /// The first index of this exact name in the static table (Appendix A), for any encoding of the name; 0 if the
    /// table does not have it.
    pub name_index: u8,
    /// True if it was sent as a never-indexed literal (§6.2.3).
    pub sensitive: bool,
}

/// The reason why a block cannot be decoded. Each is a `COMPRESSION_ERROR` of the connection (RFC 9113 §4.3), because
/// the dynamic tables of both sides then differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The block ends inside a field.
    Truncated,
    /// An integer has more than four bytes behind its prefix (RFC 7541 §5.1).
    Integer,
    /// No field has this index (§2.3.3).
    Index,
    /// A string violates the Huffman coding of §5.2.
    Huffman,
    /// A size update is larger than the setting, is not at the start of the block, or is the third (§4.2).
    SizeUpdate,
}

/// An encoder sends at most two size updates: the smallest size since its last block, and the last size (§4.2).
const MOST_SIZE_UPDATES: u32 = 2;

impl Decoder {
    /// Makes a decoder. `max_table_size` is the announced `SETTINGS_HEADER_TABLE_SIZE` in bytes, 4,096 by default.
    pub fn new(max_table_size: usize) -> Self {
        Self {
            table: Table::new(max_table_size),
        }
    }

    /// Decodes a whole block, and gives each field to `field` in order. `field` cannot stop it, because the tables of
    /// both sides must stay equal. After an error the decoder must not be used again.
    pub fn decode(&mut self, block: &[u8], field: &mut impl FnMut(Field<'_>)) -> Result<(), Error> {
        let decoded = self.fields(block, field);
        self.table.shrink();
        decoded
    }

    /// Gives the bytes of memory that the decoder takes beside itself.
    pub fn memory(&self) -> usize {
        self.table.memory()
    }

    fn fields(&mut self, block: &[u8], field: &mut impl FnMut(Field<'_>)) -> Result<(), Error> {
        let mut rest = self.size_updates(block)?;
        while let Some((&first, after)) = rest.split_first() {
            rest = match first {
                0x80.. => {
                    let (index, after) = integer(first, 7, after)?;
                    field(self.table.get(index)?);
                    after
                }
                0x40..0x80 => self.literal(first, 6, after, field)?,
                0x20..0x40 => return Err(Error::SizeUpdate),
                0x00..0x20 => self.literal(first, 4, after, field)?,
            };
        }
        Ok(())
    }

    /// Reads the size updates at the start of a block (§6.3), and gives the rest of the block.
    fn size_updates<'b>(&mut self, block: &'b [u8]) -> Result<&'b [u8], Error> {
        let mut rest = block;
        let mut count = 0;
        while let Some((&first @ 0x20..0x40, after)) = rest.split_first() {
            count += 1;
            if count > MOST_SIZE_UPDATES {
                return Err(Error::SizeUpdate);
            }
            let (size, after) = integer(first, 5, after)?;
            self.table.resize(size as usize)?;
            rest = after;
        }
        Ok(rest)
    }

    /// Reads a literal field (§6.2). Fields with a prefix of six bits are added to the table.
    fn literal<'b>(
        &mut self,
        first: u8,
        prefix: u32,
        after: &'b [u8],
        field: &mut impl FnMut(Field<'_>),
    ) -> Result<&'b [u8], Error> {
        let start = self.table.begin();
        let (index, after) = integer(first, prefix, after)?;
        let (name, after) = match index {
            0 => {
                let (text, after) = self.string(after)?;
                let index = exact_static_name(self.table.text(&text));
                (Name { text, index }, after)
            }
            _ => (self.table.name(index)?, after),
        };
        let (value, after) = self.string(after)?;
        let is_added = prefix == 6;
        field(Field {
            name: self.table.text(&name.text),
            value: self.table.text(&value),
            name_index: name.index,
            sensitive: !is_added && first & 0x10 != 0,
        });
        if is_added {
            self.table.insert(&name, &value, start);
        } else {
            self.table.end(start);
        }
        Ok(after)
    }

    /// Reads a string (§5.2). A Huffman-coded string is decoded to the end of the table's buffer.
    fn string<'b>(&mut self, input: &'b [u8]) -> Result<(Text<'b>, &'b [u8]), Error> {
        let (&first, after) = input.split_first().ok_or(Error::Truncated)?;
        let (length, after) = integer(first, 7, after)?;
        let (bytes, after) = after
            .split_at_checked(length as usize)
            .ok_or(Error::Truncated)?;
        if first & 0x80 == 0 {
            return Ok((Text::Slice(bytes), after));
        }
        let buffer = self.table.buffer();
        let start = buffer.len();
        huffman::decode(bytes, buffer)?;
        Ok((Text::Buffer(start..buffer.len()), after))
    }
}

/// Compares case-sensitively. HTTP/2 does not allow a name with capital letters, and the caller has to reject it.
fn exact_static_name(name: &[u8]) -> u8 {
    if name.iter().any(u8::is_ascii_uppercase) {
        0
    } else {
        static_name(name)
    }
}

/// Reads an integer (§5.1), whose prefix is the lower bits of `first`. At most four more bytes are read, so it is below
/// 2^29.
#[inline(always)]
fn integer(first: u8, prefix: u32, after: &[u8]) -> Result<(u32, &[u8]), Error> {
    let most = (1 << prefix) - 1;
    let value = u32::from(first) & most;
    if value < most {
        return Ok((value, after));
    }
    long_integer(value, after)
}

fn long_integer(prefix: u32, after: &[u8]) -> Result<(u32, &[u8]), Error> {
    let mut value = prefix;
    let mut rest = after;
    for shift in [0, 7, 14, 21] {
        let (&byte, after) = rest.split_first().ok_or(Error::Truncated)?;
        rest = after;
        value += u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok((value, rest));
        }
    }
    Err(Error::Integer)
}
