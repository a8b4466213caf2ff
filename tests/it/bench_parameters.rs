//! Parameters of a user's file: words, paths, numbers with units, ranges, inputs, threads; rates; a file that measures nothing.

use serde_json::Value;

use crate::support::place::{Place, Said, cell, is_measured, said};

const HEADERS: &str =
    "#include <pagewise.h>\n#include <fcntl.h>\n#include <string.h>\n#include <sys/stat.h>\n";
const WORK: &str = "for (volatile int i = 0; i < 3000; i++);";

fn measured(place: &Place, name: &str, text: &str, more: &[&str]) -> (Said, Value) {
    let file = place.file(name);
    std::fs::write(&file, text).unwrap();
    let budget = if more.contains(&"--budget") {
        &[][..]
    } else {
        &["--budget", "1s"]
    };
    let words = ["bench", file.to_str().unwrap(), "--json"];
    let result = said(&mut place.command(&[&words[..], budget, more].concat()));
    let summary = serde_json::from_str(&result.out).unwrap_or_default();
    (result, summary)
}

fn bench(place: &Place, text: &str, more: &[&str]) -> (Said, Value) {
    measured(place, "mine.c", &format!("{HEADERS}{text}"), more)
}

fn assert_measured(summary: &Value, function: &str, parameters: &[(&str, &str)], result: &Said) {
    let cell = cell(summary, &format!("bench/{function}@own"), parameters);
    assert!(
        is_measured(cell),
        "{function} {parameters:?}: {cell} {}",
        result.err
    );
}

#[test]
fn words_paths_and_numbers_with_units_are_parameters() {
    let place = Place::new();
    let path = place.file("data.bin");
    std::fs::write(&path, "7 bytes").unwrap();
    let path = path.to_str().unwrap();
    // A wrong value is a result of its own, which no other function comes to.
    let text = format!(
        "PARAM(way, \"small,large\");\nPARAM(file, \"{path}\");\nPARAM(idle, \"100us, 1.5ms\");\n\
         BENCH(right) {{ struct stat s; if (stat(TEXT(file), &s)) FAIL(\"stat\"); int large = IS(way, \"large\");\n\
         size_t idle = VALUE(idle); {WORK} RESULT(s.st_size == 7 && large == !strcmp(TEXT(way), \"large\") && \
         (idle == 100000 || idle == 1500000)); }}\nBASELINE(one) {{ {WORK} RESULT(1); }}\n"
    );
    let (result, summary) = bench(&place, &text, &[]);
    for way in ["small", "large"] {
        for idle in ["100us", "1.5ms"] {
            assert_measured(
                &summary,
                "right",
                &[("way", way), ("file", path), ("idle", idle)],
                &result,
            );
        }
    }
}

#[test]
fn ranges_are_written_out_also_with_set() {
    let place = Place::new();
    let text =
        format!("PARAM(bytes, \"1KiB..64KiB\");\nBENCH(sums) {{ {WORK} RESULT(VALUE(bytes)); }}\n");
    let (result, summary) = bench(&place, &text, &[]);
    for bytes in ["1024", "8192", "65536"] {
        assert_measured(&summary, "sums", &[("bytes", bytes)], &result);
    }
    let (result, summary) = bench(&place, &text, &["--set", "bytes=1KiB..3KiB*2"]);
    for bytes in ["1024", "2048", "3072"] {
        assert_measured(&summary, "sums", &[("bytes", bytes)], &result);
    }
}

#[test]
fn a_wrong_value_is_one_sentence_before_anything_is_measured() {
    let place = Place::new();
    let there = format!("BENCH(f) {{ {WORK} }}\n");
    for (parameter, more, words) in [
        (
            "PARAM(file, \"no/such/file\");",
            "",
            "mine.c: PARAM(file, …): there is no file \"no/such/file\" here",
        ),
        (
            "PARAM(file, \"nosuch.bin\");",
            "",
            "there is no file \"nosuch.bin\" here",
        ),
        ("PARAM(n, \"9..3\");", "", "its end is not above its start"),
        ("PARAM(n, \"a b\");", "", "no word of letters"),
        (
            "PARAM(way, \"small,large\");",
            "way=huge",
            "way=huge is not one of small, large",
        ),
        (
            "PARAM(file, \"/dev/null\");",
            "file=/no/such",
            "--set file: there is no file \"/no/such\" here",
        ),
    ] {
        let set = ["--set", more];
        let more = if more.is_empty() { &set[..0] } else { &set[..] };
        let (result, _) = bench(&place, &format!("{parameter}\n{there}"), more);
        assert!(
            result.code == 1 && result.err.contains(words),
            "{words}: {}",
            result.err
        );
        assert!(result.err.starts_with("pagewise: "), "{}", result.err);
    }
    // The path is looked for before the compiler, which would refuse this.
    let (result, _) = bench(
        &place,
        "PARAM(file, \"no/such/file\");\nBENCH(f) { int x = ; }\n",
        &[],
    );
    assert!(!result.err.contains("does not compile"), "{}", result.err);
    // A set path takes the place of one that is not there.
    let text = format!("PARAM(file, \"no/such/file\");\n{there}");
    let (result, summary) = bench(&place, &text, &["--set", "file=/dev/null"]);
    assert_measured(&summary, "f", &[("file", "/dev/null")], &result);
}

#[test]
fn a_look_at_a_parameter_that_is_none_fails_by_its_name() {
    let place = Place::new();
    let text = format!(
        "PARAM(way, \"small,large\");\nBASELINE(sound) {{ {WORK} }}\nBENCH(number) {{ {WORK} (void)VALUE(way); }}\n\
         BENCH(word) {{ {WORK} (void)IS(way, \"smal\"); }}\nBENCH(name) {{ {WORK} (void)VALUE(nothing); }}\n"
    );
    let (result, summary) = bench(&place, &text, &["--set", "way=small"]);
    for (function, words) in [
        ("number", "\"small\" is no number: read it by TEXT or IS"),
        ("word", "it is none of the parameter's words"),
        ("name", "there is no such parameter"),
    ] {
        let cell = cell(
            &summary,
            &format!("bench/{function}@own"),
            &[("way", "small")],
        );
        assert!(
            cell["status"] == "failed" && cell.to_string().contains(&words.replace('"', "\\\"")),
            "{function}: {cell} {}",
            result.err
        );
    }
    assert_measured(&summary, "sound", &[("way", "small")], &result);
}

#[test]
fn inputs_are_there_with_their_bytes_and_the_same_content_and_have_rates() {
    let place = Place::new();
    let read = "uint64_t sum = 0; static char b[4096]; ssize_t k; int fd = open(TEXT(data), O_RDONLY); if (fd < 0) FAIL(\"open\"); \
                BYTES(VALUE(data)); PHASE(\"read\") { while ((k = read(fd, b, sizeof b)) > 0) for (ssize_t i = 0; i < k; i++) \
                sum = sum * 31 + b[i]; } struct stat s; fstat(fd, &s); close(fd); if ((size_t)s.st_size != VALUE(data)) \
                FAIL(\"size\"); RESULT(sum);";
    let text = format!(
        "#include <unistd.h>\nINPUT(data, \"10000B,256KiB\", 7);\nBASELINE(first) {{ {read} }}\nBENCH(second) {{ {read} }}\n"
    );
    let (result, summary) = bench(&place, &text, &[]);
    for (bytes, count) in [("10000", 10000.0), ("262144", 262_144.0)] {
        for function in ["first", "second"] {
            assert_measured(&summary, function, &[("data", bytes)], &result);
        }
        let phase = &cell(&summary, "bench/first@own", &[("data", bytes)])["phases"]["read"];
        let [wall, unit] =
            ["wall_ns", "per_unit_ns"].map(|name| phase[name]["median"].as_f64().unwrap());
        assert!((wall / unit / count - 1.0).abs() < 1e-6, "{phase}");
        assert!(phase["bytes_per_second"].as_f64() > Some(0.0), "{phase}");
    }
    let shown = place.run(&["report", "last"]);
    assert!(shown.out.contains("read (GB/s)"), "{}", shown.out);
    assert!(
        crate::support::place::entries(&place.file("tmp")).is_empty(),
        "an input is left behind"
    );
}

/// Figures of a file are all in GB/s or all in time: a function that says no bytes where another one does fails.
#[test]
fn a_function_that_says_no_bytes_beside_one_that_does_fails() {
    let place = Place::new();
    let c = "BENCH(rated) { BYTES(4096); PHASE(\"x\") { for (volatile int i = 0; i < 3000; i++); } }\n\
             BENCH(plain) { PHASE(\"x\") { for (volatile int i = 0; i < 3000; i++); } }\n";
    let python = "import pagewise\n\n@pagewise.bench\ndef rated(run):\n    run.bytes(4096)\n    with run.phase('x'):\n        \
                  sum(range(1000))\n\n@pagewise.bench\ndef plain(run):\n    with run.phase('x'):\n        sum(range(1000))\n";
    let all = [
        bench(&place, c, &[]),
        measured(&place, "mine.py", python, &[]),
    ];
    for (result, summary) in all {
        let plain = cell(&summary, "bench/plain@own", &[]);
        let reason = crate::support::place::reason(plain);
        assert!(
            plain["status"] == "failed" && reason.contains("another function of the file does"),
            "{plain} {}",
            result.err
        );
        let rated = cell(&summary, "bench/rated@own", &[]);
        assert!(is_measured(rated), "{rated} {}", result.err);
    }
}

/// What a phase reads comes from the device; a file that cannot leave memory skips its function.
#[test]
fn a_file_is_cold_before_a_phase_or_the_function_is_skipped() {
    let place = Place::new();
    let (file, kept) = (place.file("data.bin"), "/dev/shm/pagewise-cold-test");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    std::fs::write(kept, vec![7; 1 << 20]).unwrap();
    let text = format!(
        "static uint64_t all(const char *path) {{ static char into[1 << 20]; int file = open(path, O_RDONLY); COLD(path); \
         ssize_t got = 0; PHASE(\"read\") {{ got = read(file, into, sizeof into); }} close(file); return got; }}\n\
         BENCH(on_disk) {{ if (0) PHASE(\"read\") {{ }} RESULT(all(\"{}\")); }}\n\
         BENCH(in_memory) {{ if (0) PHASE(\"read\") {{ }} RESULT(all(\"{kept}\")); }}\n",
        file.display()
    );
    let text = format!("#include <unistd.h>\n{text}");
    let (result, summary) = bench(&place, &text, &[]);
    std::fs::remove_file(kept).unwrap();
    let in_memory = cell(&summary, "bench/in_memory@own", &[]);
    let reason = crate::support::place::reason(in_memory);
    assert!(
        in_memory["status"] == "skipped" && reason.contains("cannot be made cold"),
        "{in_memory} {}",
        result.err
    );
    let on_disk = cell(&summary, "bench/on_disk@own", &[]);
    if on_disk["status"] == "skipped" {
        return crate::support::skips::skip("the tests' folder is in memory");
    }
    assert!(is_measured(on_disk), "{on_disk} {}", result.err);
    assert_eq!(on_disk["proofs"]["cached_before_bytes"]["max"], 0);
}

#[test]
fn threads_work_at_the_same_time_and_a_phase_without_them_ends() {
    let place = Place::new();
    let text = "#include <stdatomic.h>\nTHREADS(\"1,2\");\nstatic atomic_uint come;\n\
         static void meet(void *all, unsigned thread) { (void)thread; atomic_fetch_add(&come, 1); \
         while (atomic_load(&come) < *(unsigned *)all); }\n\
         static void count(void *seen, unsigned thread) { atomic_fetch_or((atomic_uint *)seen, 1u << thread); }\n\
         BASELINE(once) { unsigned all = VALUE(threads); atomic_uint seen = 0; come = 0; PHASE(\"work\") { ON_THREADS(meet, &all); } \
         ON_THREADS(count, &seen); RESULT(seen == (1u << all) - 1); }\n\
         BENCH(twice) { unsigned all = VALUE(threads); PHASE(\"work\") { come = 0; ON_THREADS(meet, &all); come = 0; \
         ON_THREADS(meet, &all); } RESULT(1); }\n\
         BENCH(alone) { PHASE(\"work\") { for (volatile int i = 0; i < 3000; i++); } RESULT(1); }\n\
         BENCH(fails) { PHASE(\"work\") { FAIL(\"mmap\"); } RESULT(1); }\n";
    for more in [&[][..], &["--fresh"]] {
        let (result, summary) = bench(&place, text, more);
        for threads in ["1", "2"] {
            for function in ["once", "twice", "alone"] {
                assert_measured(&summary, function, &[("threads", threads)], &result);
            }
            let fails = cell(&summary, "bench/fails@own", &[("threads", threads)]);
            assert!(
                fails["status"] == "failed" && fails.to_string().contains("mmap"),
                "{fails}"
            );
        }
    }
}

#[test]
fn a_script_has_the_same_parameters() {
    let place = Place::new();
    let text = "import pagewise\npagewise.param('way', 'small,large')\npagewise.param('idle', '100us,1ms')\n\
                pagewise.param('n', '1..64')\npagewise.param('file', '/dev/null')\n\
                @pagewise.bench\ndef right(run):\n    run.bytes(1000)\n    with run.phase('sum'):\n        sum(range(1000))\n    \
                return run.value('way') in ('small', 'large') and run.value('idle') in (100000, 1000000) \
                and run.value('n') in (1, 8, 64) and run.value('file') == '/dev/null' or 7\n";
    let (result, summary) = measured(
        &place,
        "mine.py",
        text,
        &[
            "--set",
            "n=8..64",
            "--set",
            "idle=1ms",
            "--launches",
            "2",
            "--budget",
            "60s",
        ],
    );
    for way in ["small", "large"] {
        let parameters = [
            ("way", way),
            ("idle", "1ms"),
            ("n", "64"),
            ("file", "/dev/null"),
        ];
        assert_measured(&summary, "right", &parameters, &result);
    }
    let (result, _) = measured(
        &place,
        "mine.py",
        &text.replace("/dev/null", "/no/such"),
        &[],
    );
    assert!(
        result.code == 1
            && result
                .err
                .contains("PARAM(file, …): there is no file \"/no/such\" here"),
        "{}",
        result.err
    );
}

#[test]
fn a_file_with_a_main_says_what_to_write_with_its_functions_name() {
    let place = Place::new();
    let text = "static int work(void) { volatile int s = 0; for (int i = 0; i < 1000; i++) s += i; return s; }\n\
                int main(void) { return work() == 0; }\n";
    let (result, _) = measured(&place, "mine.c", text, &[]);
    let said = result.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        result.code == 1
            && said.contains("write #include <pagewise.h> and BENCH(work) { RESULT(work()); }"),
        "{said}"
    );
    // It compiles as it was told, and is measured.
    let text = format!("#include <pagewise.h>\n{text}BENCH(work) {{ RESULT(work()); }}\n");
    let (result, summary) = measured(&place, "mine.c", &text, &[]);
    assert_measured(&summary, "work", &[], &result);
}
