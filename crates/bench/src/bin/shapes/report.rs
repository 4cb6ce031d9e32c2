//! The tables of shapes, in Markdown.

use anyhow::{Result, ensure};

use super::packing::{Lengths, Packing};
use super::{Request, Shape};

/// The templates that a table of templates shows from each end.
const SHOWN: usize = 3;

const HEADINGS: &str = "\
| objects | number | JSON, B each | without managed fields | dictionary, B | packed, B each \
| ratio | pack, µs | unpack, µs |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |";

const DRIFT_HEADINGS: &str = "\
| objects | packed before, B each | ratio | after, old dictionary | ratio | times as much | after, \
new dictionary | ratio |
| --- | --- | --- | --- | --- | --- | --- | --- |";

const TEMPLATE_HEADINGS: &str = "\
| template | number | JSON, B each | without managed fields | packed, B each | ratio | after a \
rollout, old dictionary | new dictionary |
| --- | --- | --- | --- | --- | --- | --- | --- |";

/// Measures all shapes and prints their tables.
///
/// # Errors
///
/// If an informer does not hold all objects of a shape.
pub(crate) async fn print(request: Request) -> Result<()> {
    ensure!(request.objects > 0, "a collection has an object at least");
    println!("{HEADINGS}");
    let mut rollouts = Vec::new();
    for shape in Shape::ALL {
        let before = Packing::of(shape, shape.items(request)).await?;
        println!("{}", row(shape, &before)?);
        if shape.has_templates() {
            rollouts.push((shape, Rollout::of(shape, before, request).await?));
        }
    }
    println!("\nEvery workload rolled out:\n\n{DRIFT_HEADINGS}");
    for (shape, rollout) in &rollouts {
        println!("{}", rollout.row(*shape));
    }
    for (shape, rollout) in &rollouts {
        println!("\nTemplates, {}:\n", shape.title());
        println!("{TEMPLATE_HEADINGS}");
        let rows = rollout.template_rows(&shape.templates());
        let hidden = SHOWN..rows.len().saturating_sub(SHOWN);
        for (at, row) in rows.iter().enumerate() {
            if at == hidden.start && !hidden.is_empty() {
                println!("| {} others | | | | | | | |", hidden.len());
            }
            if !hidden.contains(&at) {
                println!("{row}");
            }
        }
    }
    Ok(())
}

/// A row of the first table.
fn row(shape: Shape, packing: &Packing) -> Result<String> {
    let sum = Sum::of(&packing.objects);
    let dictionary = packing.dictionary.as_ref();
    let dictionary = dictionary.map_or_else(
        || "none".to_owned(),
        |dictionary| dictionary.as_bytes().len().to_string(),
    );
    Ok(format!(
        "| {} | {} | {} | {} | {dictionary} | {} | {:.1} | {:.1} | {:.1} |",
        shape.title(),
        sum.objects,
        sum.each(sum.json),
        sum.each(sum.text),
        sum.each(sum.packed),
        sum.ratio(),
        packing.pack_time()?,
        packing.unpack_time()?,
    ))
}

/// A collection before and after all its workloads were rolled out.
struct Rollout {
    before: Vec<Lengths>,
    /// Packed with the dictionary from before.
    old: Vec<Lengths>,
    /// Packed with a dictionary that was trained from the new objects.
    new: Vec<Lengths>,
}

impl Rollout {
    async fn of(shape: Shape, before: Packing, request: Request) -> Result<Self> {
        let revision = request.revision + 1;
        let items = shape.items(Request {
            revision,
            ..request
        });
        let after = Packing::of(shape, items).await?;
        Ok(Self {
            old: after.packed_with(before.dictionary.as_ref())?,
            new: after.objects,
            before: before.objects,
        })
    }

    fn row(&self, shape: Shape) -> String {
        let (before, old, new) = (
            Sum::of(&self.before),
            Sum::of(&self.old),
            Sum::of(&self.new),
        );
        format!(
            "| {} | {} | {:.1} | {} | {:.1} | {:.2} | {} | {:.1} |",
            shape.title(),
            before.each(before.packed),
            before.ratio(),
            old.each(old.packed),
            old.ratio(),
            before.ratio() / old.ratio(),
            new.each(new.packed),
            new.ratio(),
        )
    }

    /// The rows of the templates, that of the largest packed objects first.
    fn template_rows(&self, names: &[String]) -> Vec<String> {
        let of = |lengths: &[Lengths], template: usize| {
            Sum::of(lengths.iter().filter(|one| one.template == template))
        };
        let mut rows: Vec<(usize, String)> = (0..names.len())
            .map(|template| {
                let sum = of(&self.before, template);
                let (old, new) = (of(&self.old, template), of(&self.new, template));
                let row = format!(
                    "| {} | {} | {} | {} | {} | {:.1} | {} | {} |",
                    names[template],
                    sum.objects,
                    sum.each(sum.json),
                    sum.each(sum.text),
                    sum.each(sum.packed),
                    sum.ratio(),
                    old.each(old.packed),
                    new.each(new.packed),
                );
                (sum.each(sum.packed), row)
            })
            .collect();
        rows.sort_by(|a, b| b.cmp(a));
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// The lengths of several objects together, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    objects: usize,
    json: usize,
    text: usize,
    packed: usize,
}

impl Sum {
    fn of<'a>(lengths: impl IntoIterator<Item = &'a Lengths>) -> Self {
        let add = |sum: Self, one: &Lengths| Self {
            objects: sum.objects + 1,
            json: sum.json + one.json,
            text: sum.text + one.text,
            packed: sum.packed + one.packed,
        };
        lengths.into_iter().fold(Self::default(), add)
    }

    fn each(&self, bytes: usize) -> usize {
        bytes / self.objects.max(1)
    }

    fn ratio(&self) -> f64 {
        self.text as f64 / self.packed.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(template: usize, packed: usize) -> Lengths {
        Lengths {
            template,
            json: 30,
            text: 20,
            packed,
        }
    }

    #[test]
    fn ratio_is_of_all_bytes_and_not_the_mean_of_ratios() {
        let sum = Sum::of(&[lengths(0, 1), lengths(0, 9)]);
        assert_eq!((sum.objects, sum.each(sum.packed)), (2, 5));
        assert!((sum.ratio() - 4.0).abs() < 1e-9);
    }

    #[test]
    fn templates_are_in_the_order_of_packed_bytes_largest_first() {
        let before = vec![lengths(0, 2), lengths(1, 8), lengths(1, 10), lengths(2, 4)];
        let rollout = Rollout {
            old: vec![lengths(1, 12)],
            new: before.clone(),
            before,
        };
        let names = ["a", "b", "c"].map(str::to_owned);
        let rows = rollout.template_rows(&names);
        assert_eq!(rows[0], "| b | 2 | 30 | 20 | 9 | 2.2 | 12 | 9 |");
        assert!(rows[1].starts_with("| c |") && rows[2].starts_with("| a |"));
    }
}
