//! `cost`: the memory that an informer of a resource takes, by the way in which it keeps objects.

mod packing;
mod report;
mod sample;

use std::time::Duration;

use clap::ValueEnum;

use crate::cluster::catalog::Catalog;
use crate::cluster::discovery::Discovery;
use crate::cluster::explain::{self, Subject};
use crate::cluster::selection::SelectionArguments;
use crate::cluster::{connect, scope};
use crate::failure::Failure;
use crate::screen::Screen;
use crate::{duration, stdout};

use report::Report;
use sample::Collection;

/// Estimate the memory that a cache of a resource takes
///
/// Lists at most 500 objects, and measures what each takes in the cache of an
/// informer: `typed`, decoded as it is; `lean`, decoded without the managed
/// fields and the last applied configuration; and `packed`, compressed. `json`
/// is what the server sends to list it.
///
/// The objects are the first by namespace and name: of every namespace, if some
/// are named with -n. The others are counted, and taken to be like them. Needs
/// the permission to list the resource.
///
/// An object is decoded as a DynamicObject. A type made for the resource, such
/// as Pod, may take a quarter less. What is packed here is JSON; an informer packs
/// built-in kinds as protobuf, which may take a third less. Included are the key
/// of each object and the tables of the store; not included are indexes, pending
/// changes and what the allocator adds.
///
/// Examples:
///   kubectl informer cost pods -A
///   kubectl informer cost deployments.apps -n web,shop --output json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CostArguments {
    #[command(flatten)]
    selection: SelectionArguments,
    /// The form of the answer on stdout
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
    /// The deadline of discovery
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    discovery_timeout: Duration,
    #[command(flatten)]
    cluster: connect::ClusterArguments,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people: a table and a recommendation.
    #[default]
    Text,
    /// For programs: one JSON object with the numbers of bytes.
    Json,
}

/// Measures a sample and prints the estimate.
pub(crate) async fn run(arguments: &CostArguments) -> Result<(), Failure> {
    let screen = Screen::plain();
    let connect::Cluster { client, server } = connect::cluster(&arguments.cluster, &screen).await?;
    let discovery = Discovery::begin(&server, arguments.discovery_timeout);
    let catalog = Catalog::fetch(&client, &discovery).await;
    let catalog = catalog.map_err(|error| explain::discovery(&error))?;
    let selection = &arguments.selection;
    let resource = catalog.resolve(&selection.resource)?;
    let namespaces = selection.namespaces(resource, client.default_namespace())?;
    let (name, scope) = (resource.qualified(), scope::in_words(resource, &namespaces));
    let collection = Collection {
        client,
        resource: resource.api(),
        label_selector: selection.selector.clone(),
        field_selector: selection.field_selector.clone(),
        namespaces,
    };
    let sample = collection.sample().await.map_err(|cause| {
        let subject = Subject {
            resource: &name,
            scope: &scope,
        };
        Failure::failed(explain::trouble(subject, &cause))
    })?;
    if sample.unreadable > 0 {
        screen.say(&format!("{} objects cannot be read", sample.unreadable));
    }
    if sample.measured.is_empty() {
        let what = format!("there are no {name} {scope}");
        return Err(Failure::failed(format!("{} to measure", what.trim_end())));
    }
    let report = Report::new(name, scope, &sample, !resource.is_secret());
    stdout::print(&match arguments.output {
        Output::Text => report.text(),
        Output::Json => report.json(),
    })
}
