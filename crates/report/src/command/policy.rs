//! Files that deploy what a try has shown to cost less. Their texts are templates in `policy.toml`.

use super::quoted;
use super::trial::{exports, finding};
use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use record::command::TrialSummary;
use std::{collections::BTreeMap, path::Path};

const FILES: &str = include_str!("policy.toml");

/// Files that deploy a setting.
pub struct Deployment {
    pub setting: String,
    /// Content by name; programs end in `.sh`.
    pub files: BTreeMap<String, String>,
    /// The library of Pagewise's that goes with them, by its path and its name in their folder.
    pub preload: Option<(String, String)>,
}

/// The policy of the setting that won, for a folder; nothing where none is shown to cost less.
pub fn policy(summary: &TrialSummary, folder: &Path) -> Option<Deployment> {
    let best = judge::command::trial::best(summary)?;
    let mut arm = summary.plan.arms[best].clone();
    let setting = arm.setting.clone()?;
    // A library of Pagewise's lies in its cache, which is no place to deploy from.
    let preload = arm.preloaded.clone().filter(|_| setting.advise_mappings);
    let preload = preload.and_then(|path| {
        let name = Path::new(&path).file_name()?.to_str()?.to_owned();
        let deployed = folder.join(&name).to_str()?.to_owned();
        arm.variables
            .values_mut()
            .for_each(|value| *value = value.replace(&path, &deployed));
        Some((path, name))
    });
    let mut about = vec![
        format!("{}: {}", setting.name, setting.title),
        finding(&summary.arms[best]),
    ];
    about.extend(
        (!setting.side_effects.is_empty())
            .then(|| format!("Side effect: {}.", setting.side_effects)),
    );
    about.push(format!("pagewise report {}", summary.plan.run));
    let about: Vec<String> = about
        .iter()
        .map(|line| format!("# {}", line.replace('\n', " ")))
        .collect();
    let values = context! {
        about => about.join("\n"),
        exports => exports(&arm).into_iter().map(|line| line + "\n").collect::<String>(),
        copied => preload.as_ref().map(|(_, name)| name),
        ..Value::from(Serde(&arm))
    };
    let mut files: BTreeMap<String, String> =
        toml::from_str(FILES).expect("the file is well formed");
    let templates = templates(folder);
    files.values_mut().for_each(|text| {
        *text = templates
            .render_str(text, &values)
            .expect("a template fits every arm")
    });
    files.retain(|_, text| !text.is_empty());
    Some(Deployment {
        setting: setting.name,
        files,
        preload,
    })
}

/// Templates with the ways to quote a text.
fn templates(folder: &Path) -> Environment<'static> {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let folder = folder.to_string_lossy().into_owned();
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .keep_trailing_newline(true)
        .build();
    templates.set_syntax(syntax.expect("the usual marks"));
    templates.add_filter("shell", |text: String| quoted(&text));
    templates.add_filter("systemd", move |text: String| {
        escaped(&text).replace('%', "%%")
    });
    templates.add_filter("docker", move |text: String| {
        escaped(&text.replace(&folder, "/usr/local/lib")).replace('$', "\\$")
    });
    templates
}
