//! Any bytes as DEFLATE: a message within the limit, or a fault. A message that was compressed comes back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ws::{Deflater, Fault, Inflater, Limits, Receiver, Step};

fuzz_target!(|data: &[u8]| {
    if let Ok(message) = inflate(data, 10_000) {
        assert!(message.len() <= 10_000);
    }
    let mut deflated = Vec::new();
    Deflater::new().deflate(data, &mut deflated);
    assert_eq!(inflate(&deflated, data.len()).as_deref(), Ok(data));
});

fn inflate(deflated: &[u8], message: usize) -> Result<Vec<u8>, Fault> {
    let mut input = vec![0xc2, 0xff];
    match u16::try_from(deflated.len()) {
        Ok(length) if length < 126 => input[1] = 0x80 | length as u8,
        Ok(length) => {
            input[1] = 0xfe;
            input.extend(length.to_be_bytes());
        }
        Err(_) => input.extend((deflated.len() as u64).to_be_bytes()),
    }
    input.extend([0; 4]);
    input.extend(deflated);
    let limits = Limits {
        message,
        fragments: 1,
    };
    match Receiver::new(true).next(&mut input, &limits, Some(&mut Inflater::new()))? {
        Step::Gathered { data, .. } => Ok(data),
        step => panic!("{step:?}"),
    }
}
