//! What is brought to our queue.

use informer_deltafifo::{Deletion, Final};

use super::object::Object;
use super::world::World;
use crate::scenario::{Malformed, Step};

impl World<'_> {
    /// Carries out a step of the one who brings changes.
    pub(super) fn produce(&mut self, step: &Step) -> Result<(), Malformed> {
        let closed = self.queue.is_closed();
        match step.verb.as_str() {
            "add" | "update" => {
                let (key, object) = self.object(step, step.args.first())?;
                self.write(&step.verb, key, object);
            }
            "delete" => {
                let (key, object) = self.object(step, step.args.first())?;
                let mark = object.version.clone();
                if !closed {
                    self.remove(key, Final::Observed(object), mark);
                }
            }
            "gone" => {
                let word = step.args.first();
                let (key, last) = match word.filter(|word| !word.contains('@')) {
                    Some(key) => (key.clone(), None),
                    None => self
                        .object(step, word)
                        .map(|(key, last)| (key, Some(last)))?,
                };
                // Whoever notices a deletion by itself received nothing with it.
                let mark = self.queue.received().cloned().unwrap_or_default();
                if !closed {
                    self.remove(key, Final::Unknown(last), mark);
                }
            }
            "replace" => self.replace(step)?,
            "resync" => {
                // Without Replaced a list looks like a resync.
                let replaced = self.scenario.setting("replaced").unwrap_or("yes") == "yes";
                if !closed && replaced {
                    let known = self.known_now();
                    self.queue.resync(&known).expect("it is open");
                }
            }
            "bookmark" => {
                let version = step.args.first().cloned().unwrap_or_default();
                if !closed {
                    self.queue.bookmark(version).expect("it is open");
                }
            }
            _ => {
                let what = "nobody understands this step";
                return Err(self.scenario.malformed(what, step));
            }
        }
        Ok(())
    }

    fn write(&mut self, verb: &str, key: String, object: Object) {
        if self.queue.is_closed() && (!self.populated || object.bad) {
            return;
        }
        self.populated = true;
        let mark = object.version.clone();
        let answer = if verb == "add" {
            self.queue.add(key, object, mark)
        } else {
            self.queue.update(key, object, mark)
        };
        if answer.is_err() {
            self.trace.push("error closed");
        }
        self.show_rejected();
    }

    fn remove(&mut self, key: String, last: Final<Object>, mark: String) {
        self.populated = true;
        let known = self.known_now();
        let became = self.queue.delete(key, last, mark, &known);
        self.show_rejected();
        if became.expect("it is open") == Deletion::Ignored {
            self.trace.push("ignored");
        }
    }

    /// With objects that fail, whatever waits in a `DeltaFifo` is taken at once: client-go's has
    /// half of the list twice.
    fn replace(&mut self, step: &Step) -> Result<(), Malformed> {
        if self.queue.is_closed() {
            return Ok(());
        }
        let Some((version, words)) = step.args.split_first() else {
            return Err(self.scenario.malformed("a list has a version", step));
        };
        let items = words.iter().map(|word| self.object(step, Some(word)));
        let items = items.collect::<Result<Vec<_>, _>>()?;
        self.populated = true;
        let known = self.known_now();
        let answer = self.queue.replace(items, version.clone(), &known);
        answer.expect("it is open");
        let rejected = self.show_rejected();
        self.relist = self.is_delta && !self.queue.is_empty();
        if rejected && self.is_delta {
            self.observe();
            self.drain(false);
        }
        Ok(())
    }

    fn show_rejected(&mut self) -> bool {
        let rejected = self.queue.take_rejected();
        if rejected.is_empty() {
            return false;
        }
        let keys: Vec<String> = rejected.into_iter().map(|one| one.key).collect();
        self.trace.push(format!("rejected {}", keys.join(" ")));
        true
    }
}
