//! The tables of the report in Markdown as GitHub and GitLab show it.

use std::io::Write;

use anyhow::Result;

use crate::inert::inert;
use crate::view::{ExperimentView, GroupView, Row, Taken};

type Column = (&'static str, fn(&Row) -> &str);

const COLUMNS: [Column; 6] = [
    ("per unit", |r| &r.per_unit),
    ("× baseline (95 %)", |r| &r.ratio_words),
    ("what that says", |r| &r.sentence),
    ("of best possible", |r| &r.of_best_possible),
    ("CPU", |r| &r.cpu),
    ("minor faults", |r| &r.faults),
];

pub(super) fn write(taken: &Taken<'_>, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "# pagewise · {}\n", text(&taken.view.head.join(" · ")))?;
    for experiment in &taken.view.experiments {
        of_experiment(experiment, out)?;
    }
    for sentence in taken.view.sure.iter().chain(&taken.view.notes) {
        writeln!(out, "- {}", text(sentence))?;
    }
    Ok(writeln!(out, "\nRun {} of {}, pagewise {}.", text(&taken.run), text(&taken.created), text(&taken.version))?)
}

fn of_experiment(experiment: &ExperimentView, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "## {}: {}\n", text(&experiment.name), text(&experiment.title))?;
    writeln!(out, "Compared: {}. A unit is a {}.\n", text(&experiment.compared), text(&experiment.unit))?;
    if !experiment.constant.is_empty() {
        writeln!(out, "Everywhere: {}.\n", text(&experiment.constant.join(" ")))?;
    }
    for group in &experiment.groups {
        of_group(group, out)?;
    }
    if !experiment.absent.is_empty() {
        writeln!(out, "| without figures | outcome | reason |\n|---|---|---|")?;
        for absent in &experiment.absent {
            let (names, status) = (absent.names.join(", "), absent.status.word());
            writeln!(out, "| {} | {status} | {} |", text(&names), text(&absent.reason))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn of_group(group: &GroupView, out: &mut dyn Write) -> Result<()> {
    if !group.setting.is_empty() {
        writeln!(out, "### {}\n", text(&group.setting))?;
    }
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    writeln!(out, "| method | {} | {} |", text(&group.headline), names.join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(COLUMNS.len() + 1))?;
    for kind in &group.kinds {
        if !kind.heading.is_empty() {
            writeln!(out, "| *{}* |{}", text(&kind.heading), " |".repeat(COLUMNS.len() + 1))?;
        }
        for row in &kind.rows {
            let fields: Vec<String> = COLUMNS.iter().map(|(_, of)| text(of(row))).collect();
            writeln!(out, "| {} | {} | {} |", text(&row.label), text(&row.time), fields.join(" | "))?;
        }
    }
    writeln!(out)?;
    for sentence in group.answers.iter().chain(&group.moved) {
        writeln!(out, "- {}", text(sentence))?;
    }
    if group.answers.len() + group.moved.len() > 0 {
        writeln!(out)?;
    }
    Ok(())
}

/// Text that Markdown and HTML take as it is.
fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in inert(text).chars() {
        match sign {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' | '$' => shown.extend(['\\', sign]),
            // An address or a name behind an at sign would become a link or call somebody.
            '@' => shown.push_str("&#64;"),
            ':' => shown.push_str("&#58;"),
            other => shown.push(other),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_for_markup() {
        assert_eq!(text("a|b <i>*c*</i> @all"), "a\\|b &lt;i&gt;\\*c\\*&lt;/i&gt; &#64;all");
    }
}
