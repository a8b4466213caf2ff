#!/usr/bin/env bash
# Installs the program for the steps that follow, from a package index or from a wheel.
set -euo pipefail
place="$RUNNER_TEMP/pagewise-installed"
python3 -m venv "$place"
"$place/bin/pip" install --quiet "$INSTALL"
echo "$place/bin" >> "$GITHUB_PATH"
"$place/bin/pagewise" --version
