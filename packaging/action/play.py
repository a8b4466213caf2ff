#!/usr/bin/env python3
"""Plays the runner of a composite action or of a GitLab job without a network: play.py FILE.yml KEY=VALUE…, in a checkout,
with the variables that the real one sets. Knows the expressions that action.yml uses, and refuses others."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml


def value_of(expression, context):
    """`inputs.file`, `steps.gate.outputs.verdict`, `github.event_name`, 'text', and ==, != and && of these."""
    if "&&" in expression:
        return all(value_of(part, context) for part in expression.split("&&"))
    comparison = re.fullmatch(r"(.*?)([=!])=(.*)", expression)
    if comparison:
        return (value_of(comparison[1], context) == value_of(comparison[3], context)) == (comparison[2] == "=")
    expression = expression.strip()
    if re.fullmatch(r"'[^']*'", expression):
        return expression[1:-1]
    if not re.fullmatch(r"(inputs|steps|github|runner)(\.\w+)+", expression):
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


def play_job(job, given):
    """The first script with the one before it in one shell, the one after in another; then the artifacts are looked for."""
    environment = dict(os.environ, **{key: str(value) for key, value in job["variables"].items()})
    environment.update(word.split("=", 1) for word in given)
    shell = lambda lines: subprocess.call(["bash", "-eo", "pipefail", "-c", "\n".join(lines)], env=environment)
    code = shell(job["before_script"] + job["script"])
    shell(job["after_script"])
    missing = [path for path in job["artifacts"]["paths"] if not os.path.exists(path)]
    print("code %d%s%s" % (code, ", allowed" * (code in job["allow_failure"]["exit_codes"]), ", no " * bool(missing)), *missing)
    sys.exit(code)


def main(path, *given):
    with open(path, encoding="utf-8") as text:
        action = yaml.safe_load(text)
    if "runs" not in action:
        play_job(action["pagewise"], given)
    github = {"event_name": os.environ["GITHUB_EVENT_NAME"], "token": os.environ.get("GITHUB_TOKEN", "")}
    context = {"github": github, "runner": {"temp": os.environ["RUNNER_TEMP"]}, "steps": {}, "inputs": {}}
    context["inputs"] = {key: filled(one.get("default", ""), context) for key, one in action["inputs"].items()}
    context["inputs"].update(word.split("=", 1) for word in given)
    for step in action["runs"]["steps"]:
        if "if" in step and not value_of(step["if"], context):
            continue
        print("::group::" + step["name"], flush=True)
        if "uses" in step:
            if not step["uses"].startswith("actions/upload-artifact@"):
                sys.exit("play.py does not know the action %r" % step["uses"])
            artifact = {key: filled(text, context) for key, text in step["with"].items()}
            shutil.copytree(artifact["path"], os.path.join(os.environ["RUNNER_TEMP"], "artifacts", artifact["name"]))
            continue
        with tempfile.NamedTemporaryFile() as output, tempfile.NamedTemporaryFile("w", suffix=".sh") as script, \
                tempfile.NamedTemporaryFile("r") as path_added:
            script.write(filled(step["run"], context))
            script.flush()
            environment = dict(os.environ, GITHUB_OUTPUT=output.name, GITHUB_PATH=path_added.name)
            environment["GITHUB_ACTION_PATH"] = os.path.dirname(os.path.abspath(path))
            environment.update((key, filled(text, context)) for key, text in step.get("env", {}).items())
            code = subprocess.call(["bash", "--noprofile", "--norc", "-eo", "pipefail", script.name], env=environment)
            os.environ["PATH"] = os.pathsep.join(path_added.read().split() + [os.environ["PATH"]])
            context["steps"][step.get("id", step["name"])] = {"outputs": outputs_of(output.name)}
        if code:
            sys.exit(code)
    for name, output in action["outputs"].items():
        print("%s=%s" % (name, filled(output["value"], context)))


main(*sys.argv[1:])
