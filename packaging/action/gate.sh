#!/usr/bin/env bash
# Measures the change in turn with the kept baseline. The verdict is an output; a later step ends the job by it.
set -euo pipefail
place="$RUNNER_TEMP/pagewise"
if [ -n "$BUILD" ]; then
    bash -euo pipefail -c "$BUILD"
fi
if [ ! -e "$place/kept/base" ]; then
    echo "verdict=new" >> "$GITHUB_OUTPUT"
    echo "New: there is no base to compare with." | tee "$place/kept/result.md" >> "$GITHUB_STEP_SUMMARY"
    exit 0
fi
code=0
"$PAGEWISE" bench "$FILE" --gate "$GATE" --against "$place/kept/base" ${BUDGET:+--budget "$BUDGET"} --markdown \
    --out "$place/kept/change" > "$place/kept/result.md" || code=$?
cat "$place/kept/result.md" >> "$GITHUB_STEP_SUMMARY"
case $code in
    0) verdict=passed ;;
    2) verdict=worse ;;
    3) verdict=undecided ;;
    *) exit "$code" ;;
esac
echo "verdict=$verdict" >> "$GITHUB_OUTPUT"
