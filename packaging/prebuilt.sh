#!/bin/bash
# Workers that need a toolchain to be built, for machines that have none: the Go worker as a static program, the Java worker as
# classes for releases 17 and 22. A build with PAGEWISE_PREBUILT=FOLDER carries them.
# packaging/prebuilt.sh FOLDER [ARCH], with go in PATH and a JDK of release 22 or newer in JAVA_HOME or /usr/lib/jvm
set -eu
out=$(realpath -m "$1") arch=${2:-$(uname -m)}
cd "$(dirname "$0")/../workers"
rm -rf "$out" && mkdir -p "$out"/{go,java/17,java/22}

declare -A goarch=([x86_64]=amd64 [aarch64]=arm64)
(cd go && GOARCH=${goarch[$arch]} CGO_ENABLED=0 GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod GOWORK=off \
    go build -trimpath -ldflags '-s -w -buildid=' -o "$out/go/worker.bin" .)

release() { sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2> /dev/null || true; }
jdk=
for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
    [ -x "$home/bin/javac" ] && [ "0$(release "$home")" -ge 22 ] && jdk=$home && break
done
[ -n "$jdk" ] || { echo "prebuilt.sh needs a JDK of release 22 or newer: set JAVA_HOME" >&2; exit 1; }
compile() { find "$1" -name '*.java' -print0 | sort -z | xargs -0 "$jdk/bin/javac" -nowarn -encoding UTF-8 "${@:2}"; }
compile java/src --release 17 -d "$out/java/17"
compile java/src22 --release 22 -cp "$out/java/17" -d "$out/java/22"
