//! What a program pays for advice: `cargo bench --bench advice`.
//!
//! Loading a file of all questions, and asking one question, in the C reader; medians of many. It asserts nothing but answers.

use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = r#"
#include "pagewise_advice.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
static int order(const void *a, const void *b) {
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}
int main(int argc, char **argv) {
    enum { LOADS = 301, BATCHES = 301, ASKED = 10000 };
    static double loads[LOADS], asks[BATCHES];
    char why[256] = "";
    struct pagewise_advice *a = NULL;
    for (int i = 0; i < LOADS; i++) {
        pagewise_advice_free(a);
        double start = now();
        a = pagewise_advice_load(argv[argc - 1], why, sizeof why);
        loads[i] = now() - start;
    }
    uint64_t advised = 0, bytes = 4096;
    for (int i = 0; i < BATCHES; i++) {
        double start = now();
        for (int n = 0; n < ASKED; n++) {
            bytes = bytes * 6364136223846793005u + 1442695040888963407u;
            advised += pagewise_advice_ask(a, "transfer", bytes >> 38, NULL) != NULL;
        }
        asks[i] = (now() - start) / ASKED;
    }
    qsort(loads, LOADS, sizeof *loads, order);
    qsort(asks, BATCHES, sizeof *asks, order);
    printf("%s; load %.0f us (aim: below 1000), question %.1f ns (aim: below 100), advised %.0f %% of the sizes\n",
           a ? "loaded" : why, loads[LOADS / 2] / 1e3, asks[BATCHES / 2], 100.0 * advised / ((double)BATCHES * ASKED));
    return a == NULL;
}
"#;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("consumers/c");
    let place = tempfile::tempdir().expect("a temporary folder");
    let (source, program) = (place.path().join("bench.c"), place.path().join("bench"));
    std::fs::write(&source, PROGRAM).expect("the program can be written");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O2", "-pthread", "-I"])
        .arg(&root)
        .arg("-o")
        .arg(&program);
    let made = cc
        .arg(&source)
        .arg(root.join("pagewise_advice.c"))
        .status()
        .expect("cc");
    assert!(made.success(), "the program compiles");
    let saved = std::env::var_os("ADVICE").map(PathBuf::from);
    let path = saved.unwrap_or_else(|| {
        let path = place.path().join("advice.json");
        let mut pagewise = Command::new(env!("CARGO_BIN_EXE_pagewise"));
        pagewise
            .args(["advise", "--save", "--fresh", "--budget", "40s", "--out"])
            .arg(&path);
        let made = pagewise
            .env("XDG_DATA_HOME", place.path())
            .stdout(std::process::Stdio::null())
            .status();
        assert!(made.expect("pagewise").success(), "advice is saved");
        path
    });
    assert!(
        Command::new(program)
            .arg(path)
            .status()
            .expect("the bench")
            .success(),
        "the advice is loaded"
    );
}
