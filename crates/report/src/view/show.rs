//! `show`: a method's file and the project files that it includes, each line that the clock covers marked by `>`.

use std::fmt::Write as _;

type Sources<'a> = [(&'a str, &'a str)];

/// The file `source` without other methods than `method`, and, nearest first, the files of the project that it includes or
/// imports. None: not in `sources`.
pub fn measured_source(source: &str, method: &str, sources: &Sources) -> Option<String> {
    let mut files = vec![sources.iter().find(|(path, _)| *path == source)?];
    let mut next = 0;
    while let Some(&&(path, text)) = files.get(next) {
        // A file of functions is shown for its header; its own headers say no more of the method.
        let is_end = next > 0 && path.ends_with(".c");
        let more = sources
            .iter()
            .filter(|file| !is_end && includes(path, text, file));
        let more: Vec<_> = more.filter(|file| !files.contains(file)).collect();
        files.extend(more);
        next += 1;
    }
    let mut text = "// Lines that begin with > are what the clock covers.\n".to_owned();
    for (path, source) in files {
        let source = &without_other_methods(source, method);
        let _ = write!(text, "\n// {path}\n\n");
        for (line, covered) in source.lines().zip(covered(path, source)) {
            let _ = writeln!(
                text,
                "{}",
                format!("{} {line}", if covered { '>' } else { ' ' }).trim_end()
            );
        }
    }
    Some(text)
}

fn declares(paragraph: &str) -> bool {
    paragraph.lines().any(|line| line.starts_with("METHOD("))
}

/// A file without the paragraphs that declare other methods: several may share a body. A file that does not declare `method` is
/// left as it is.
fn without_other_methods(text: &str, method: &str) -> String {
    let name = format!(".name = \"{method}\"");
    let mut paragraphs: Vec<&str> = text.split("\n\n").collect();
    if !paragraphs.iter().any(|p| declares(p) && p.contains(&name)) {
        return text.to_owned();
    }
    paragraphs.retain(|paragraph| !declares(paragraph) || paragraph.contains(&name));
    paragraphs.join("\n\n")
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|other| other == word)
}

/// True if `line` includes the header at `header`: from its own folder, the harness, or by a path.
fn is_include(line: &str, path: &str, header: &str) -> bool {
    let Some(name) = line
        .strip_prefix("#include \"")
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return false;
    };
    let near = format!("{}/{name}", folder(path));
    [
        &*near,
        &format!("workers/c/harness/{name}"),
        &format!("workers/c/{name}"),
    ]
    .contains(&header)
        || name
            .strip_prefix("../")
            .is_some_and(|rest| header == format!("{}/{rest}", folder(folder(path))))
}

fn is_import(line: &str, module: &str) -> bool {
    imported_names(line, module).is_some()
        || imported_names(line, folder(module)).is_some_and(|names| has_word(names, stem(module)))
}

/// The names that a line of Python imports from a module or package.
fn imported_names<'a>(line: &'a str, path: &str) -> Option<&'a str> {
    let module = path
        .trim_start_matches("workers/python/")
        .trim_end_matches(".py")
        .replace('/', ".");
    line.strip_prefix(&format!("from {module} import "))
}

/// Names of the functions that a Go file declares.
fn go_functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("func "))
        .filter_map(move |rest| {
            let rest = rest
                .split_once(") ")
                .filter(|_| rest.starts_with('('))
                .map_or(rest, |(_, rest)| rest);
            rest.split('(').next()
        })
}

/// True if the file at `path` stands on `other`: C by `#include`, and a header on the files of its functions; Python by
/// `import`; Java by a class of its package; Go by a function of a file that registers no method.
fn includes(path: &str, text: &str, &(other, content): &(&str, &str)) -> bool {
    match (
        path.rsplit('.').next().unwrap_or_default(),
        other.rsplit('.').next().unwrap_or_default(),
    ) {
        // The measured half of a Rust method.
        ("c", "rs") => folder(path) == folder(other) && stem(path) == stem(other),
        ("c" | "h", "h") => text.lines().any(|line| is_include(line, path, other)),
        // The functions of a header are in the file of its name; its phases may be in another, without a method.
        ("h", "c") => {
            let has_phases = content.contains("PHASE(s, ") && !content.contains("\nMETHOD(");
            folder(path) == folder(other) && (stem(path) == stem(other) || has_phases)
        }
        ("py", "py") => text.lines().any(|line| is_import(line, other)),
        ("java", "java") => {
            stem(folder(path)) == stem(folder(other)) && has_word(text, stem(other))
        }
        ("go", "go") => {
            let [experiment, of_other] = [path, other].map(|path| stem(path).split('_').next());
            (experiment == of_other || text.contains("= register("))
                && !content.contains("= register(")
                && go_functions(content).any(|name| has_word(text, name))
        }
        _ => false,
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// For each line of a source: true if it is within a phase.
fn covered(path: &str, source: &str) -> Vec<bool> {
    let mut covered = Vec::new();
    // The open phase: the indentation of its first line; a line as deep, or less deep, ends it.
    let mut open: Option<usize> = None;
    for line in source.lines() {
        let code = line.trim_start();
        let ends =
            open.is_some_and(|depth| !code.is_empty() && code != "{" && indent(line) <= depth);
        let ends_go = code.starts_with("s.end") || code.ends_with(".End()");
        if ends && (!path.ends_with(".go") || ends_go) {
            open = None;
        }
        covered.push(open.is_some() && !code.is_empty() && code != "{");
        let is_macro = path.ends_with(".rs") && code.contains("phase!(\"");
        let (begins, body) = if is_macro {
            // A macro's argument ends in the same line, or opens a block.
            (true, if code.ends_with('{') { "" } else { code })
        } else if path.ends_with(".go") {
            (
                code.starts_with("s.begin(")
                    || code.starts_with("s.beginParallel(")
                    || code.contains(".Begin(\""),
                "",
            )
        } else {
            let begins = [
                "PHASE(",
                "PARALLEL_PHASE(",
                "SERIES_PHASE(",
                "try (var phase = ",
                "with s.phase(",
                "with run.phase(",
            ];
            let body = code
                .split_once(") {")
                .map_or("", |(_, body)| body.trim_matches([' ', '\\']));
            (begins.iter().any(|begin| code.starts_with(begin)), body)
        };
        if begins && body.is_empty() {
            open = Some(indent(line));
        } else if begins {
            // The whole phase is one line.
            covered.pop();
            covered.push(body != "}");
        }
    }
    cover_whole_functions(source, &mut covered);
    covered
}

/// Covers the bodies of a user's functions that have no phase.
fn cover_whole_functions(source: &str, covered: &mut [bool]) {
    let lines: Vec<&str> = source.lines().collect();
    for start in (0..lines.len()).filter(|&start| is_function(lines[start])) {
        let depth = indent(lines[start]);
        let body = start + 1 + head_lines(&lines[start..]);
        let inside = lines.get(body..).unwrap_or_default().iter();
        let inside = inside.take_while(|line| line.is_empty() || indent(line) > depth);
        let end = body + inside.count();
        covered[start] = lines[start].ends_with('}');
        if !covered[body..end].contains(&true) {
            for line in body..end {
                covered[line] = !lines[line].trim().is_empty();
            }
        }
    }
}

/// Lines after the first one of a function that stand before its body: of a marked one up to the brace or the colon.
fn head_lines(lines: &[&str]) -> usize {
    let is_mark = lines[0].trim_start().starts_with(['@', '#']) && !lines[0].ends_with('{');
    if !is_mark {
        return usize::from(lines.get(1) == Some(&"{"));
    }
    let mut rest = lines[1..].iter();
    let end = rest.position(|line| line.ends_with(['{', ':']));
    end.map_or(0, |end| end + 1)
}

/// Tells whether a line begins a function for `bench`.
fn is_function(line: &str) -> bool {
    let at_start = ["BENCH(", "BASELINE(", "@pagewise.bench", "func Benchmark"];
    let marks = [
        "#[pagewise::bench]",
        "#[pagewise::baseline]",
        "@pagewise.B",
        "@Bench",
        "@Baseline",
    ];
    at_start.iter().any(|begin| line.starts_with(begin))
        || line.strip_prefix("export fn ").is_some_and(is_measured_zig)
        || marks
            .iter()
            .any(|begin| line.trim_start().starts_with(begin))
}

/// Tells whether an exported function of a Zig file is measured: its line from its name on. Functions with these ends belong
/// to a measured one and are not timed.
fn is_measured_zig(line: &str) -> bool {
    let name = line.split('(').next().unwrap_or_default();
    let ends = ["_setup", "_result", "_teardown"];
    !ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_methods_that_share_a_body_only_the_one_asked_for_is_shown() {
        let file = r#"
static SHARED_BODY void run(struct slot *s, int flags)
{
    PHASE(s, "map") { map(flags); }
}

static void plain(struct slot *s) { run(s, 0); }
METHOD(a, .name = "mmap", .run = plain);

static void populated(struct slot *s) { run(s, 1); }
METHOD(b, .name = "mmap-populate", .run = populated);
"#;
        let shown = |method| measured_source("a.c", method, &[("a.c", file)]).unwrap();
        let (plain, populated) = (shown("mmap"), shown("mmap-populate"));
        assert!(
            plain.contains("run(s, 0)") && !plain.contains("populated"),
            "{plain}"
        );
        assert!(
            populated.contains("METHOD(b") && !populated.contains("METHOD(a"),
            "{populated}"
        );
        for text in [plain, populated] {
            assert!(text.contains(">     PHASE(s, \"map\")"), "{text}");
        }
        assert!(shown("read").contains("METHOD(a") && shown("read").contains("METHOD(b"));
    }

    /// The lines of a user's file that are marked, without their indentation.
    fn covered_lines(name: &str, text: &str) -> Vec<String> {
        let shown = measured_source(name, "", &[(name, text)]).unwrap();
        let lines = shown.lines().skip(1);
        lines
            .filter_map(|line| Some(line.strip_prefix('>')?.trim().to_owned()))
            .collect()
    }

    #[test]
    fn phases_and_whole_functions_of_each_language_are_marked() {
        let rust = "#[pagewise::bench]\nfn a() {\n    let v = pagewise::phase!(\"x\", work());\n    pagewise::phase!(\"y\", {\n        more()\n    });\n    \
                    last();\n}\n\n#[pagewise::baseline]\nfn b() -> u64 {\n    whole()\n}\n";
        assert_eq!(
            covered_lines("f.rs", rust),
            [
                "let v = pagewise::phase!(\"x\", work());",
                "more()",
                "whole()"
            ]
        );
        let go = "func BenchmarkA(b *pagewise.B) {\n\tb.Begin(\"x\")\n\twork()\n\tb.End()\n\tlast()\n}\n\nfunc BenchmarkB(b *pagewise.B) {\n\twhole()\n}\n";
        assert_eq!(covered_lines("f.go", go), ["work()", "whole()"]);
        let java = "class F {\n    @pagewise.Bench\n    static long a(pagewise.Run run) {\n        try (var phase = run.phase(\"x\")) {\n            work();\n        }\n        \
                    return 1;\n    }\n\n    @Baseline\n    static void b() {\n        whole();\n    }\n}\n";
        assert_eq!(covered_lines("F.java", java), ["work();", "whole();"]);
        let zig = "export fn a(_: ?*anyopaque) void {\n    whole();\n}\n\nexport fn a_result(_: ?*anyopaque) u64 {\n    return 1;\n}\n";
        assert_eq!(covered_lines("f.zig", zig), ["whole();"]);
    }
}
