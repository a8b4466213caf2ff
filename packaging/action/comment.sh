#!/usr/bin/env bash
# Comments the result on the pull request.
set -euo pipefail
body="$RUNNER_TEMP/pagewise/comment.json"
number=$(python3 - "$RUNNER_TEMP/pagewise/kept/result.md" "$body" <<'PYTHON'
import json, os, sys
with open(sys.argv[1], encoding="utf-8") as result, open(sys.argv[2], "w") as body:
    json.dump({"body": result.read()}, body)
with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as event:
    print(json.load(event)["pull_request"]["number"])
PYTHON
)
curl --fail --silent --show-error --output /dev/null --header "Authorization: Bearer $TOKEN" \
    --header "Accept: application/vnd.github+json" --data "@$body" \
    "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues/$number/comments"
