//! Bounds the frames of a client that cost it little. Each kind has a bucket of tokens that fills with time, or with
//! useful frames of the client. A client that empties a bucket loses its connection (`ENHANCE_YOUR_CALM`, RFC 9113
//! §10.5).

use crate::Limits;

/// A kind of frame that has a bucket of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Charge {
    /// A stream was reset by the client, or by the session because of an error of the client (CVE-2023-44487,
    /// CVE-2025-8671).
    Reset,
    /// A stream above the limit, or after GOAWAY.
    RefusedStream,
    /// 32 settings, or fewer of one frame.
    Settings,
    Ping,
    /// A frame without effect: an acknowledgement of nothing, DATA without data, or a frame of a closed stream.
    Invalid,
    WindowUpdate,
    /// PRIORITY, `PRIORITY_UPDATE`, or a frame of an unknown type.
    Ignored,
}

/// A client has emptied a bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exhausted;

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: u32,
    most: u32,
    a_second: u32,
    /// The time when it was filled last, in milliseconds.
    filled: u64,
}

impl Bucket {
    fn new(most: u32, a_second: u32, now_ms: u64) -> Self {
        Self {
            tokens: most,
            most,
            a_second,
            filled: now_ms,
        }
    }

    #[inline]
    fn take(&mut self, tokens: u32, now_ms: u64) -> Result<(), Exhausted> {
        if self.tokens < tokens {
            self.fill(now_ms);
        }
        self.tokens = self.tokens.checked_sub(tokens).ok_or(Exhausted)?;
        Ok(())
    }

    /// Adds tokens for the time that has passed. Only this function uses the time, so the usual path needs no clock. A
    /// fraction of a token is kept.
    fn fill(&mut self, now_ms: u64) {
        let rate = u64::from(self.a_second);
        let gained = now_ms.saturating_sub(self.filled).saturating_mul(rate) / 1_000;
        if gained > 0 {
            self.filled = if gained >= u64::from(self.most) {
                now_ms
            } else {
                self.filled + gained * 1_000 / rate
            };
            self.earn(u32::try_from(gained).unwrap_or(u32::MAX));
        }
    }

    #[inline]
    fn earn(&mut self, tokens: u32) {
        self.tokens = self.tokens.saturating_add(tokens).min(self.most);
    }
}

/// The number of settings in one frame that cost one token. Clients send fewer than ten.
pub(crate) const SETTINGS_A_TOKEN: usize = 32;
/// A DATA frame shorter than this costs the difference (h2 0.4.16).
const SMALL_DATA: u32 = 256;
/// The most bytes that small DATA frames may be short in all, before their data is consumed.
const MOST_SHORT: u32 = 512 * 1_024;
/// Beyond this many bytes, DATA and HEADERS frames must carry at least an eighth of all received bytes (nginx).
const FREE_BYTES: u64 = 1_048_576;
const USEFUL_SHARE: u64 = 8;

#[derive(Debug)]
pub(crate) struct Budget {
    resets: Bucket,
    refused: Bucket,
    settings: Bucket,
    pings: Bucket,
    invalid: Bucket,
    window_updates: Bucket,
    ignored: Bucket,
    short_data: Bucket,
    received: u64,
    useful: u64,
}

impl Budget {
    pub fn new(limits: &Limits, now_ms: u64) -> Self {
        let bucket = |most, a_second| Bucket::new(most, a_second, now_ms);
        Self {
            resets: bucket(limits.max_resets, 33),
            // A client that has not read the limit yet may open many streams at once.
            refused: bucket(limits.max_streams.max(100), 10),
            settings: bucket(10, 1),
            pings: bucket(10, 10),
            invalid: bucket(100, 10),
            window_updates: bucket(1_000, 100),
            ignored: bucket(200, 33),
            short_data: bucket(MOST_SHORT, SMALL_DATA * 100),
            received: 0,
            useful: 0,
        }
    }

    #[inline]
    pub fn charge(&mut self, what: Charge, now_ms: u64) -> Result<(), Exhausted> {
        let bucket = match what {
            Charge::Reset => &mut self.resets,
            Charge::RefusedStream => &mut self.refused,
            Charge::Settings => &mut self.settings,
            Charge::Ping => &mut self.pings,
            Charge::Invalid => &mut self.invalid,
            Charge::WindowUpdate => &mut self.window_updates,
            Charge::Ignored => &mut self.ignored,
        };
        bucket.take(1, now_ms)
    }

    /// Charges a DATA frame for being small, and gives the cost. [`Self::taken`] returns it when the data is consumed.
    #[inline]
    pub fn data(&mut self, length: u32, now_ms: u64) -> Result<u32, Exhausted> {
        let short = SMALL_DATA.saturating_sub(length);
        self.short_data.earn(length.saturating_sub(SMALL_DATA));
        self.short_data.take(short, now_ms)?;
        Ok(short)
    }

    #[inline]
    pub fn taken(&mut self, short: u32) {
        self.short_data.earn(short);
    }

    /// Counts an opened request: clients send `WINDOW_UPDATE` and PRIORITY for a stream when they open it.
    #[inline]
    pub fn opened(&mut self) {
        self.window_updates.earn(4);
        self.ignored.earn(4);
    }

    /// Counts sent DATA: clients send `WINDOW_UPDATE` for as little as 1 KiB, and measure the connection with a PING
    /// for DATA that they receive (gRPC).
    #[inline]
    pub fn sent(&mut self, bytes: u32) {
        self.window_updates.earn(2 + bytes / 1_024);
        self.pings.earn(1);
        self.useful += u64::from(bytes);
    }

    /// Counts the bytes of bodies and field blocks.
    #[inline]
    pub fn useful(&mut self, bytes: usize) {
        self.useful += bytes as u64;
    }

    /// Counts received bytes of any kind.
    #[inline]
    pub fn received(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.received += bytes as u64;
        if self.received / USEFUL_SHARE > self.useful + FREE_BYTES {
            return Err(Exhausted);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Bucket, Exhausted};

    #[test]
    fn a_bucket_fills_with_time_up_to_its_most() {
        let mut bucket = Bucket::new(3, 2, 1_000);
        for _ in 0..3 {
            assert_eq!(bucket.take(1, 1_000), Ok(()));
        }
        assert_eq!(bucket.take(1, 1_499), Err(Exhausted));
        assert_eq!(bucket.take(1, 1_500), Ok(()));
        assert_eq!(bucket.take(1, 1_999), Err(Exhausted));
        assert_eq!(bucket.take(1, 2_000), Ok(()));
        assert_eq!(bucket.take(3, 1_000_000), Ok(()));
        assert_eq!(bucket.take(1, 1_000_000), Err(Exhausted));
    }

    #[test]
    fn a_clock_at_its_end_does_not_overflow() {
        let mut bucket = Bucket::new(1, 33, 0);
        assert_eq!(bucket.take(1, 0), Ok(()));
        assert_eq!(bucket.take(1, u64::MAX), Ok(()));
        assert_eq!(bucket.take(1, 5), Err(Exhausted));
    }
}
