#!/usr/bin/env bash
# Fails the job where something is worse.
set -euo pipefail
echo "pagewise: $VERDICT"
case $VERDICT in
    worse) exit 1 ;;
    undecided) [ "$UNDECIDED" = pass ] ;;
esac
