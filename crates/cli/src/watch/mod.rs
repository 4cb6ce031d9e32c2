//! `watch`: any resource of the current cluster, through an informer, one line per change.

mod changes;
mod follow;
mod line;
mod printable;
mod printer;

use std::time::Duration;

use clap::ValueEnum;
use informer_factory::{InformerOptions, Projection, SharedInformerFactory};
use tokio::time::Instant;

use crate::duration;
use crate::failure::Failure;
use crate::queue::Queue;
use crate::screen::Screen;
use crate::signals;

use crate::cluster::catalog::Catalog;
use crate::cluster::discovery::Discovery;
use crate::cluster::selection::SelectionArguments;
use crate::cluster::{connect, explain, scope};
use follow::Following;
use line::{Form, Lines};
use printable::Printable;

/// Show the changes of a resource: added, updated and how, deleted
///
/// RESOURCE is what kubectl takes: pods, pod, po, deployments.apps,
/// deployments.v1.apps, or any custom resource. Needs the permissions to list
/// and to watch it, and nothing else.
///
/// First come the objects there are, marked `initial`; then every change. A
/// deletion that happened while the connection was down is found by listing
/// again, and said to be one whose final state is unknown. Control characters in
/// names and values are escaped, and the values of secrets are never shown.
///
/// Examples:
///   kubectl informer watch pods -A
///   kubectl informer watch deploy -n web --diff
///   kubectl informer watch nodes --metadata-only --output json --until-synced
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    selection: SelectionArguments,
    /// The form of the lines on stdout
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
    /// Ask the server for metadata only: less traffic, less memory
    #[arg(long)]
    metadata_only: bool,
    /// Show old and new values of what changed, not only where
    #[arg(long)]
    diff: bool,
    /// End when everything there is has been printed
    #[arg(long)]
    until_synced: bool,
    /// End after this time, discovery included
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse)]
    duration: Option<Duration>,
    /// The deadline of discovery, before the watch; --for bounds it too
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    discovery_timeout: Duration,
    /// Which queue stands between the watch and the cache
    #[arg(long, value_enum, default_value_t)]
    queue: Queue,
    #[command(flatten)]
    cluster: connect::ClusterArguments,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people: a word, the object, what changed.
    #[default]
    Text,
    /// For programs: one JSON object per line, with the object itself.
    Json,
}

/// Runs the watch until it is told to end.
pub(crate) async fn run(arguments: &WatchArguments) -> Result<(), Failure> {
    let screen = Screen::plain();
    let connect::Cluster { client, server } = connect::cluster(&arguments.cluster, &screen).await?;
    // Neither sum overflows: `duration::parse` bounds every duration by a year.
    let end = arguments.duration.map(|duration| Instant::now() + duration);
    let timeout = arguments.discovery_timeout;
    let timeout = arguments
        .duration
        .map_or(timeout, |bound| bound.min(timeout));
    let discovery = Discovery::begin(&server, timeout);
    let catalog = Catalog::fetch(&client, &discovery)
        .await
        .map_err(|error| explain::discovery(&error))?;
    let selection = &arguments.selection;
    let resource = catalog.resolve(&selection.resource)?;
    let namespaces = selection.namespaces(resource, client.default_namespace())?;
    let following = Following {
        lines: Lines::new(resource, form(arguments)),
        scope: scope::in_words(resource, &namespaces),
        resource: resource.qualified(),
        until_synced: arguments.until_synced,
        end,
        screen: screen.clone(),
    };
    let api = resource.api();
    let queue = arguments.queue.kind();
    let failed = |error: informer_factory::InformerError| Failure::failed(error.to_string());
    let factory = SharedInformerFactory::builder(client).queue(queue).build();
    let factory = factory.map_err(failed)?;
    signals::tell_status_when_asked(factory.clone(), screen);
    if arguments.metadata_only {
        let options = options(arguments).namespaces(namespaces);
        let informer = factory.packed_metadata(&api, options).map_err(failed)?;
        following.follow(&factory, &informer).await
    } else {
        let options = options(arguments).namespaces(namespaces);
        let informer = factory.packed_dynamic(&api, options).map_err(failed)?;
        following.follow(&factory, &informer).await
    }
}

fn form(arguments: &WatchArguments) -> Form {
    match (arguments.output, arguments.diff) {
        (Output::Text, diff) => Form::Text { values: diff },
        (Output::Json, diff) => Form::Json { values: diff },
    }
}

/// What kubectl hides too is not even kept.
///
/// The objects are kept packed: each is read when a change of it is printed, and seldom again.
fn options<K>(arguments: &WatchArguments) -> InformerOptions<Printable<K>> {
    let mut options = InformerOptions::new().projection(Projection::lean());
    let selection = &arguments.selection;
    options.label_selector.clone_from(&selection.selector);
    options.field_selector.clone_from(&selection.field_selector);
    options
}
