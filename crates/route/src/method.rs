//! Methods by index, as the table shared with the framework orders them.

/// Names of the usual methods by index; the order is that of `methods` in the Exchange contract.
pub const METHODS: [&str; 8] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
];

const GET: u32 = 1;
const HEAD: u32 = 1 << 1;
const OPTIONS: u32 = 1 << OPTIONS_INDEX;
pub(crate) const HEAD_INDEX: u8 = 1;
pub(crate) const OPTIONS_INDEX: u8 = 6;

/// A set of methods: bit = method index. Those from `METHODS.len()` on are registered by the app; what lies beyond the
/// bits is in no set, so that no route can have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodSet(pub u32);

impl MethodSet {
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, method: u8) -> bool {
        self.0 & Self::of(method).0 != 0
    }

    pub(crate) fn of(method: u8) -> Self {
        Self(1_u32.checked_shl(u32::from(method)).unwrap_or(0))
    }

    /// The methods whose routes may serve `method`: GET's serve HEAD too (RFC 9110 §9.3.2).
    pub(crate) fn serving(method: u8) -> Self {
        if method == HEAD_INDEX {
            Self(GET | HEAD)
        } else {
            Self::of(method)
        }
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What Allow names for these routes: HEAD where there is GET, and OPTIONS, which every known path answers.
    pub(crate) fn allowed(self) -> Self {
        let head = if self.0 & GET != 0 { HEAD } else { 0 };
        Self(self.0 | head | OPTIONS)
    }
}
