use std::fmt;

/// Why bytes were refused. Every refusal closes the connection: after it nobody knows where the next request starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Refusal {
    /// LF without CR before it (RFC 9112 §2.2 lets us accept it; request smuggling is why we do not).
    BareLf,
    /// CR without LF after it (RFC 9112 §2.2).
    BareCr,
    /// More than one empty line before the request line (RFC 9112 §2.2 asks for "at least one").
    EmptyLines,
    /// The method is not a token (RFC 9110 §5.6.2).
    MethodSyntax,
    /// Not three parts with one space between each; HTTP/0.9 too (RFC 9112 §3).
    RequestLine,
    /// Not `HTTP/` DIGIT `.` DIGIT (RFC 9112 §2.3).
    VersionSyntax,
    /// None of the target forms that fit the method (RFC 9112 §3.2).
    TargetForm,
    /// A byte that no target may hold: controls, space, non-ASCII, `#`; in a path also `"<>\` `` ` `` `{}`.
    TargetByte,
    /// The authority of an absolute-form target is malformed, empty or has user information (RFC 9110 §4.2.1, §4.2.4).
    TargetAuthority,
    /// `%` without two hex digits in a path (RFC 3986 §2.1).
    PathEscape,
    /// `%00` in a path.
    PathNul,
    /// Path escapes that are no valid UTF-8 (RFC 3629 §3).
    PathUtf8,
    /// `.` or `..` as a segment, literal or encoded. Removing it silently is how checks on a path get bypassed.
    DotSegment,
    /// A field name that is empty or no token (RFC 9112 §5).
    FieldName,
    /// White space between field name and colon (RFC 9112 §5.1).
    FieldSpace,
    /// A field line without a colon (RFC 9112 §5).
    FieldColon,
    /// A line that starts with white space: obsolete folding, or space before the first field (RFC 9112 §2.2, §5.2).
    FieldFold,
    /// NUL or another control in a field value (RFC 9110 §5.5).
    FieldValue,
    /// HTTP/1.1 without Host (RFC 9112 §3.2).
    HostMissing,
    /// More than one Host (RFC 9112 §3.2).
    HostRepeated,
    /// Host is no `uri-host [ ":" port ]` (RFC 9110 §7.2).
    HostSyntax,
    /// Content-Length is no plain decimal number up to 2^53 − 1 (RFC 9110 §8.6).
    LengthSyntax,
    /// More than one Content-Length, even with equal values (RFC 9110 §8.6 allows refusing those).
    LengthRepeated,
    /// Content-Length and Transfer-Encoding together (RFC 9112 §6.1, §6.3 (3)).
    LengthAndCoding,
    /// Transfer-Encoding is malformed, repeated, or does not end in `chunked` (RFC 9112 §6.1, §6.3 (4)).
    CodingSyntax,
    /// Transfer-Encoding in HTTP/1.0 (RFC 9112 §6.1).
    CodingVersion,
    /// The chunk size is not 1 to 16 hex digits followed by CRLF or `;` (RFC 9112 §7.1).
    ChunkSize,
    /// The chunk size, or the sum of them, is past 2^53 − 1.
    ChunkOverflow,
    /// A malformed chunk extension (RFC 9112 §7.1.1).
    ChunkExtension,
    /// Chunk extensions past their budget.
    ChunkExtensionSize,
    /// Chunk data that is not followed by CRLF (RFC 9112 §7.1).
    ChunkEnd,
    /// A trailer field that may only stand in a head (RFC 9110 §6.5.1).
    TrailerForbidden,
    /// Anything else that the grammar does not allow.
    Malformed,
    /// The request target is past its limit (RFC 9110 §15.5.15).
    TargetTooLong,
    /// An expectation other than `100-continue` (RFC 9110 §10.1.1).
    Expectation,
    /// The whole head is past its limit (RFC 6585 §5).
    HeadTooLarge,
    /// One field line is past its limit.
    FieldLineTooLong,
    /// More fields than allowed.
    TooManyFields,
    /// The trailer section is past its limit.
    TrailerTooLarge,
    /// More trailer fields than allowed.
    TooManyTrailers,
    /// A method that is neither one of the usual nor registered (RFC 9110 §9.1).
    MethodUnknown,
    /// A transfer coding other than chunked (RFC 9112 §6.1).
    CodingUnknown,
    /// A well-formed version that is neither 1.0 nor 1.1; the HTTP/2 preface too (RFC 9110 §15.6.6).
    VersionUnknown,
}

impl Refusal {
    /// The status to answer with.
    pub fn status(self) -> u16 {
        self.row().0
    }

    /// The name of this refusal in logs, error bodies and docs.
    pub fn code(self) -> &'static str {
        self.row().1
    }

    /// One sentence for people.
    pub fn message(self) -> &'static str {
        self.row().2
    }

    const fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::BareLf => (400, "E_BARE_LF", "a line ends in LF without CR"),
            Self::BareCr => (400, "E_BARE_CR", "CR without LF after it"),
            Self::EmptyLines => (
                400,
                "E_EMPTY_LINES",
                "more than one empty line before the request line",
            ),
            Self::MethodSyntax => (400, "E_METHOD_SYNTAX", "the method is malformed"),
            Self::RequestLine => (400, "E_REQUEST_LINE", "the request line is malformed"),
            Self::VersionSyntax => (400, "E_VERSION_SYNTAX", "the HTTP version is malformed"),
            Self::TargetForm => (
                400,
                "E_TARGET_FORM",
                "the request target has no form that fits the method",
            ),
            Self::TargetByte => (
                400,
                "E_TARGET_BYTE",
                "the request target has a byte that must be percent-encoded",
            ),
            Self::TargetAuthority => (
                400,
                "E_TARGET_AUTHORITY",
                "the authority in the request target is malformed",
            ),
            Self::PathEscape => (
                400,
                "E_PATH_ESCAPE",
                "the path has a malformed percent-escape",
            ),
            Self::PathNul => (400, "E_PATH_NUL", "the path has an encoded NUL"),
            Self::PathUtf8 => (400, "E_PATH_UTF8", "the path's escapes are no valid UTF-8"),
            Self::DotSegment => (400, "E_DOT_SEGMENT", "the path has a dot segment"),
            Self::FieldName => (400, "E_FIELD_NAME", "a field name is malformed"),
            Self::FieldSpace => (
                400,
                "E_FIELD_SPACE",
                "white space before the colon of a field",
            ),
            Self::FieldColon => (400, "E_FIELD_COLON", "a field line has no colon"),
            Self::FieldFold => (400, "E_FIELD_FOLD", "a field line starts with white space"),
            Self::FieldValue => (
                400,
                "E_FIELD_VALUE",
                "a field value has a control character",
            ),
            Self::HostMissing => (400, "E_HOST_MISSING", "Host is missing"),
            Self::HostRepeated => (400, "E_HOST_REPEATED", "Host is given more than once"),
            Self::HostSyntax => (400, "E_HOST_SYNTAX", "Host is malformed"),
            Self::LengthSyntax => (
                400,
                "E_LENGTH_SYNTAX",
                "Content-Length is malformed or too large",
            ),
            Self::LengthRepeated => (
                400,
                "E_LENGTH_REPEATED",
                "Content-Length is given more than once",
            ),
            Self::LengthAndCoding => (
                400,
                "E_LENGTH_AND_CODING",
                "Content-Length and Transfer-Encoding together",
            ),
            Self::CodingSyntax => (400, "E_CODING_SYNTAX", "Transfer-Encoding is malformed"),
            Self::CodingVersion => (400, "E_CODING_VERSION", "Transfer-Encoding in HTTP/1.0"),
            Self::ChunkSize => (400, "E_CHUNK_SIZE", "a chunk size is malformed"),
            Self::ChunkOverflow => (400, "E_CHUNK_OVERFLOW", "a chunk size is too large"),
            Self::ChunkExtension => (400, "E_CHUNK_EXTENSION", "a chunk extension is malformed"),
            Self::ChunkExtensionSize => (
                400,
                "E_CHUNK_EXTENSION_SIZE",
                "chunk extensions are too long",
            ),
            Self::ChunkEnd => (400, "E_CHUNK_END", "chunk data is not followed by CRLF"),
            Self::TrailerForbidden => (
                400,
                "E_TRAILER_FORBIDDEN",
                "a trailer field that must stand in the head",
            ),
            Self::Malformed => (400, "E_MALFORMED", "the request head is malformed"),
            Self::TargetTooLong => (414, "E_TARGET_TOO_LONG", "the request target is too long"),
            Self::Expectation => (
                417,
                "E_EXPECTATION",
                "an expectation other than 100-continue",
            ),
            Self::HeadTooLarge => (431, "E_HEAD_TOO_LARGE", "the request head is too large"),
            Self::FieldLineTooLong => (431, "E_FIELD_LINE_TOO_LONG", "a field line is too long"),
            Self::TooManyFields => (431, "E_TOO_MANY_FIELDS", "too many fields"),
            Self::TrailerTooLarge => (
                431,
                "E_TRAILER_TOO_LARGE",
                "the trailer section is too large",
            ),
            Self::TooManyTrailers => (431, "E_TOO_MANY_TRAILERS", "too many trailer fields"),
            Self::MethodUnknown => (501, "E_METHOD_UNKNOWN", "the method is not implemented"),
            Self::CodingUnknown => (
                501,
                "E_CODING_UNKNOWN",
                "the transfer coding is not implemented",
            ),
            Self::VersionUnknown => (
                505,
                "E_VERSION_UNKNOWN",
                "the HTTP version is not supported",
            ),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl std::error::Error for Refusal {}
