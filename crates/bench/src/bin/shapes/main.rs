//! Prints what packed informers make of collections of different shapes, in Markdown.
//!
//! The objects are made from a seed and served from memory, so no server is needed. The process
//! stays on one processor, so that objects arrive in the order of the list and every run trains its
//! dictionaries from the same samples.

mod application;
mod config_map;
mod event;
mod live;
mod manifest;
mod ownership;
mod packing;
mod report;
mod served;
mod status;
mod templates;
#[cfg(test)]
mod tests;
mod workload;

use std::io::{BufWriter, Write};

use anyhow::Result;
use clap::Parser;
use informer_bench::{pod, processor};
use informer_factory::ApiResource;
use serde_json::Value;

use workload::Spread;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures packed objects of several shapes. No server is needed.
#[derive(Debug, Parser)]
struct CommandLine {
    /// The number of objects of each shape.
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// The seed of all random values.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes pods of thirty templates instead, one of a line in JSON.
    #[arg(long)]
    print: bool,
}

fn main() -> Result<()> {
    let CommandLine {
        objects,
        seed,
        print,
    } = CommandLine::parse();
    let request = Request {
        objects,
        seed,
        revision: 0,
    };
    if print {
        let mut output = BufWriter::new(std::io::stdout().lock());
        for item in Shape::MixedPods.items(request) {
            writeln!(output, "{}", item.json)?;
        }
        return Ok(output.flush()?);
    }
    processor::stay_on_one(0)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(report::print(request))
}

/// How many objects of a shape are made, and from which seed.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The number of objects.
    pub objects: usize,
    /// The seed of all random values.
    pub seed: u64,
    /// The revision of the workloads. A rollout changes what their templates draw, and replaces
    /// their pods. Objects of the other shapes have one revision only.
    pub revision: u64,
}

impl Request {
    /// Returns the seed of one stream of random values.
    fn draw(self, stream: u64) -> u64 {
        let mixed = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (stream << 32) ^ (self.revision << 40)
    }
}

/// One object of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Namespace and name.
    pub key: String,
    /// The number of the template that the object is made from; zero in shapes without templates.
    pub template: usize,
    /// The object without `kind` and `apiVersion`, as API servers send items of lists.
    pub json: String,
}

impl Item {
    fn new(namespace: &str, name: &str, template: usize, object: &Value) -> Self {
        Self {
            key: format!("{namespace}/{name}"),
            template,
            json: object.to_string(),
        }
    }
}

/// A shape of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The pods of the other benchmarks, of about 4 KB.
    BenchPods,
    /// Pods of thirty templates. Each namespace has workloads of several templates.
    MixedPods,
    /// Such pods. Each namespace has workloads of one template.
    PodsApart,
    /// Such pods. Each namespace has a workload of each template, the same in all of them.
    TenantPods,
    /// Custom resources of about 20 KB.
    Applications,
    /// Events.
    Events,
    /// Config maps of about 1 KB.
    ConfigMaps,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 7] = [
        Self::BenchPods,
        Self::MixedPods,
        Self::PodsApart,
        Self::TenantPods,
        Self::Applications,
        Self::Events,
        Self::ConfigMaps,
    ];

    /// Returns the name of the shape in the tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::BenchPods => "pods of the other tables",
            Self::MixedPods => "pods of 30 templates: namespaces with several",
            Self::PodsApart => "pods of 30 templates: a namespace for each",
            Self::TenantPods => "pods of 30 templates: the same in each namespace",
            Self::Applications => "custom resources",
            Self::Events => "events",
            Self::ConfigMaps => "config maps",
        }
    }

    /// Returns true if the objects are made from templates that a rollout changes.
    pub fn has_templates(self) -> bool {
        matches!(self, Self::MixedPods | Self::PodsApart | Self::TenantPods)
    }

    /// Returns the names of the templates, by their numbers.
    pub fn templates(self) -> Vec<String> {
        match self.has_templates() {
            true => templates::all().into_iter().map(|one| one.name).collect(),
            false => Vec::new(),
        }
    }

    /// Returns the resource that the objects belong to.
    pub fn resource(self) -> ApiResource {
        let (group, version, kind, plural) = match self {
            Self::BenchPods | Self::MixedPods | Self::PodsApart | Self::TenantPods => {
                ("", "v1", "Pod", "pods")
            }
            Self::Applications => (
                "deploy.example.com",
                "v1alpha1",
                "Application",
                "applications",
            ),
            Self::Events => ("", "v1", "Event", "events"),
            Self::ConfigMaps => ("", "v1", "ConfigMap", "configmaps"),
        };
        let api_version = match group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        };
        ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version,
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        }
    }

    /// Makes the objects, in the order of their keys, in which API servers list them.
    pub fn items(self, request: Request) -> Vec<Item> {
        let numbers = 0..request.objects;
        let mut items: Vec<Item> = match self {
            Self::BenchPods => numbers
                .map(|number| bench_pod(request.seed, number))
                .collect(),
            Self::MixedPods => workload::pods(request, Spread::Mixed),
            Self::PodsApart => workload::pods(request, Spread::Apart),
            Self::TenantPods => workload::pods(request, Spread::Tenants),
            Self::Applications => numbers.map(|n| application::item(request, n)).collect(),
            Self::Events => numbers.map(|number| event::item(request, number)).collect(),
            Self::ConfigMaps => numbers
                .map(|number| config_map::item(request, number))
                .collect(),
        };
        items.sort_by(|a, b| a.key.cmp(&b.key));
        items
    }
}

fn bench_pod(seed: u64, number: usize) -> Item {
    Item {
        key: format!("{}/{}", pod::namespace(number), pod::name(number)),
        template: 0,
        json: pod::json(seed, number),
    }
}
