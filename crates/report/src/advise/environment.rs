//! Lines for the environment of programs that nobody changes: what was shown to gain here, and why the rest is left out.

use std::fmt::Write as _;

use record::advice::{Advice, CheckedLine, Question, Segment};
use record::sizes::format_size;

use crate::numbers::ratio_words;

/// A script of lines. Every line was checked here; what was not shown to gain stands as a comment with the reason.
pub fn environment(lines: &[CheckedLine], advice: Option<&Advice>) -> String {
    let mut text = "# Environment for unchanged programs on this machine, each line after a paired check here.\n\
                    # Wall time with the line relative to that without it. Join two lines of one variable by ':'.\n"
        .to_owned();
    for line in lines {
        let _ = writeln!(text, "\n# {}: for {}", line.name, line.helps);
        if let Some(ratio) = &line.ratio {
            let _ = writeln!(
                text,
                "#   {} of the time of {} (pagewise report {})",
                ratio_words(ratio),
                line.program,
                line.run
            );
        }
        match line.gains {
            true => {
                let _ = writeln!(text, "#   costs: {}", line.costs);
                let _ = writeln!(text, "#   verify with pagewise try --with '{}' -- CMD", line.setting);
                let _ = writeln!(text, "{}", line.line);
            }
            false => {
                let _ = writeln!(text, "#   left out: {}", line.why);
            }
        }
    }
    text + &advice.map_or_else(String::new, |advice| thresholds(advice) + &hints(advice))
}

fn question<'a>(advice: &'a Advice, name: &str) -> Option<&'a Question> {
    advice.questions.get(name)
}

/// The first segment of a way.
fn first<'a>(question: &'a Question, way: &str) -> Option<&'a Segment> {
    question.segments.iter().find(|s| s.way == way)
}

fn gain(segment: &Segment) -> String {
    format!("{:.2} ({:.2}–{:.2}) of {}'s time", segment.ratio, segment.at_least, segment.at_most, segment.over)
}

/// What message passing libraries call the size from which one copy by the kernel beats two through shared memory. No
/// program of theirs was run here, so they stay comments.
fn thresholds(advice: &Advice) -> String {
    let Some(transfer) = question(advice, "transfer") else { return String::new() };
    let mut text = "\n# UCX and Open MPI: no program of theirs was run here, so nothing is set.\n".to_owned();
    match first(transfer, "process-vm-readv") {
        Some(segment) => {
            let (from, size) = (segment.from, format_size(segment.from));
            let _ = writeln!(text, "#   process_vm_readv takes {} from {size} on:", gain(segment));
            let _ = writeln!(
                text,
                "#   UCX_RNDV_THRESH={from} with UCX_TLS=…,cma; OMPI_MCA_btl_vader_eager_limit below {from}"
            );
            text += "#   verify with pagewise try --with env:UCX_RNDV_THRESH=… -- CMD\n";
        }
        None => {
            text += "#   process_vm_readv is not shown to be faster than the others at any size, so their own thresholds stand.\n"
        }
    }
    text
}

/// What follows for programs that have a setting of their own. They are hints: none of these programs was run.
fn hints(advice: &Advice) -> String {
    let mut text = "\n# Hints for programs with settings of their own; none of them was run here.\n".to_owned();
    if let Some(read) = question(advice, "read") {
        let mapped = read.segments.iter().find(|s| s.way.starts_with("mmap"));
        let words = match mapped {
            Some(s) => {
                format!("a mapping ({}) takes {} from {} to {}", s.way, gain(s), format_size(s.from), format_size(s.to))
            }
            None if read.segments.iter().any(|s| s.way == "read") => {
                "reading cached files takes less time than mapping them".to_owned()
            }
            None => "neither reading nor mapping a cached file is shown to be faster".to_owned(),
        };
        let (sqlite, lucene) = match mapped {
            Some(_) => ("PRAGMA mmap_size is worth a try", "MMapDirectory is right"),
            None => ("leave PRAGMA mmap_size at 0", "measure NIOFSDirectory beside MMapDirectory"),
        };
        let _ = writeln!(text, "#   {words}, read once from end to end:");
        let _ = writeln!(
            text,
            "#     SQLite: {sqlite}. Lucene: {lucene}. RocksDB: allow_mmap_reads {}.",
            if mapped.is_some() { "is worth a try" } else { "stays off" }
        );
        text += "#     LMDB always maps; what its readers pay is the first touch of each page, not this pass.\n";
    }
    if let Some(fault) = question(advice, "fault") {
        let huge = fault.segments.iter().find(|s| s.way.starts_with("thp"));
        match huge {
            Some(s) => {
                let _ = writeln!(
                    text,
                    "#   huge pages take {} from {} on: PostgreSQL huge_pages=on with vm.nr_hugepages for its buffers is worth a try.",
                    gain(s),
                    format_size(s.from)
                );
            }
            None => {
                text +=
                    "#   huge pages are not shown to make memory cheaper here: PostgreSQL huge_pages=try is enough.\n"
            }
        }
    }
    text
}
