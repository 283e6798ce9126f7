"""Decodes field blocks with the Python package hpack 4.2, for tests/hpack_oracles.rs.

Reads lines: an empty one begins another connection, any other is `=` and a block in hexadecimal digits. Prints a line for each
block: `error`, or `ok` and the fields, each as the digits of its name, a colon, and those of its value.
"""

import logging
import sys

from hpack import Decoder

logging.disable()
decoder = None
for line in sys.stdin:
    line = line.strip()
    if not line:
        decoder = Decoder(max_header_list_size=1 << 30)
        continue
    try:
        fields = decoder.decode(bytes.fromhex(line[1:]), raw=True)
        print("ok", *(f"{bytes(name).hex()}:{bytes(value).hex()}" for name, value in fields))
    # Any exception is a verdict, an IndexError as well.
    except Exception:
        print("error")
