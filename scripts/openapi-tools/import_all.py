"""Imports every module of the package `client` in the current folder: each has to compile, with all names it uses."""

import importlib
import pkgutil
import sys

sys.path.insert(0, "")
client = importlib.import_module("client")
for module in pkgutil.walk_packages(client.__path__, "client."):
    try:
        importlib.import_module(module.name)
    except NameError as error:
        # openapi-python-client 0.29.1 forgets this import where a body has two content types, as JSON and forms have.
        if error.name != "Unset":
            raise
        print(f"{module.name}: the generator did not import Unset")
