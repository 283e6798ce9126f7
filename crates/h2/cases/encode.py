"""Encodes fields with the Python package hpack 4.2, for stories.mjs.

Reads JSON: `huffman`, and `blocks`, each with its `fields` and, where the size of the table changes before it, its `sizes`.
Prints a JSON array of blocks in hexadecimal digits.
"""

import json
import sys

from hpack import Encoder
from hpack.struct import HeaderTuple, NeverIndexedHeaderTuple

story = json.load(sys.stdin)
encoder = Encoder()
blocks = []
for block in story["blocks"]:
    for size in block.get("sizes", []):
        encoder.header_table_size = size
    fields = [
        (NeverIndexedHeaderTuple if name == "authorization" else HeaderTuple)(name, value)
        for name, value in block["fields"]
    ]
    blocks.append(encoder.encode(fields, huffman=story["huffman"]).hex())
json.dump(blocks, sys.stdout)
