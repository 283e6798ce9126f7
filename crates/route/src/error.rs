//! Why a route was refused, in words that say what to do.

use std::error::Error;
use std::fmt;

use crate::method::METHODS;
use crate::params::MAX_PARAMS;
use crate::pattern::{MAX_PATTERN, MAX_SEGMENTS};

/// A route that was not inserted; the router is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsertError {
    /// A route of the same method already matches the same paths with the same precedence.
    Conflict {
        method: u8,
        existing: String,
        pattern: String,
    },
    BadPattern {
        pattern: String,
        reason: Reason,
    },
    /// The method index is 32 or more.
    UnknownMethod {
        method: u8,
    },
}

/// What is wrong with a pattern. The names are those of `reason` in the JavaScript router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    NoLeadingSlash,
    TooLong,
    TooManySegments,
    TooManyParameters,
    /// The name is empty, does not match `[A-Za-z_][A-Za-z0-9_]*`, or is `__proto__`.
    BadName(String),
    DuplicateName(String),
    /// `:` or `*` after other text of its segment.
    NotWholeSegment(char),
    /// What follows a parameter's name is neither `?` nor a suffix that starts with `.` or `-`.
    BadSuffix(char),
    OptionalWithSuffix,
    OptionalNotLast,
    WildcardNotLast,
    /// A character that no canonical path contains.
    BadCharacter(char),
    BadEscape,
    /// `%00`, or escapes that are not UTF-8.
    BadText,
    DotSegment,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict {
                method,
                existing,
                pattern,
            } => {
                let method = METHODS.get(usize::from(*method)).unwrap_or(&"(registered)");
                write!(
                    f,
                    "Route {method} {pattern} conflicts with {method} {existing}: both match the same paths. \
                     Remove one of them, or make their static text differ."
                )
            }
            Self::BadPattern { pattern, reason } => {
                write!(f, "Route pattern \"{pattern}\": {reason}")
            }
            Self::UnknownMethod { method } => write!(f, "There is no method with index {method}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLeadingSlash => f.write_str("it must start with \"/\""),
            Self::TooLong => write!(f, "it is longer than {MAX_PATTERN} bytes"),
            Self::TooManySegments => write!(f, "it has more than {MAX_SEGMENTS} segments"),
            Self::TooManyParameters => write!(f, "it has more than {MAX_PARAMS} parameters"),
            Self::BadName(name) if name.is_empty() => f.write_str(
                "a parameter needs a name after \":\"; write \"::\" for a literal colon",
            ),
            Self::BadName(name) => write!(
                f,
                "\"{name}\" is not a parameter name; use letters, digits and \"_\", with no digit first"
            ),
            Self::DuplicateName(name) => {
                write!(f, "it has two parameters named \"{name}\"; rename one of them")
            }
            Self::NotWholeSegment(':') => f.write_str(
                "a parameter starts its segment; write \"::\" for a literal colon",
            ),
            Self::NotWholeSegment(_) => {
                f.write_str("a wildcard is a whole segment: \"*\" or \"*name\"")
            }
            Self::BadSuffix(character) => write!(
                f,
                "\"{character}\" cannot follow a parameter's name; a suffix starts with \".\" or \"-\", \
                 the rest of a path is \"*name\", and values are checked by the route's schema"
            ),
            Self::OptionalWithSuffix => f.write_str(
                "a parameter with a suffix cannot be optional; register the shorter path as a route of its own",
            ),
            Self::OptionalNotLast => {
                f.write_str("only the last segments can be optional; register two routes")
            }
            Self::WildcardNotLast => f.write_str("a wildcard must be the last segment"),
            Self::BadCharacter(character) => write!(
                f,
                "\"{character}\" cannot be in a path; write it percent-encoded, and a parameter as \":name\""
            ),
            Self::BadEscape => f.write_str("\"%\" needs two hexadecimal digits; write %25 for a literal one"),
            Self::BadText => f.write_str("its escapes are not UTF-8 text, or hold a zero byte"),
            Self::DotSegment => f.write_str("no request path has a segment \".\" or \"..\""),
        }
    }
}

impl Error for InsertError {}
impl Error for Reason {}
