//! Functions of a user's file that measures none yet.

/// Words that look like a function's definition and are none.
const KEYWORDS: [&str; 6] = ["if", "for", "while", "switch", "catch", "main"];

/// A function that a file defines.
#[derive(Debug, PartialEq)]
struct FoundFunction<'a> {
    name: &'a str,
    returns: bool,
    takes: bool,
}

/// A language whose functions are named by a keyword.
struct OtherLanguage {
    /// End of the names of its files.
    end: &'static str,
    keyword: &'static str,
    /// The mark of a function, and where it belongs.
    mark: &'static str,
    place: &'static str,
    /// The mark with a usual body, where no function is known.
    example: &'static str,
}

const OTHERS: [OtherLanguage; 5] = [
    OtherLanguage {
        end: "rs",
        keyword: "fn ",
        mark: "#[pagewise::bench]",
        place: "above a function without parameters, such as one that calls",
        example: "#[pagewise::bench] fn name() { … }",
    },
    OtherLanguage {
        end: "go",
        keyword: "func ",
        mark: "import \"pagewise\" and func BenchmarkName(b *pagewise.B) { … }",
        place: "which calls",
        example: "func BenchmarkName(b *pagewise.B) { … }",
    },
    OtherLanguage {
        end: "java",
        keyword: "static ",
        mark: "@pagewise.Bench",
        place: "above a static method without parameters, such as one that calls",
        example: "@pagewise.Bench static void name() { … }",
    },
    OtherLanguage {
        end: "zig",
        keyword: "fn ",
        mark: "export fn name(_: ?*anyopaque) void { … }",
        place: "which calls",
        example: "export fn name(_: ?*anyopaque) void { … }",
    },
    OtherLanguage {
        end: "py",
        keyword: "def ",
        mark: "@pagewise.bench",
        place: "above a function without parameters, such as one that calls",
        example: "@pagewise.bench above a function",
    },
];

impl OtherLanguage {
    fn to_write(&self, file: &str, text: &str) -> String {
        let OtherLanguage {
            keyword,
            mark,
            place,
            example,
            ..
        } = self;
        let lines = text.lines().filter(|line| line.contains(keyword));
        let names: Vec<&str> = lines
            .filter_map(|line| {
                let head = line[line.find(keyword)?..].split('(').next()?;
                head.split_whitespace().next_back()
            })
            .map(|name| name.split(['<', ':']).next().unwrap_or(name))
            .filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
            .filter(|name| !KEYWORDS.contains(name))
            .collect();
        let main = text.rsplit_once("main(").map_or("", |(_, main)| main);
        let called = names
            .iter()
            .rfind(|name| main.contains(&format!("{name}(")));
        match called.or(names.last()) {
            Some(name) => {
                format!("{file} has no function to measure: write {mark} {place} {name}()")
            }
            None => format!("{file} has no function to measure: {example}"),
        }
    }
}

/// The sentence about a file without a function to measure: with the lines to write, if it has a main() and another function.
pub(super) fn to_write(file: &str, text: &str) -> String {
    let end = file.rsplit('.').next().unwrap_or_default();
    let other = OTHERS.iter().find(|language| language.end == end);
    if let Some(language) = other {
        return language.to_write(file, text);
    }
    let functions = functions(text);
    let called = text.rsplit_once("main(").map_or("", |(_, main)| main);
    let is_called = |function: &&FoundFunction| called.contains(&format!("{}(", function.name));
    let function = functions.iter().rfind(is_called).or(functions.last());
    let has_main = text.contains("main(");
    let Some(function) = function.filter(|_| has_main) else {
        return format!(
            "{file} has no BENCH(name) {{ … }}: pagewise bench --new FILE.c writes one to start from"
        );
    };
    let call = format!(
        "{}({})",
        function.name,
        if function.takes { "…" } else { "" }
    );
    let body = if function.returns {
        format!("RESULT({call});")
    } else {
        format!("{call};")
    };
    format!(
        "{file} has a main() and no BENCH: its main() may stay; write #include <pagewise.h> and BENCH({}) {{ {body} }}",
        function.name
    )
}

/// Functions that are defined at the file's outermost level, in the order of their lines. Comments, texts and macros that
/// have braces of their own may hide some.
fn functions(text: &str) -> Vec<FoundFunction<'_>> {
    let mut functions = Vec::new();
    let (mut depth, mut from) = (0usize, 0usize);
    for (at, character) in text.char_indices() {
        match character {
            '{' => {
                if depth == 0 {
                    functions.extend(defined(text[from..at].trim()));
                }
                depth += 1;
            }
            '}' => {
                depth = depth.saturating_sub(1);
                from = at + 1;
            }
            ';' if depth == 0 => from = at + 1,
            _ => {}
        }
    }
    functions
}

/// The function that begins with this text before its body; none where it begins something else.
fn defined(text: &str) -> Option<FoundFunction<'_>> {
    let (head, parameters) = text.strip_suffix(')')?.split_once('(')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name_at = head
        .trim_end()
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + 1);
    let name = head.trim_end().get(name_at..)?;
    let before = head
        .get(..name_at)?
        .rsplit(['\n', '>'])
        .find(|line| !line.trim().is_empty())?;
    let is_named = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    (is_named && !KEYWORDS.contains(&name)).then(|| FoundFunction {
        name,
        returns: before.contains('*') || !before.split_whitespace().any(|word| word == "void"),
        takes: !matches!(parameters.trim(), "" | "void"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_is_told_its_own_mark_with_the_functions_name() {
        for (file, text, part) in [
            (
                "a.rs",
                "fn work(n: u64) -> u64 { n }\nfn main() { work(3); }\n",
                "#[pagewise::bench]",
            ),
            (
                "a.go",
                "package main\n\nfunc work(n int) int { return n }\n\nfunc main() { work(3) }\n",
                "func Benchmark",
            ),
            (
                "A.java",
                "class A {\n    static long work(long n) { return n; }\n    public static void main(String[] a) { work(3); }\n}\n",
                "@pagewise.Bench",
            ),
            (
                "a.zig",
                "fn work(n: u64) u64 { return n; }\npub fn main() void { _ = work(3); }\n",
                "export fn name",
            ),
            ("a.py", "def work(n):\n    return n\n", "@pagewise.bench"),
        ] {
            let sentence = to_write(file, text);
            assert!(
                sentence.contains(part) && sentence.ends_with("calls work()"),
                "{sentence}"
            );
        }
        assert!(
            to_write("a.go", "package main\n").ends_with("func BenchmarkName(b *pagewise.B) { … }")
        );
    }

    #[test]
    fn a_file_with_a_main_is_told_what_to_write_with_its_functions_name() {
        for (text, words) in [
            (
                "#include <stdio.h>\nstatic int work(void) { return 1; }\nint main(void) { return work() == 0; }\n",
                "BENCH(work) { RESULT(work()); }",
            ),
            (
                "struct a { int b; };\nvoid fill(char *p, int n) { for (;;) { } }\nint unused() { return 0; }\n\
                 int\nmain(int argc, char **argv)\n{ fill(0, 1); }",
                "BENCH(fill) { fill(…); }",
            ),
            (
                "char *name(void)\n{ return 0; }\nint main() { }",
                "BENCH(name) { RESULT(name()); }",
            ),
        ] {
            let sentence = to_write("a.c", text);
            assert!(
                sentence.starts_with("a.c has a main() and no BENCH") && sentence.ends_with(words),
                "{sentence}"
            );
        }
        for text in [
            "int x;\n",
            "int work(void) { return 1; }\n",
            "int main(void) { return 0; }\n",
        ] {
            let sentence = to_write("a.c", text);
            assert!(sentence.contains("--new FILE.c"), "{sentence}");
        }
    }
}
