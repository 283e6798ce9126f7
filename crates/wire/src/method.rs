/// The methods a route can have. The number is the index in the layout shared with JavaScript, and the bit in `Allow` sets.
///
/// TRACE and CONNECT are left out on purpose: TRACE echoes credentials, CONNECT is for proxies. Both are answered 501.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Method {
    #[default]
    Get = 0,
    Head = 1,
    Post = 2,
    Put = 3,
    Patch = 4,
    Delete = 5,
    Options = 6,
    Query = 7,
}

impl Method {
    /// All methods; `ALL[m as usize] == m`.
    pub const ALL: [Self; 8] = [
        Self::Get,
        Self::Head,
        Self::Post,
        Self::Put,
        Self::Patch,
        Self::Delete,
        Self::Options,
        Self::Query,
    ];

    /// The method of this name. Names are case-sensitive (RFC 9110 §9.1).
    #[inline]
    pub fn from_bytes(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"PATCH" => Self::Patch,
            b"DELETE" => Self::Delete,
            b"OPTIONS" => Self::Options,
            b"QUERY" => Self::Query,
            _ => return None,
        })
    }

    /// The name as it stands in a request line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Query => "QUERY",
        }
    }

    /// Whether several requests of this method may be in progress at once on one connection (RFC 9110 §9.2.1, RFC 9112 §9.3.2).
    #[inline]
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Query)
    }

    /// `1 << index`, for method sets.
    #[inline]
    pub fn bit(self) -> u16 {
        1 << self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::Method;

    #[test]
    fn names_round_trip() {
        for (index, method) in Method::ALL.into_iter().enumerate() {
            assert_eq!(method as usize, index);
            assert_eq!(Method::from_bytes(method.name().as_bytes()), Some(method));
            assert_eq!(
                Method::from_bytes(method.name().to_lowercase().as_bytes()),
                None
            );
        }
        for name in ["", "TRACE", "CONNECT", "GETT", "GE", "PRI"] {
            assert_eq!(Method::from_bytes(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn safe_methods() {
        let safe: Vec<_> = Method::ALL
            .into_iter()
            .filter(|m| m.is_safe())
            .map(Method::name)
            .collect();
        assert_eq!(safe, ["GET", "HEAD", "OPTIONS", "QUERY"]);
    }
}
