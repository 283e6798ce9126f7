//! Blocks of trailer fields, as JavaScript reads and writes them (`crates/ring/layout.json`): each field has a name
//! length and a value length of 16 bits, the name and the value.

use ring::HeaderBlock;
use wire::reply::{valid_name, valid_value};
use wire::trailers::allowed;

/// Packs the fields of a request that may be trailers. It allocates only if there are any.
pub fn pack<'a>(fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Box<[u8]> {
    let mut block = Vec::new();
    for (name, value) in fields.filter(|(name, _)| allowed(name)) {
        let (Ok(name_length), Ok(value_length)) =
            (u16::try_from(name.len()), u16::try_from(value.len()))
        else {
            continue;
        };
        block.extend_from_slice(&name_length.to_le_bytes());
        block.extend_from_slice(&value_length.to_le_bytes());
        block.extend_from_slice(name);
        block.extend_from_slice(value);
    }
    block.into_boxed_slice()
}

/// Gives the fields of a reply that may be sent as trailers. The framework has checked all of them; one that could
/// break the framing, or be taken for a field of the head, is left out nevertheless.
pub fn sendable(block: HeaderBlock<'_>) -> impl Iterator<Item = (&[u8], &[u8])> {
    block
        .flatten()
        .filter(|(name, value)| valid_name(name) && valid_value(value) && allowed(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Fields = [(&'static [u8], &'static [u8])];

    fn through(fields: &Fields) -> Vec<(Vec<u8>, Vec<u8>)> {
        let block = pack(fields.iter().copied());
        sendable(HeaderBlock::new(&block))
            .map(|(name, value)| (name.to_vec(), value.to_vec()))
            .collect()
    }

    #[test]
    fn allowed_fields_come_back_as_packed() {
        let given: &Fields = &[
            (b"Grpc-Status", b"0"),
            (b"content-length", b"5"),
            (b"x-empty", b""),
            (b"Set-Cookie", b"a=b"),
        ];
        let expected = [
            (b"Grpc-Status".to_vec(), b"0".to_vec()),
            (b"x-empty".to_vec(), b"".to_vec()),
        ];
        assert_eq!(through(given), expected);
        assert!(pack([].into_iter()).is_empty());
    }

    #[test]
    fn what_could_break_the_framing_is_left_out() {
        let given: &Fields = &[
            (b"a\r\nb", b"1"),
            (b"", b"1"),
            (b"x", b"1\r\n\r\nHTTP/1.1 200 OK"),
            (b"y", b"\x00"),
        ];
        assert_eq!(through(given), []);
        let block = pack([(&b"name"[..], &b"value"[..])].into_iter());
        for cut in 0..block.len() {
            assert_eq!(sendable(HeaderBlock::new(&block[..cut])).count(), 0);
        }
    }
}
