const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Unmasks a payload that begins with the first byte of `mask` (RFC 6455 §5.3), and tells whether it is ASCII: the loop has
/// every byte in hand anyhow. It takes eight bytes at a time, which LLVM makes the widest registers of.
pub fn unmask(bytes: &mut [u8], mask: [u8; 4]) -> bool {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    let mut seen = 0;
    for word in words {
        let plain = u64::from_ne_bytes(*word) ^ wide;
        *word = plain.to_ne_bytes();
        seen |= plain;
    }
    let mut last = 0;
    for (byte, key) in rest.iter_mut().zip([a, b, c, d, a, b, c]) {
        *byte ^= key;
        last |= *byte;
    }
    (seen & HIGH_BITS == 0) & last.is_ascii()
}
