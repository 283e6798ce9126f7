"""What the document says and schemathesis does not know, and what JSON Schema has no word for."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """`double-int`, of the OpenAPI format registry, is a whole number that a double holds without loss."""
    bound(raw_schema)


def bound(node):
    if isinstance(node, list):
        for each in node:
            bound(each)
    elif isinstance(node, dict):
        if node.get("type") == "integer" and node.get("format") == "double-int":
            if "exclusiveMinimum" not in node:
                node.setdefault("minimum", -(2**53) + 1)
            if "exclusiveMaximum" not in node:
                node.setdefault("maximum", 2**53 - 1)
        for each in node.values():
            bound(each)


@schemathesis.hook
def filter_body(context, body):
    """JSON with the key `__proto__` is refused, whatever a schema says of undeclared properties."""
    return not has_proto(body)


def has_proto(value):
    if isinstance(value, list):
        return any(has_proto(each) for each in value)
    return isinstance(value, dict) and ("__proto__" in value or any(has_proto(each) for each in value.values()))
