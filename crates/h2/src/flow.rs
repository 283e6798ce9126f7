//! Flow control (RFC 9113 §5.2, §6.9): the windows for sending, and the credit of the client.

/// The largest window (RFC 9113 §6.9.1).
pub(crate) const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The number of bytes that may be sent. It is negative after the client made windows smaller (RFC 9113 §6.9.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window(i32);

/// The window would exceed 2^31 − 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Overflow;

impl Window {
    /// Makes a window. `size` is at most [`MAX_WINDOW`].
    pub fn new(size: u32) -> Self {
        Self(size as i32)
    }

    pub fn grow(&mut self, by: u32) -> Result<(), Overflow> {
        self.shift(i64::from(by))
    }

    pub fn shift(&mut self, by: i64) -> Result<(), Overflow> {
        self.0 = i32::try_from(i64::from(self.0) + by).map_err(|_| Overflow)?;
        Ok(())
    }

    /// Gives the number of bytes that may be sent now.
    #[inline]
    pub fn allows(self) -> u32 {
        self.0.max(0) as u32
    }

    /// Takes sent bytes off the window. `bytes` is at most what it allows.
    pub fn spend(&mut self, bytes: u32) {
        self.0 -= bytes as i32;
    }
}

/// Bytes that the client may send now, bytes that are not consumed yet, and bytes that are consumed but not announced
/// yet. Their sum is `size`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Credit {
    now: u32,
    returned: u32,
    size: u32,
}

impl Credit {
    pub fn new(size: u32) -> Self {
        Self {
            now: size,
            returned: 0,
            size,
        }
    }

    /// Takes the bytes that the client has sent. Returns true when it was allowed to send them.
    #[inline]
    pub fn spend(&mut self, bytes: u32) -> bool {
        let left = self.now.checked_sub(bytes);
        self.now = left.unwrap_or(self.now);
        left.is_some()
    }

    /// Takes back consumed bytes. Gives the increment to announce once they are half of the size.
    #[inline]
    pub fn give_back(&mut self, bytes: u32) -> Option<u32> {
        self.returned += bytes;
        debug_assert!(self.now + self.returned <= self.size);
        if self.returned < self.size.div_ceil(2) {
            return None;
        }
        let increment = std::mem::take(&mut self.returned);
        self.now += increment;
        Some(increment)
    }

    /// Gives the number of bytes that are not consumed yet.
    pub fn held(self) -> u32 {
        self.size - self.now - self.returned
    }
}

#[cfg(test)]
mod tests {
    use super::{Credit, MAX_WINDOW, Overflow, Window};

    #[test]
    fn a_window_goes_below_zero_and_not_past_its_largest() {
        let mut window = Window::new(10);
        window.spend(10);
        assert_eq!(window.shift(-10), Ok(()));
        assert_eq!((window, window.allows()), (Window(-10), 0));
        assert_eq!(window.grow(11), Ok(()));
        assert_eq!(window.allows(), 1);
        assert_eq!(window.grow(MAX_WINDOW), Err(Overflow));
        assert_eq!(window.grow(MAX_WINDOW - 1), Ok(()));
        assert_eq!(window.allows(), MAX_WINDOW);
    }

    #[test]
    fn credit_is_announced_by_halves() {
        let mut credit = Credit::new(100);
        assert!(credit.spend(100) && !credit.spend(1) && credit.spend(0));
        assert_eq!(credit.held(), 100);
        assert_eq!(credit.give_back(49), None);
        assert_eq!(credit.held(), 51);
        assert_eq!(credit.give_back(1), Some(50));
        assert_eq!(credit.give_back(50), Some(50));
        assert_eq!(credit, Credit::new(100));
    }
}
