//! The estimate: what each object takes, what all of them take, and what to choose.

use informer_factory::{DynamicObject, PackedObject};
use serde::Serialize;

use super::packing;
use super::sample::{Measured, Sample};
use crate::escape;

/// From this number of objects on, packed objects are recommended.
const MANY: u64 = 10_000;

/// If they save this many bytes, they are recommended for fewer objects too.
const MUCH: u64 = 256 << 20;

/// The estimate for one collection, in bytes. `cost --help` says what the ways are.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    resource: String,
    scope: String,
    objects: u64,
    measured: usize,
    unreadable: usize,
    json: Cost,
    typed: Cost,
    lean: Cost,
    packed: Cost,
    /// The part of each object's bytes that its key and the tables of the store take.
    key_bytes: u64,
    /// The part of all packed objects' bytes that their dictionary takes; 0 without one.
    dictionary_bytes: u64,
    /// What packed objects save against lean ones.
    saved_bytes: u64,
    recommended: &'static str,
}

/// What one way of keeping objects takes.
#[derive(Clone, Copy, Debug, Serialize)]
struct Cost {
    object_bytes: u64,
    total_bytes: u64,
}

impl Report {
    /// The estimate from a sample with at least one measured object.
    ///
    /// `may_train`: whether an informer may train a dictionary from the objects.
    pub(super) fn new(resource: String, scope: String, sample: &Sample, may_train: bool) -> Self {
        let (objects, measured) = (sample.objects, sample.measured.len());
        let sum = |bytes: fn(&Measured) -> usize| {
            let bytes = sample.measured.iter().map(|object| bytes(object));
            bytes.sum::<usize>()
        };
        let cost = |bytes: usize, shared: usize| {
            let average = bytes as f64 / measured.max(1) as f64;
            Cost {
                object_bytes: average.round() as u64,
                total_bytes: (average * objects as f64).round() as u64 + shared as u64,
            }
        };
        let texts: Vec<_> = sample.measured.iter().map(|object| &*object.text).collect();
        let packing = packing::pack(&texts, may_train);
        let packed = packing.packed + measured * size_of::<PackedObject<DynamicObject>>();
        let records = sample.records;
        let lean = cost(sum(|object| object.lean) + records, 0);
        let packed = cost(packed + records, packing.dictionary);
        let saved = lean.total_bytes.saturating_sub(packed.total_bytes);
        Self {
            resource,
            scope,
            objects,
            measured,
            unreadable: sample.unreadable,
            json: cost(sum(|object| object.json), 0),
            typed: cost(sum(|object| object.typed) + records, 0),
            lean,
            packed,
            key_bytes: cost(records, 0).object_bytes,
            dictionary_bytes: packing.dictionary as u64,
            saved_bytes: saved,
            recommended: match (objects >= MANY && saved > 0) || saved >= MUCH {
                true => "packed",
                false => "lean",
            },
        }
    }

    /// One line of JSON.
    pub(super) fn json(&self) -> String {
        let json = serde_json::to_string(self).expect("numbers and names are JSON");
        format!("{}\n", escape::json(&json))
    }

    /// A table, and a recommendation.
    pub(super) fn text(&self) -> String {
        let Self {
            resource, scope, ..
        } = self;
        let place = match scope.as_str() {
            "" => String::new(),
            scope => format!(" {scope}"),
        };
        let (objects, measured) = (thousands(self.objects), self.measured);
        let mut lines = vec![
            format!("{resource}{place}: {objects} objects, {measured} of them measured"),
            String::new(),
            format!("{:8}{:>15}{:>15}", "", "B an object", "in all"),
        ];
        for (way, cost) in self.ways() {
            let (object, total) = (thousands(cost.object_bytes), amount(cost.total_bytes));
            lines.push(format!("{way:8}{object:>15}{total:>15}"));
        }
        let key = thousands(self.key_bytes);
        lines.push(String::new());
        lines.push(format!(
            "In a cache {key} B of each object are its key and the store's tables."
        ));
        if self.dictionary_bytes > 0 {
            let dictionary = amount(self.dictionary_bytes);
            lines.push(format!(
                "Packed objects share a dictionary of {dictionary}, included in all."
            ));
        }
        lines.push(String::new());
        lines.push(self.advice());
        lines.join("\n") + "\n"
    }

    fn ways(&self) -> [(&'static str, Cost); 4] {
        [
            ("json", self.json),
            ("typed", self.typed),
            ("lean", self.lean),
            ("packed", self.packed),
        ]
    }

    fn advice(&self) -> String {
        let saved = amount(self.saved_bytes);
        match self.recommended {
            "packed" => format!(
                "Recommended: packed, which saves {saved} against lean, with a view of the\n\
                 fields that a program reads often: SharedInformerFactory::packed_with."
            ),
            _ => format!(
                "Recommended: lean, which is simplest to read: InformerOptions::projection with\n\
                 Projection::lean(). Packed objects would save {saved}; they pay from some ten\n\
                 thousand objects on."
            ),
        }
    }
}

/// A number with its thousands separated: `12,345`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes with the precision that matters: `512 B`, `3.4 KiB`, `1.2 GiB`.
fn amount(bytes: u64) -> String {
    let (mut amount, mut unit) = (bytes as f64, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if amount < 1024.0 {
            break;
        }
        (amount, unit) = (amount / 1024.0, larger);
    }
    match unit {
        "B" => format!("{bytes} B"),
        unit => format!("{amount:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn object(number: u32) -> Measured {
        let text = format!(
            "{{\"number\":{number},\"same\":\"{}\"}}",
            "same ".repeat(100)
        );
        Measured {
            json: 1_000,
            typed: 9_000,
            lean: 5_000,
            text: text.into_bytes().into(),
        }
    }

    fn report(objects: u64) -> Report {
        let sample = Sample {
            objects,
            measured: (0..300).map(|n| Arc::new(object(n))).collect(),
            unreadable: 0,
            records: 300 * 175,
        };
        Report::new(
            "pods".to_owned(),
            "in namespace web".to_owned(),
            &sample,
            true,
        )
    }

    #[test]
    fn each_way_costs_what_its_objects_take() {
        let report = report(12_000);
        assert_eq!(report.json.object_bytes, 1_000);
        assert_eq!(report.json.total_bytes, 12_000_000);
        assert_eq!(report.typed.object_bytes, 9_175);
        assert_eq!(report.lean.total_bytes, 12_000 * 5_175);
        assert!(report.packed.object_bytes < 500, "{report:?}");
        assert_eq!(report.key_bytes, 175);
    }

    #[test]
    fn packed_is_recommended_from_ten_thousand_objects_on() {
        assert_eq!(report(9_999).recommended, "lean");
        let report = report(10_000);
        assert_eq!(report.recommended, "packed");
        let text = report.text();
        assert!(text.starts_with("pods in namespace web: 10,000 objects, 300 of them measured\n"));
        assert!(
            text.contains("typed             9,175       87.5 MiB\n"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn packed_is_recommended_for_fewer_objects_if_they_save_much() {
        let mut object = object(1);
        object.lean = 1 << 20;
        let sample = Sample {
            objects: 300,
            measured: vec![Arc::new(object)],
            unreadable: 0,
            records: 175,
        };
        let report = Report::new("pods".to_owned(), String::new(), &sample, true);
        assert_eq!(report.recommended, "packed", "{report:?}");
        assert!(
            report.text().contains("saves 300.0 MiB"),
            "{}",
            report.text()
        );
    }

    #[test]
    fn numbers_are_written_for_people() {
        let written = [0, 999, 1_000, 1_234_567].map(thousands);
        assert_eq!(written, ["0", "999", "1,000", "1,234,567"]);
        let written = [12, 1_024, 1_572_864, 3 << 40].map(amount);
        assert_eq!(written, ["12 B", "1.0 KiB", "1.5 MiB", "3.0 TiB"]);
    }
}
