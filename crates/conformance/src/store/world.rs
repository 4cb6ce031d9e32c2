//! Our side of a scenario of the level `store`: one store, as the facade has it, and its listers.
//!
//! The store does not look at versions; what it has been applied up to is marked by whoever
//! writes. This one marks what the informer marks: the version received last with a batch.

use std::thread;

use informer_factory::store::{Batch, Lister, Scope, Snapshot, StoreReader, StoreWriter, store};
use informer_factory::{ObjectKey, ResourceVersion};
use k8s_openapi::api::core::v1::ConfigMap;

use super::index_function::{FAILING, IndexFunction, index_function, total};
use super::object::{Word, word_of};
use crate::scenario::{Malformed, Scenario, Step};
use crate::trace::Trace;

/// More objects than this are counted, not shown.
const SHOWN: usize = 20;

/// One run of one scenario.
pub(super) struct World<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) trace: Trace,
    pub(super) reader: StoreReader<ConfigMap>,
    pub(super) lister: Lister<ConfigMap>,
    pub(super) held: Option<Snapshot<ConfigMap>>,
    /// What `index-of` calls; the store keeps its functions to itself.
    pub(super) functions: Vec<(String, IndexFunction)>,
    writer: StoreWriter<ConfigMap>,
}

impl<'a> World<'a> {
    /// An empty store with the indexes the scenario begins with.
    pub(super) fn new(scenario: &'a Scenario) -> Result<Self, Malformed> {
        let (writer, reader) = store();
        let mut world = Self {
            scenario,
            trace: Trace::default(),
            lister: Lister::new(reader.clone()),
            reader,
            held: None,
            functions: Vec::new(),
            writer,
        };
        // That client-go's map may be missing means nothing here.
        let indexes = scenario.setting("indexes").filter(|text| *text != "nil");
        for one in indexes.unwrap_or_default().split(',') {
            if let Some((name, function)) = one.split_once(':') {
                world.add_index(&Step::new("add-index", [name, function]))?;
            }
        }
        Ok(world)
    }

    /// Carries out one step and writes down what it shows.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), Malformed> {
        self.trace.step(step);
        match step.verb.as_str() {
            "add" | "update" | "delete" | "transaction" | "fill" => self.write(step)?,
            "replace" => self.replace(step)?,
            "bookmark" => {
                let mut batch = Batch::new();
                batch.set_version(Scope::All, unquoted(arg(step, 0)).into());
                self.writer.commit(batch);
            }
            // Reminders are not the store's: there is nothing to be done (ST-06).
            "resync" => {}
            "add-index" => return self.add_index(step),
            _ => return self.read(step),
        }
        self.show_store();
        Ok(())
    }

    /// Says that a step makes no sense.
    pub(super) fn malformed(&self, message: &str, step: &Step) -> Malformed {
        self.scenario.malformed(message, step)
    }

    /// Reads one word of a step.
    pub(super) fn word(&self, step: &Step, text: &str) -> Result<Word, Malformed> {
        Word::read(text).ok_or_else(|| self.malformed("not an object", step))
    }

    fn write(&mut self, step: &Step) -> Result<(), Malformed> {
        let operations = self.operations(step)?;
        let mut batch = Batch::new();
        let (mut keyless, mut received) = (Vec::new(), None);
        for (position, (verb, word)) in operations.iter().enumerate() {
            let Ok(key) = word.key() else {
                keyless.push(position.to_string());
                continue;
            };
            match *verb {
                "delete" => batch.remove(key),
                _ => batch.upsert(key, word.entry()),
            }
            received = word.version().or(received);
        }
        if let Some(version) = received {
            batch.set_version(Scope::All, version.into());
        }
        if !keyless.is_empty() {
            let several = step.verb == "transaction";
            let positions = if several { keyless } else { Vec::new() };
            self.trace.push(line("error key", positions));
        }
        if !self.goes_well(|writer| writer.commit(batch)) {
            self.trace.push("panic");
        }
        Ok(())
    }

    fn operations<'s>(&self, step: &'s Step) -> Result<Vec<(&'s str, Word)>, Malformed> {
        if step.verb == "fill" {
            return self.filling(step);
        }
        if step.verb != "transaction" {
            return Ok(vec![(&step.verb, self.word(step, arg(step, 0))?)]);
        }
        let pairs = step.args.chunks(2).map(|pair| match pair {
            [verb, word] if matches!(verb.as_str(), "add" | "update" | "delete") => {
                Ok((verb.as_str(), self.word(step, word)?))
            }
            _ => Err(self.malformed("what is to be done with an object?", step)),
        });
        pairs.collect()
    }

    /// Many objects that differ in the number behind their name.
    fn filling<'s>(&self, step: &'s Step) -> Result<Vec<(&'s str, Word)>, Malformed> {
        let count: usize = arg(step, 0)
            .parse()
            .map_err(|_| self.malformed("how many?", step))?;
        let Word::Object(object) = self.word(step, arg(step, 1))? else {
            return Err(self.malformed("only objects have a number", step));
        };
        let numbered = (0..count).map(|number| {
            let mut object = object.clone();
            object
                .metadata
                .name
                .get_or_insert_default()
                .push_str(&number.to_string());
            ("add", Word::Object(object))
        });
        Ok(numbered.collect())
    }

    fn replace(&mut self, step: &Step) -> Result<(), Malformed> {
        let mut entries = Vec::new();
        let mut keyless = false;
        for text in step.args.iter().skip(1) {
            let word = self.word(step, text)?;
            match word.key() {
                Ok(key) => entries.push((key, word.entry())),
                Err(_) => keyless = true,
            }
        }
        if keyless {
            // ST-05: all of the list or nothing.
            self.trace.push("error key");
            return Ok(());
        }
        let version = ResourceVersion::from(unquoted(arg(step, 0)));
        if !self.goes_well(|writer| writer.replace(Scope::All, entries, version)) {
            self.trace.push("panic");
        }
        Ok(())
    }

    fn add_index(&mut self, step: &Step) -> Result<(), Malformed> {
        let name = arg(step, 0).to_owned();
        let Some(function) = index_function(arg(step, 1)) else {
            return Err(self.malformed("no such function", step));
        };
        let mut taken = false;
        let well = self.goes_well(|writer| {
            taken = writer.add_index(name.as_str(), total(function)).is_err();
        });
        match (well, taken) {
            (false, _) => self.trace.push("panic"),
            (true, true) => self.trace.push("error taken"),
            (true, false) => self.functions.push((name, function)),
        }
        Ok(())
    }

    /// Whether a change ends without a panic, which only a thread can tell.
    fn goes_well<R: Send>(
        &mut self,
        change: impl FnOnce(&mut StoreWriter<ConfigMap>) -> R + Send,
    ) -> bool {
        let writer = &mut self.writer;
        let settings = self.scenario.setting("indexes").unwrap_or_default();
        let steps = &self.scenario.steps;
        if !settings.contains(FAILING) && !steps.iter().any(|step| step.has(FAILING)) {
            change(writer);
            return true;
        }
        thread::scope(|scope| scope.spawn(|| change(writer)).join().is_ok())
    }

    fn show_store(&mut self) {
        let snapshot = self.reader.snapshot();
        if snapshot.len() > SHOWN {
            self.trace.push(format!("store of {}", snapshot.len()));
        } else {
            let words = snapshot.iter().map(|(_, entry)| word_of(&entry.object));
            let mut words: Vec<String> = words.collect();
            words.sort();
            self.trace.push(line("store", words));
        }
        let version = snapshot.version(&Scope::All).filter(|v| !v.is_unset());
        let version = version.map_or("none".to_owned(), ToString::to_string);
        self.trace.push(format!("version {version}"));
    }
}

/// A word and what it is about.
pub(super) fn line(head: &str, words: impl IntoIterator<Item = String>) -> String {
    let mut line = head.to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&word);
    }
    line
}

/// An argument, or nothing.
pub(super) fn arg(step: &Step, position: usize) -> &str {
    step.args.get(position).map_or("", String::as_str)
}

/// `""` stands for no text at all.
pub(super) fn unquoted(word: &str) -> &str {
    if word == "\"\"" { "" } else { word }
}

/// The texts of keys.
pub(super) fn texts(keys: &[ObjectKey]) -> Vec<String> {
    keys.iter().map(ToString::to_string).collect()
}
