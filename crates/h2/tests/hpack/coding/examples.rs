//! The examples of RFC 7541, appendix C.

use super::example;

#[test]
fn c2_field_representations() {
    example(
        4_096,
        &[
            (
                "400a637573746f6d2d6b65790d637573746f6d2d686561646572",
                "custom-key: custom-header",
            ),
            ("be", "custom-key: custom-header"),
        ],
    );
    example(
        4_096,
        &[("040c2f73616d706c652f70617468", ":path: /sample/path")],
    );
    example(
        4_096,
        &[("100870617373776f726406736563726574", "password: secret")],
    );
    example(4_096, &[("82", ":method: GET")]);
}

const FIRST: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com";

const SECOND: &str =
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache";
const THIRD: &str = ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value";

#[test]
fn c3_requests() {
    example(
        4_096,
        &[
            ("828684410f7777772e6578616d706c652e636f6d", FIRST),
            ("828684be58086e6f2d6361636865", SECOND),
            (
                "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
                THIRD,
            ),
        ],
    );
}

#[test]
fn c4_requests_with_huffman_codes() {
    example(
        4_096,
        &[
            ("828684418cf1e3c2e5f23a6ba0ab90f4ff", FIRST),
            ("828684be5886a8eb10649cbf", SECOND),
            ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", THIRD),
        ],
    );
}

const REPLIES: [&str; 3] = [
    ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
    ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
    ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n\
     content-encoding: gzip\nset-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
];

#[test]
fn c5_replies_with_evictions() {
    example(
        256,
        &[
            (
                "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54\
                 6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
                REPLIES[0],
            ),
            ("4803333037c1c0bf", REPLIES[1]),
            (
                "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f\
                 3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076\
                 657273696f6e3d31",
                REPLIES[2],
            ),
        ],
    );
}

#[test]
fn c6_replies_with_huffman_codes_and_evictions() {
    example(
        256,
        &[
            (
                "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f\
                 0b97c8e9ae82ae43d3",
                REPLIES[0],
            ),
            ("4883640effc1c0bf", REPLIES[1]),
            (
                "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335df\
                 dfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
                REPLIES[2],
            ),
        ],
    );
}
