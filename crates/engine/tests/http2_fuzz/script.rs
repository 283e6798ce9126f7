//! Writes the bytes of the clients of the fuzz test: requests, bodies, resets and windows. The frames are valid before
//! some of them are changed.

use mutants::Random;

use super::driver::http2::{
    ACK, CONTINUATION, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, PING, PREFACE, block,
    data, frame, headers, reset, settings, window_update,
};

/// The bytes that a client sends, and the windows that it gives the server.
pub struct Script {
    pub bytes: Vec<u8>,
    /// The windows of the connection and of each stream, if nothing was changed. Then all frames are valid.
    pub windows: Option<Windows>,
}

pub struct Windows {
    pub connection: u64,
    /// The largest window that any stream had.
    pub stream: u64,
}

const REQUESTS: [(&str, &str); 10] = [
    ("GET", "/a"),
    ("GET", "/p/value%20x?q=1"),
    ("HEAD", "/a"),
    ("POST", "/b"),
    ("POST", "/b"),
    ("POST", "/s"),
    ("POST", "/s"),
    ("POST", "/late"),
    ("POST", "/nowhere"),
    ("OPTIONS", "/a"),
];

/// A body of which a part was sent.
struct Upload {
    id: u32,
    left: usize,
}

pub fn script(random: &mut Random) -> Script {
    let initial = [0, 10, 65_535, 1 << 20][random.below(4)];
    let mut bytes = PREFACE.to_vec();
    bytes.extend(settings(&[(INITIAL_WINDOW_SIZE, initial)]));
    let mut windows = Windows {
        connection: 65_535,
        stream: u64::from(initial),
    };
    let mut uploads: Vec<Upload> = Vec::new();
    let mut next = 1;
    for _ in 0..=random.below(30) {
        let open = (next > 1).then(|| 1 + 2 * random.below((next / 2) as usize) as u32);
        match random.below(12) {
            0..=4 => {
                let (method, path) = REQUESTS[random.below(REQUESTS.len())];
                request(&mut bytes, random, next, method, path, &mut uploads);
                next += 2;
            }
            5..=7 => {
                if let Some(upload) = uploads.last_mut() {
                    send_body(&mut bytes, random, upload);
                }
                uploads.retain(|upload| upload.left > 0);
                if random.chance(2) && !uploads.is_empty() {
                    uploads.rotate_left(1);
                }
            }
            8 => {
                if let Some(id) = open {
                    uploads.retain(|upload| upload.id != id);
                    bytes.extend(reset(id, 8));
                }
            }
            9 => {
                if let Some(id) = open {
                    let more = 1 + random.below(40_000) as u32;
                    windows.stream += u64::from(more);
                    bytes.extend(window_update(id, more));
                }
            }
            10 => {
                let more = 1 + random.below(200_000) as u32;
                windows.connection += u64::from(more);
                bytes.extend(window_update(0, more));
            }
            _ => bytes.extend(frame(PING, u8::from(random.chance(8)) * ACK, 0, &[7; 8])),
        }
    }
    for upload in &mut uploads {
        let is_left = random.chance(3);
        while upload.left > 0 && !is_left {
            send_body(&mut bytes, random, upload);
        }
    }
    if !random.chance(2) {
        return Script {
            bytes,
            windows: Some(windows),
        };
    }
    change(&mut bytes, random);
    Script {
        bytes,
        windows: None,
    }
}

fn request(
    bytes: &mut Vec<u8>,
    random: &mut Random,
    id: u32,
    method: &str,
    path: &str,
    uploads: &mut Vec<Upload>,
) {
    let length = random.below(30_000).to_string();
    let mut fields = vec![("x-a", "1"), ("priority", "u=1, i")];
    let posts = method == "POST";
    let declared = posts && random.chance(3);
    if declared {
        fields.push(("content-length", &length));
    }
    if posts && random.chance(5) {
        fields.push(("expect", "100-continue"));
    }
    let whole = block(method, path, &fields);
    if random.chance(5) {
        let (first, rest) = whole.split_at(random.below(whole.len()));
        let flags = if posts { 0 } else { END_STREAM };
        bytes.extend(frame(HEADERS, flags, id, first));
        bytes.extend(frame(CONTINUATION, END_HEADERS, id, rest));
    } else {
        bytes.extend(headers(id, &whole, !posts));
    }
    if posts {
        let left = if declared {
            length.parse().unwrap()
        } else {
            random.below(30_000)
        };
        if left == 0 {
            bytes.extend(data(id, b"", true));
        } else {
            uploads.push(Upload { id, left });
        }
    }
}

fn send_body(bytes: &mut Vec<u8>, random: &mut Random, upload: &mut Upload) {
    let length = upload.left.min(1 + random.below(16_384));
    upload.left -= length;
    let ends = upload.left == 0;
    let trailers = ends && random.chance(4);
    bytes.extend(data(upload.id, &vec![b'd'; length], ends && !trailers));
    if trailers {
        let mut fields = Vec::new();
        h2::hpack::encode::field(&mut fields, b"x-sum", b"1");
        bytes.extend(headers(upload.id, &fields, true));
    }
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes[at] = random.next() as u8,
            1 => drop(bytes.drain(at..(at + random.below(20)).min(bytes.len()))),
            2 => bytes.insert(at, random.below(12) as u8),
            3 => {
                let part = bytes[at..(at + random.below(60)).min(bytes.len())].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            _ => bytes.truncate(at),
        }
    }
}
