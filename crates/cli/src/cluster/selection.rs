//! The arguments that name a resource and choose among its objects.

use informer_factory::Namespaces;

use super::resource::Resource;
use super::scope::{self, Asked};
use crate::failure::Failure;

/// A resource, and which of its objects.
#[derive(Debug, clap::Args)]
pub(crate) struct SelectionArguments {
    /// Plural, singular, short name or kind; also PLURAL.GROUP,
    /// PLURAL.VERSION.GROUP
    #[arg(verbatim_doc_comment)]
    pub(crate) resource: String,
    /// The namespaces, separated by commas [default: that of the context]
    #[arg(short, long, value_name = "NS", value_delimiter = ',')]
    namespace: Vec<String>,
    /// All namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// Only objects with these labels, such as app=web,tier!=cache
    #[arg(short = 'l', long, value_name = "SEL")]
    pub(crate) selector: Option<String>,
    /// Only objects with these fields, such as spec.nodeName=node-7
    #[arg(long, value_name = "SEL")]
    pub(crate) field_selector: Option<String>,
}

impl SelectionArguments {
    /// The namespaces that are meant, with that of the context as the default.
    pub(crate) fn namespaces(
        &self,
        resource: &Resource,
        default: &str,
    ) -> Result<Namespaces, Failure> {
        let asked = Asked {
            namespaces: &self.namespace,
            all: self.all_namespaces,
            default,
        };
        scope::namespaces(resource, &asked)
    }
}
