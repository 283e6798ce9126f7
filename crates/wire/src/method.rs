/// A method by its index: the number in the layout shared with JavaScript, and the bit in `Allow` sets.
///
/// 0 to 7 are those every server has, from [`REGISTERED`](Self::REGISTERED) on come those that
/// [`Limits::methods`](crate::Limits) adds. TRACE and CONNECT lie beyond every set: no route can have them, since TRACE
/// echoes credentials and CONNECT is for proxies. They are parsed all the same, so that they get a 405 as any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Method(u8);

impl Method {
    pub const GET: Self = Self(0);
    pub const HEAD: Self = Self(1);
    pub const POST: Self = Self(2);
    pub const PUT: Self = Self(3);
    pub const PATCH: Self = Self(4);
    pub const DELETE: Self = Self(5);
    pub const OPTIONS: Self = Self(6);
    pub const QUERY: Self = Self(7);
    pub const TRACE: Self = Self(32);
    pub const CONNECT: Self = Self(33);

    /// The index of the first registered method.
    pub const REGISTERED: u8 = 8;
    /// Methods a server may register: as many as a set of 32 bits has left.
    pub const MOST_REGISTERED: usize = 24;
    /// Bytes of the longest method.
    pub const LONGEST: usize = 32;

    /// The method of this name, where `registered` are those beyond the usual. Names are case-sensitive (RFC 9110
    /// §9.1).
    #[inline]
    pub fn from_bytes(name: &[u8], registered: &[Box<[u8]>]) -> Option<Self> {
        Some(match name {
            b"GET" => Self::GET,
            b"HEAD" => Self::HEAD,
            b"POST" => Self::POST,
            b"PUT" => Self::PUT,
            b"PATCH" => Self::PATCH,
            b"DELETE" => Self::DELETE,
            b"OPTIONS" => Self::OPTIONS,
            b"QUERY" => Self::QUERY,
            _ => return Self::unusual(name, registered),
        })
    }

    #[cold]
    fn unusual(name: &[u8], registered: &[Box<[u8]>]) -> Option<Self> {
        match name {
            b"TRACE" => Some(Self::TRACE),
            b"CONNECT" => Some(Self::CONNECT),
            _ => registered
                .iter()
                .take(Self::MOST_REGISTERED)
                .position(|one| **one == *name)
                .map(|at| Self(Self::REGISTERED + at as u8)),
        }
    }

    #[inline]
    pub fn index(self) -> u8 {
        self.0
    }

    /// Whether several requests of this method may be in progress at once on one connection (RFC 9110 §9.2.1, RFC 9112
    /// §9.3.2). Registered methods never are: what they mean is known to their handlers alone.
    #[inline]
    pub fn is_safe(self) -> bool {
        matches!(self, Self::GET | Self::HEAD | Self::OPTIONS | Self::QUERY)
    }
}

#[cfg(test)]
mod tests {
    use super::Method;

    const USUAL: [&str; 8] = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
    ];

    fn boxed(names: &[&str]) -> Vec<Box<[u8]>> {
        names.iter().map(|name| name.as_bytes().into()).collect()
    }

    #[test]
    fn names_have_their_indexes() {
        for (index, name) in USUAL.into_iter().enumerate() {
            let method = Method::from_bytes(name.as_bytes(), &[]);
            assert_eq!(method.map(Method::index), Some(index as u8));
            let lower = name.to_lowercase();
            assert_eq!(Method::from_bytes(lower.as_bytes(), &[]), None);
        }
        assert_eq!(Method::from_bytes(b"TRACE", &[]), Some(Method::TRACE));
        assert_eq!(Method::from_bytes(b"CONNECT", &[]), Some(Method::CONNECT));
        for name in ["", "GETT", "GE", "PRI", "PURGE", "trace"] {
            assert_eq!(Method::from_bytes(name.as_bytes(), &[]), None, "{name}");
        }
    }

    #[test]
    fn registered_names_come_after_the_usual_ones() {
        let names: Vec<String> = (0..30).map(|at| format!("M{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let registered = boxed(&names);
        for (at, name) in names.iter().enumerate() {
            let index = Method::from_bytes(name.as_bytes(), &registered).map(Method::index);
            assert_eq!(index, (at < 24).then_some(8 + at as u8), "{name}");
        }
        assert_eq!(Method::from_bytes(b"GET", &registered), Some(Method::GET));
        assert_eq!(Method::from_bytes(b"m1", &registered), None);
    }

    #[test]
    fn safe_methods() {
        let registered = boxed(&["PROPFIND"]);
        let is_safe = |name: &str| {
            Method::from_bytes(name.as_bytes(), &registered).is_some_and(Method::is_safe)
        };
        let safe: Vec<_> = USUAL.into_iter().filter(|name| is_safe(name)).collect();
        assert_eq!(safe, ["GET", "HEAD", "OPTIONS", "QUERY"]);
        assert!(!is_safe("PROPFIND") && !is_safe("TRACE") && !is_safe("CONNECT"));
    }
}
