"""Writes known answers: a method a key, a case a line, so that a change of one shows as one."""

import json
import pathlib


def write(name, answers):
    methods = []
    for method, cases in answers.items():
        lines = json.dumps(cases) if isinstance(cases, str) else "[\n" + ",\n".join(json.dumps(c, default=float) for c in cases) + "]"
        methods.append(f'"{method}": {lines}')
    pathlib.Path(__file__).with_name(name).write_text("{\n" + ",\n".join(methods) + "\n}\n")
