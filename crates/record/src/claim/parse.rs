//! A claim's file: what may stand in it. Every complaint names line and column.

use super::{Claim, ClaimKind};
use anyhow::{Result, bail};

/// A place in a file that is complained about.
struct File<'a> {
    path: &'a str,
    text: &'a str,
}

impl File<'_> {
    /// `claims/x.toml:12:5`: where a byte stands.
    fn at(&self, byte: usize) -> String {
        let before = &self.text[..byte.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
        format!("{}:{line}:{column}", self.path)
    }

    /// Place of a key of a table, or the table where it has no such key, or the file's start.
    fn place(&self, table: &str, key: &str) -> String {
        let (mut inside, mut found, mut start) = (table.is_empty(), None, 0);
        for line in self.text.split_inclusive('\n') {
            let trimmed = line.trim();
            if trimmed.starts_with('[') {
                inside = trimmed.trim_matches(['[', ']']) == table;
                found = found.or(inside.then_some(start));
            } else if inside && trimmed.split(['=', ' ']).next() == Some(key) {
                return self.at(start);
            }
            start += line.len();
        }
        self.at(found.unwrap_or(0))
    }
}

impl Claim {
    /// Reads one file. An error names the file, the line and the column.
    pub fn parse(path: &str, text: &str) -> Result<Claim> {
        let file = File { path, text };
        let claim: Claim = toml::from_str(text).map_err(|error| {
            let at = file.at(error.span().map_or(0, |span| span.start));
            anyhow::anyhow!("{at}: {}", error.message().trim().replace('\n', "; "))
        })?;
        sound(&claim, &file)?;
        Ok(claim)
    }
}

fn sound(claim: &Claim, file: &File) -> Result<()> {
    let word = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    if !word(&claim.id) {
        bail!(
            "{}: id {:?} is not one word of letters, digits and - _ .",
            file.place("", "id"),
            claim.id
        );
    }
    if claim.statement.trim().is_empty() || claim.about.is_empty() {
        bail!(
            "{}: a claim needs a statement and at least one word under about",
            file.place("", "statement")
        );
    }
    source(claim, file)?;
    match (&claim.missing, &claim.holds) {
        (Some(_), _) if claim.jobs().next().is_some() => {
            bail!(
                "{}: a claim that says what is missing has no jobs",
                file.place("", "missing")
            )
        }
        (Some(_), _) => return Ok(()),
        (None, None) => bail!(
            "{}: [holds] is left out: with which figures does it hold?",
            file.at(0)
        ),
        (None, Some(_)) => {}
    }
    if claim.jobs().next().is_none() {
        bail!(
            "{}: neither [corrected] nor [published]: what is to be measured?",
            file.at(0)
        );
    }
    holds(claim, file)?;
    jobs(claim, file)
}

fn source(claim: &Claim, file: &File) -> Result<()> {
    let place = |key| file.place("source", key);
    match (&claim.source.address, &claim.source.unlocated) {
        (Some(address), None) if !well_formed(address) => {
            bail!(
                "{}: {address:?} is not an address such as https://example.org/page",
                place("address")
            )
        }
        (Some(_), None) | (None, Some(_)) => {}
        (Some(_), Some(_)) => bail!(
            "{}: a source with an address is not unlocated",
            place("unlocated")
        ),
        (None, None) => bail!(
            "{}: a source needs an address, or says under unlocated why it has none",
            place("title")
        ),
    }
    let date: Vec<&str> = claim.source.read.split('-').collect();
    let digits =
        |text: &str, count: usize| text.len() == count && text.chars().all(|c| c.is_ascii_digit());
    if !matches!(date[..], [y, m, d] if digits(y, 4) && digits(m, 2) && digits(d, 2)) {
        bail!(
            "{}: read = {:?} is not a date such as 2026-11-21",
            place("read"),
            claim.source.read
        );
    }
    Ok(())
}

/// Tells whether it is a web address with a host and without blanks.
fn well_formed(address: &str) -> bool {
    let rest = address
        .strip_prefix("https://")
        .or_else(|| address.strip_prefix("http://"));
    let host = rest
        .and_then(|rest| rest.split(['/', '?', '#']).next())
        .unwrap_or("");
    host.contains('.')
        && host.split('.').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        })
        && !address.contains(|c: char| c.is_whitespace() || "<>\"{}|\\^`".contains(c))
}

fn holds(claim: &Claim, file: &File) -> Result<()> {
    let Some(holds) = &claim.holds else {
        return Ok(());
    };
    let place = |key| file.place("holds", key);
    for (key, edge) in [("low", &holds.low), ("high", &holds.high)] {
        if edge
            .as_ref()
            .is_some_and(|edge| !edge.number().is_some_and(|n| n.is_finite() && n >= 0.0))
        {
            bail!("{}: {key} is neither a number nor a size", place(key));
        }
    }
    let (low, high) = holds.edges();
    if low.zip(high).is_some_and(|(low, high)| low >= high) {
        bail!("{}: low is not below high", place("low"));
    }
    if low.is_none() && high.is_none() {
        bail!(
            "{}: neither low nor high: everything would hold",
            place("low")
        );
    }
    let crossover = claim.kind == ClaimKind::Crossover;
    if crossover && (low.is_none() || high.is_none() || holds.points().len() < 3) {
        bail!(
            "{}: a crossover needs low, high and at least three sizes",
            place("low")
        );
    }
    if !crossover && (holds.parameter.is_some() || !holds.sizes.is_empty()) {
        bail!(
            "{}: only a crossover has a parameter and sizes",
            place("parameter")
        );
    }
    if (claim.kind == ClaimKind::Absolute) != holds.per.is_some() {
        bail!(
            "{}: an absolute claim says per what, and no other does",
            place("per")
        );
    }
    Ok(())
}

fn jobs(claim: &Claim, file: &File) -> Result<()> {
    for (name, job) in claim.jobs() {
        let table = if name == super::CORRECTED {
            "corrected"
        } else {
            "published"
        };
        let absolute = claim.kind == ClaimKind::Absolute;
        if absolute == job.other.is_some() {
            let problem = if absolute {
                "an absolute claim has no"
            } else {
                "what is it compared with? there is no"
            };
            bail!("{}: {problem} other", file.place(table, "other"));
        }
        let varied = claim
            .holds
            .as_ref()
            .filter(|_| claim.kind == ClaimKind::Crossover)
            .map(|h| h.parameter());
        let sets = [
            ("set", &job.set),
            ("way_set", &job.way_set),
            ("other_set", &job.other_set),
        ];
        for (key, set) in sets {
            if varied.is_some_and(|varied| set.contains_key(varied)) {
                bail!(
                    "{}: {key} fixes the parameter that the crossover is about",
                    file.place(table, key)
                );
            }
        }
        let same = job.other.as_ref() == Some(&job.way) && job.way_set == job.other_set;
        if same && (job.other_total.is_none() || job.other_total == job.total) {
            bail!("{}: way and other are the same", file.place(table, "way"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "id = \"x\"\nstatement = \"A is cheaper than B.\"\nkind = \"ratio\"\nabout = [\"copy\"]\n\n\
    [source]\ntitle = \"T\"\nauthor = \"N\"\naddress = \"https://example.org/a\"\nfigure = \"half\"\n\
    read = \"2026-11-21\"\n\n[holds]\nlow = 0.4\nhigh = 0.6\n\n\
    [corrected]\nexperiment = \"copy\"\nway = \"a\"\nother = \"b\"\nset = { bytes = \"1MiB\" }\n";

    fn error(from: &str, to: &str) -> String {
        assert!(SOUND.contains(from), "{from}");
        Claim::parse("own.toml", &SOUND.replace(from, to))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_sound_claim_is_read() {
        let claim = Claim::parse("own.toml", SOUND).unwrap();
        assert_eq!(
            (claim.id.as_str(), claim.holds.unwrap().edges()),
            ("x", (Some(0.4), Some(0.6)))
        );
    }

    #[test]
    fn complaints_name_line_and_column() {
        for (from, to, expected) in [
            (
                "kind = \"ratio\"",
                "kind = \"rato\"",
                "own.toml:3:8: unknown variant `rato`",
            ),
            (
                "figure = \"half\"",
                "figur = \"half\"",
                "own.toml:10:1: unknown field `figur`",
            ),
            (
                "low = 0.4",
                "low = 0.7",
                "own.toml:14:1: low is not below high",
            ),
            (
                "low = 0.4\nhigh = 0.6",
                "",
                "own.toml:13:1: neither low nor high",
            ),
            (
                "https://example.org/a",
                "example.org",
                "own.toml:9:1: \"example.org\" is not an address",
            ),
            (
                "https://example.org/a",
                "https://example.org/a b",
                "own.toml:9:1:",
            ),
            (
                "address = \"https://example.org/a\"\n",
                "",
                "own.toml:7:1: a source needs an address",
            ),
            (
                "2026-11-21",
                "yesterday",
                "own.toml:11:1: read = \"yesterday\" is not a date",
            ),
            (
                "other = \"b\"",
                "other = \"a\"",
                "own.toml:19:1: way and other are the same",
            ),
            (
                "other = \"b\"\n",
                "",
                "own.toml:17:1: what is it compared with? there is no other",
            ),
            (
                "id = \"x\"",
                "id = \"x y\"",
                "own.toml:1:1: id \"x y\" is not one word",
            ),
            (
                "kind = \"ratio\"",
                "kind = \"crossover\"",
                "own.toml:14:1: a crossover needs low, high and at least",
            ),
            (
                "kind = \"ratio\"",
                "kind = \"absolute\"",
                "own.toml:13:1: an absolute claim says per what",
            ),
            (
                "about = [\"copy\"]",
                "about = [\"copy\"]\nmissing = \"ten drives\"",
                "own.toml:5:1: a claim that says what",
            ),
        ] {
            let found = error(from, to);
            assert!(found.contains(expected), "{found}\nwanted {expected}");
        }
    }

    #[test]
    fn a_crossover_is_measured_at_its_edges_and_around_them() {
        let text = SOUND
            .replace("kind = \"ratio\"", "kind = \"crossover\"")
            .replace(
                "low = 0.4\nhigh = 0.6",
                "low = \"32KiB\"\nhigh = \"128KiB\"",
            )
            .replace("set = { bytes = \"1MiB\" }", "");
        let fixed = text.clone() + "set = { bytes = \"1MiB\" }\n";
        let error = Claim::parse("own.toml", &fixed).unwrap_err().to_string();
        assert!(
            error.contains("set fixes the parameter that the crossover is about"),
            "{error}"
        );
        let points = Claim::parse("own.toml", &text)
            .unwrap()
            .holds
            .unwrap()
            .points();
        assert_eq!(points, [4096, 32 << 10, 64 << 10, 128 << 10, 1 << 20]);
    }
}
