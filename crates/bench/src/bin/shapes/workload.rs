//! Workloads of the templates, and the collection of their pods.

use super::live::{self, Place};
use super::manifest::{Owner, fill, fill_text};
use super::templates::{self, Template};
use super::{Item, Request};
use informer_bench::chance::Chance;

/// The pods of a workload, at most.
const REPLICAS: u64 = 19;

/// The workloads of a namespace that several templates share.
const NEIGHBOURS: usize = 8;

/// A workload in one revision: a template whose placeholders are filled.
pub(super) struct Workload {
    pub(super) owner: Owner,
    pub(super) name: String,
    pub(super) namespace: String,
    /// The hash of the template, which is part of the names of pods of a deployment.
    pub(super) hash: String,
    pub(super) uid: String,
    pub(super) pod: serde_json::Value,
}

/// The namespaces of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// Workloads of any templates are neighbours.
    Mixed,
    /// All workloads of a template are in one namespace, and no others.
    Apart,
    /// Each namespace has one workload of each template, with the same values in all namespaces:
    /// the installations of several tenants.
    Tenants,
}

/// Makes the pods of workloads of all templates.
pub(super) fn pods(request: Request, spread: Spread) -> Vec<Item> {
    let templates = templates::all();
    let mut items = Vec::with_capacity(request.objects);
    let mut number = 0;
    while items.len() < request.objects {
        // Drawn apart from the rest, so that a rollout changes neither templates nor replicas.
        let mut plan = Chance::new(request.seed, number);
        let is_in_turn = spread == Spread::Tenants || number < templates.len();
        let (template, replicas) = match is_in_turn {
            // Each is there, however few objects there are.
            true => (number % templates.len(), 1),
            false => (plan.index(templates.len()), 1 + plan.below(REPLICAS)),
        };
        let workload = workload(&templates, template, number, request, spread);
        for ordinal in 0..replicas {
            let mut chance = Chance::new(request.draw(2), items.len());
            let place = Place::draw(ordinal, items.len(), &mut chance);
            let (name, pod) = live::pod(&workload, &place, &mut chance);
            items.push(Item::new(&workload.namespace, &name, template, &pod));
        }
        number += 1;
    }
    items.truncate(request.objects);
    items
}

fn workload(
    templates: &[Template],
    template: usize,
    number: usize,
    request: Request,
    spread: Spread,
) -> Workload {
    let uid = Chance::new(request.draw(6), number).uid();
    let mut chance = match spread {
        Spread::Tenants => Chance::new(request.draw(7), template),
        Spread::Mixed | Spread::Apart => Chance::new(request.draw(1), number),
    };
    let count = templates.len();
    let template = &templates[template];
    let names = template.names();
    let manifest = &template.manifest;
    let name = fill_text(&manifest.name, names, &mut chance);
    let (name, namespace) = match spread {
        // Two workloads of a template may be neighbours.
        Spread::Mixed => (
            format!("{name}-{number:03}"),
            format!("team-{:03}", number / NEIGHBOURS),
        ),
        Spread::Apart => (
            format!("{name}-{number:03}"),
            template.name.replace(' ', "-"),
        ),
        Spread::Tenants => (name, format!("tenant-{:04}", number / count)),
    };
    Workload {
        owner: manifest.owner,
        name,
        namespace,
        hash: chance.suffix(10),
        uid,
        pod: fill(&manifest.pod, names, &mut chance),
    }
}
