//! `crates/kube-protobuf/structs.in`: which field of which struct of k8s-openapi a
//! field of a message is.
//!
//! The table of messages has numbers and encodings, k8s-openapi's source the fields of the structs,
//! in each of the versions of Kubernetes it supports. A field that only later versions have is
//! compiled for these.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::k8s_openapi::{Sources, Struct, path};

/// Groups and versions whose objects are decoded without serde: those that clusters are full of.
const GROUPS: [&str; 12] = [
    "apps/v1",
    "autoscaling/v2",
    "batch/v1",
    "coordination/v1",
    "core/v1",
    "discovery/v1",
    "events/v1",
    "networking/v1",
    "policy/v1",
    "rbac/v1",
    "scheduling/v1",
    "storage/v1",
];

/// Types of one value, by the word that the table has for them.
const SCALARS: [(&str, &str); 9] = [
    ("bool", "bool"),
    ("i32", "i32"),
    ("i64", "i64"),
    ("str", "std::string::String"),
    ("bytes", "crate::ByteString"),
    ("time", TIMES[0]),
    ("micro", TIMES[1]),
    (
        "quantity",
        "crate::apimachinery::pkg::api::resource::Quantity",
    ),
    (
        "intstr",
        "crate::apimachinery::pkg::util::intstr::IntOrString",
    ),
];

/// The types of times, which have no default.
const TIMES: [&str; 2] = [
    "crate::apimachinery::pkg::apis::meta::v1::Time",
    "crate::apimachinery::pkg::apis::meta::v1::MicroTime",
];

// The types of JSON within a message.
const FIELDS_V1: &str = "crate::apimachinery::pkg::apis::meta::v1::FieldsV1";
const RAW_EXTENSION: &str = "crate::apimachinery::pkg::runtime::RawExtension";

/// Returns the text of the file.
pub(super) fn generate(table: &str) -> Result<String> {
    let sources = Sources::find()?;
    Generator {
        messages: read_table(table),
        sources,
        done: BTreeMap::new(),
    }
    .file(table)
}

/// A field of a message, as the table has it.
struct Field<'a> {
    number: u32,
    name: &'a str,
    /// `.`, `*`, `[`, `{` or `>`.
    shape: char,
    omitted: bool,
    /// A scalar, or the full name of a message.
    kind: String,
}

type Messages<'a> = BTreeMap<&'a str, Rc<Vec<Field<'a>>>>;

fn read_table(table: &str) -> Messages<'_> {
    let mut messages = BTreeMap::new();
    let mut current = "";
    for line in table.lines() {
        match line.strip_prefix(' ') {
            Some(field) => {
                let package = current.split('.').next().unwrap_or_default();
                if let Some(fields) = messages.get_mut(current) {
                    let fields: &mut Vec<_> = fields;
                    fields.extend(read_field(field, package));
                }
            }
            None if line.starts_with(['#', '=']) => {}
            None => {
                current = line.split(' ').next().unwrap_or_default();
                // The JSON of a message with a rule is one of its fields.
                if !line.contains(" ~") {
                    messages.insert(current, Vec::new());
                }
            }
        }
    }
    let shared = messages.into_iter().map(|(name, it)| (name, Rc::new(it)));
    shared.collect()
}

fn read_field<'a>(line: &'a str, package: &str) -> Option<Field<'a>> {
    let mut words = line.split(' ');
    let number = words.next()?.parse().ok()?;
    let name = words.next()?;
    let shape = words.next()?;
    let kind = words.next()?;
    Some(Field {
        number,
        name,
        shape: shape.chars().next()?,
        omitted: shape.ends_with('?'),
        kind: match kind.strip_prefix('.') {
            Some(name) => format!("{package}.{name}"),
            None => kind.to_owned(),
        },
    })
}

struct Generator<'a> {
    messages: Messages<'a>,
    sources: Sources,
    /// The text of each message that was reached; `None` if a struct cannot be filled by it.
    done: BTreeMap<String, Option<Done>>,
}

struct Done {
    text: String,
    /// The first version that has the struct.
    since: u32,
}

impl Generator<'_> {
    fn file(mut self, table: &str) -> Result<String> {
        let mut kinds = Vec::new();
        for line in table.lines().filter_map(|line| line.strip_prefix('=')) {
            let message = line.rsplit(' ').next().unwrap_or_default();
            let package = message.split('.').next().unwrap_or_default();
            let is_list = message.ends_with("List");
            if !GROUPS.contains(&package) || is_list || !self.is_resource(message)? {
                continue;
            }
            match self.message(message)? {
                Some(since) => kinds.push((message.to_owned(), since)),
                None => eprintln!("{message} is left to serde"),
            }
        }
        ensure!(kinds.len() > 40, "{} kinds only", kinds.len());
        self.write(&kinds)
    }

    /// Whether the struct is an object with metadata, in some version.
    fn is_resource(&self, message: &str) -> Result<bool> {
        let structs = self.sources.structs(message)?;
        Ok(structs.values().any(|it| it.contains_key("metadata")))
    }

    fn write(&self, kinds: &[(String, u32)]) -> Result<String> {
        let mut text = String::from("// Made by `cargo xtask protobuf-schema`.\n\nkinds! {\n");
        for (message, since) in kinds {
            let path = path(message).context("a kind without a path")?;
            let since = self.since(*since);
            writeln!(text, "{since}    {path}, \"{message}\";")?;
        }
        text.push_str("}\n");
        for done in self.done.values().flatten() {
            text.push_str(&done.text);
        }
        Ok(text)
    }

    /// The attribute of what only later versions have.
    fn since(&self, minor: u32) -> String {
        match minor == self.sources.oldest() {
            true => String::new(),
            false => format!("#[cfg(kubernetes_1_{minor})]\n"),
        }
    }

    /// Describes a message and all within it; `None` if its struct cannot be filled.
    fn message(&mut self, message: &str) -> Result<Option<u32>> {
        if let Some(done) = self.done.get(message) {
            return Ok(done.as_ref().map(|done| done.since));
        }
        // A message within itself would need a bound on its depth.
        self.done.insert(message.to_owned(), None);
        let structs = self.sources.structs(message)?;
        let (Some(path), Some(&since)) = (path(message), structs.keys().next()) else {
            return Ok(None);
        };
        let mut outer = Outer {
            message,
            gate: self.since(since),
            path,
            structs,
            inline: String::new(),
        };
        let Some(fields) = self.fields(message, &mut outer)? else {
            return Ok(None);
        };
        // A time has no default.
        let default = match fields.contains(" required ") {
            true => "without default ",
            false => "",
        };
        let (gate, path, inline) = (outer.gate, outer.path, outer.inline);
        let text = format!("\n{gate}message!({default}{path} {{\n{fields}}});\n{inline}");
        self.done
            .insert(message.to_owned(), Some(Done { text, since }));
        Ok(Some(since))
    }

    /// The lines of the fields of `message` in the struct of `outer`.
    fn fields(&mut self, message: &str, outer: &mut Outer<'_>) -> Result<Option<String>> {
        let Some(fields) = self.messages.get(message).cloned() else {
            return Ok(None);
        };
        let mut text = String::new();
        let mut is_known = true;
        for field in fields.iter() {
            let line = match field.shape {
                '>' => self.inline(field, outer)?,
                _ => self.field(field, outer)?,
            };
            match line {
                Some(line) => text.push_str(&line),
                None => is_known = false,
            }
        }
        Ok(is_known.then_some(text))
    }

    fn inline(&mut self, field: &Field<'_>, outer: &mut Outer<'_>) -> Result<Option<String>> {
        let Some(fields) = self.fields(&field.kind, outer)? else {
            return Ok(None);
        };
        let name = |message: &str| message.replace(['.', '/'], " ");
        let name = |message: &str| name(message).split(' ').next_back().map(str::to_owned);
        let (Some(inner), Some(around)) = (name(&field.kind), name(outer.message)) else {
            return Ok(None);
        };
        let group = outer.message.split('/').next().unwrap_or_default();
        let part = format!("{}{around}{inner}", capitalized(group));
        let (gate, path) = (&outer.gate, &outer.path);
        let text = format!("{gate}inline!({part} in {path} {{\n{fields}}});\n");
        outer.inline.push_str(&text);
        Ok(Some(format!("    {} \"-\" inline {part};\n", field.number)))
    }

    /// The line of a field, or two if only later versions of the struct have it.
    fn field(&mut self, field: &Field<'_>, outer: &Outer<'_>) -> Result<Option<String>> {
        let (number, name) = (field.number, field.name);
        let skipped = field.skipped();
        let mut present = outer.structs.iter();
        let Some((since, (rust, of_type))) =
            present.find_map(|(minor, it)| Some((*minor, it.get(name)?)))
        else {
            return Ok(Some(skipped));
        };
        for (_, later) in present {
            let is_kept = later.get(name).is_some_and(|(it, _)| it == rust);
            ensure!(is_kept, "{}.{name}: later versions lack it", outer.message);
        }
        if !self.has_type(field, of_type)? {
            return Ok(None);
        }
        let encoding = match TIMES.contains(&of_type.as_str()) {
            true => "required",
            false => field.encoding(),
        };
        let line = format!("    {number} \"{name}\" {encoding} {rust};\n");
        let is_new = outer.structs.keys().next() != Some(&since);
        Ok(Some(match is_new {
            true => format!(
                "    #[cfg(kubernetes_1_{since})]\n{line}    \
                 #[cfg(not(kubernetes_1_{since}))]\n{skipped}"
            ),
            false => line,
        }))
    }

    /// Whether a field of the struct has the type by which it is read.
    fn has_type(&mut self, field: &Field<'_>, of_type: &str) -> Result<bool> {
        let within = |text: &str, outer: &str| -> Option<String> {
            let inner = text.strip_prefix(outer)?.strip_suffix('>')?;
            Some(inner.to_owned())
        };
        let of_type = within(of_type, "Option<").unwrap_or_else(|| of_type.to_owned());
        let single = match field.shape {
            '[' => within(&of_type, "std::vec::Vec<"),
            '{' => within(&of_type, "std::collections::BTreeMap<std::string::String, "),
            _ => Some(of_type),
        };
        let Some(single) = single else {
            return Ok(false);
        };
        if field.kind == "json" {
            return Ok([FIELDS_V1, RAW_EXTENSION].contains(&single.as_str()));
        }
        if let Some((_, of_type)) = SCALARS.iter().find(|(word, _)| *word == field.kind) {
            return Ok(single == *of_type);
        }
        let is_same = path(&field.kind).is_some_and(|path| single == format!("crate::{path}"));
        Ok(is_same && self.message(&field.kind)?.is_some())
    }
}

/// The struct that is being described.
struct Outer<'a> {
    message: &'a str,
    path: String,
    /// Its attribute, if only later versions have it.
    gate: String,
    structs: BTreeMap<u32, Struct>,
    /// The inline messages within it.
    inline: String,
}

impl Field<'_> {
    fn encoding(&self) -> &'static str {
        match (self.shape, self.omitted) {
            ('.', true) => "omitted",
            ('.', false) => "value",
            ('[', _) => "list",
            ('{', _) => "map",
            _ => "pointer",
        }
    }

    /// The line of a field that the struct lacks.
    fn skipped(&self) -> String {
        let wire = match (self.shape, self.kind.as_str()) {
            ('{', _) => 2,
            (_, "bool" | "i32" | "i64") => 0,
            (_, "f64") => 1,
            _ => 2,
        };
        let skip = match self.shape {
            '[' | '{' => "skip_list",
            _ => "skip",
        };
        format!("    {} \"{}\" {skip} {wire};\n", self.number, self.name)
    }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_uppercase() + rest
}
