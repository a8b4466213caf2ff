#!/usr/bin/env python3
"""Plays the runner of a composite action without a network: play.py ACTION.yml KEY=VALUE…, in a checkout, with the variables
that GitHub sets. Knows the expressions that action.yml uses, and refuses others."""
import os
import re
import subprocess
import sys
import tempfile

import yaml


def value_of(expression, context):
    """`inputs.file`, `steps.gate.outputs.verdict`, `github.event_name`, 'text', and == and && of these."""
    if "&&" in expression:
        return all(value_of(part, context) for part in expression.split("&&"))
    if "==" in expression:
        left, right = (value_of(part, context) for part in expression.split("=="))
        return left == right
    expression = expression.strip()
    if re.fullmatch(r"'[^']*'", expression):
        return expression[1:-1]
    if not re.fullmatch(r"(inputs|steps|github)(\.\w+)+", expression):
        sys.exit("play.py does not know the expression %r" % expression)
    found = context
    for key in expression.split("."):
        found = found.get(key, "") if isinstance(found, dict) else ""
    return found


def filled(text, context):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: str(value_of(match[1], context)), str(text))


def outputs_of(path):
    with open(path, encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("=", 1) for line in lines)


def main(path, *given):
    with open(path, encoding="utf-8") as text:
        action = yaml.safe_load(text)
    github = {"event_name": os.environ["GITHUB_EVENT_NAME"], "token": os.environ.get("GITHUB_TOKEN", "")}
    context = {"github": github, "steps": {}, "inputs": {}}
    context["inputs"] = {key: filled(one.get("default", ""), context) for key, one in action["inputs"].items()}
    context["inputs"].update(word.split("=", 1) for word in given)
    for step in action["runs"]["steps"]:
        if "if" in step and not value_of(step["if"], context):
            continue
        print("::group::" + step["name"], flush=True)
        with tempfile.NamedTemporaryFile() as output, tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
            script.write(filled(step["run"], context))
            script.flush()
            environment = dict(os.environ, GITHUB_OUTPUT=output.name, GITHUB_ACTION_PATH=os.path.dirname(os.path.abspath(path)))
            environment.update((key, filled(text, context)) for key, text in step.get("env", {}).items())
            code = subprocess.call(["bash", "--noprofile", "--norc", "-eo", "pipefail", script.name], env=environment)
            context["steps"][step.get("id", step["name"])] = {"outputs": outputs_of(output.name)}
        if code:
            sys.exit(code)
    for name, output in action["outputs"].items():
        print("%s=%s" % (name, filled(output["value"], context)))


main(*sys.argv[1:])
