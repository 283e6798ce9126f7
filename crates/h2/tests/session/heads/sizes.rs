//! How large heads may be.

use super::{get_but, is_refused, text_of};
use crate::client::{Client, get_with};
use h2::Limits;

#[test]
fn sizes_at_a_limit_pass_and_one_more_is_refused() {
    // `GET / HTTP/2`, `host: a.test` and the last line take 14 + 14 + 2 bytes.
    let own = "x".repeat(40);
    let exact = 30 + 3 + 40 + 2;
    let limits = |change: &dyn Fn(&mut wire::Limits)| {
        let mut limits = Limits::default();
        change(&mut limits.wire);
        limits
    };
    let field = get_with(1, &[("a", &own)]);
    let cookies = get_with(
        1,
        &[("cookie", &own[..20]), ("b", ""), ("cookie", &own[..20])],
    );
    let path = get_but(":path", Some(&format!("/{}", &own[..9])));
    for (bytes, at_limit, past_limit, status, code) in [
        (
            &field,
            limits(&|wire| wire.max_header_size = exact),
            limits(&|wire| wire.max_header_size = exact - 1),
            431,
            "E_HEAD_TOO_LARGE",
        ),
        (
            &field,
            limits(&|wire| wire.max_header_line = 43),
            limits(&|wire| wire.max_header_line = 42),
            431,
            "E_FIELD_LINE_TOO_LONG",
        ),
        (
            &field,
            limits(&|wire| wire.max_headers = 2),
            limits(&|wire| wire.max_headers = 1),
            431,
            "E_TOO_MANY_FIELDS",
        ),
        // The sizes are `cookie: `, two Cookie fields of 20 bytes with `; ` between them, CRLF; and `b: `, CRLF.
        (
            &cookies,
            limits(&|wire| wire.max_header_size = 30 + 8 + 42 + 2 + 5),
            limits(&|wire| wire.max_header_size = 30 + 8 + 42 + 2 + 4),
            431,
            "E_HEAD_TOO_LARGE",
        ),
        (
            &cookies,
            limits(&|wire| wire.max_header_line = 8 + 42),
            limits(&|wire| wire.max_header_line = 8 + 41),
            431,
            "E_FIELD_LINE_TOO_LONG",
        ),
        (
            &path,
            limits(&|wire| wire.max_url_length = 10),
            limits(&|wire| wire.max_url_length = 9),
            414,
            "E_TARGET_TOO_LONG",
        ),
    ] {
        Client::with(&at_limit).open(bytes);
        is_refused(&past_limit, bytes, status, code);
    }
}

#[test]
fn a_cookie_has_at_most_256_crumbs() {
    for (crumbs, passes) in [(256, true), (257, false)] {
        let bytes = get_with(1, &vec![("cookie", "a"); crumbs]);
        if passes {
            let expected = format!("cookie: {}\r\n\r\n", ["a"; 256].join("; "));
            assert!(text_of(&bytes).ends_with(&expected));
        } else {
            is_refused(&Limits::default(), &bytes, 431, "E_TOO_MANY_FIELDS");
        }
    }
}
