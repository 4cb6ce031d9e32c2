//! Schemas: the fields of every message, from a table made of the Go types of Kubernetes.

mod ignored;
mod size;
mod table;

use std::fmt;
use std::sync::OnceLock;

#[cfg(test)]
pub(crate) use ignored::MOST_VISITORS;
pub(crate) use ignored::{Ignored, NAMES, VisitorId};
pub(crate) use size::TEXT;
use table::table;
pub(crate) use table::{Choice, Entry, Field, Kind, Message, Shape};

/// The schema of one message: its fields, their numbers, and how JSON writes them.
///
/// The table contains every built-in kind of one minor version of Kubernetes. A message is read
/// from the table when it is used for the first time.
#[derive(Clone, Copy)]
pub struct Schema(&'static Entry);

impl Schema {
    /// Returns the schema of a built-in kind.
    ///
    /// ```
    /// use informer_kube_protobuf::Schema;
    ///
    /// let schema = Schema::of("apps/v1", "Deployment").expect("a built-in kind");
    /// assert_eq!(schema.name(), "apps/v1.Deployment");
    /// assert!(Schema::of("example.org/v1", "Widget").is_none());
    /// ```
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        table().of(api_version, kind).map(Self)
    }

    /// Returns the schema of a message by its name: `core/v1.Container`, `meta/v1.ObjectMeta`.
    ///
    /// The name consists of the group and version as Go's packages have them, and of the type.
    #[must_use]
    pub fn message(name: &str) -> Option<Self> {
        table().message(name).map(Self)
    }

    /// Returns the schema of the items, if this is the schema of a list.
    ///
    /// ```
    /// use informer_kube_protobuf::Schema;
    ///
    /// let list = Schema::of("v1", "PodList").expect("a built-in kind");
    /// assert_eq!(list.item().map(|item| item.name()), Some("core/v1.Pod"));
    /// ```
    #[must_use]
    pub fn item(self) -> Option<Self> {
        let items = self.0.message().field(2)?;
        match (items.name, items.shape, items.kind) {
            ("items", Shape::List, Kind::Message(item)) => Some(Self(item)),
            _ => None,
        }
    }

    /// Returns the name of the message.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns every built-in kind as `(apiVersion, kind)`, in this order.
    pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
        table().kinds()
    }

    pub(crate) fn entry(self) -> &'static Entry {
        self.0
    }

    pub(crate) fn fields(self) -> &'static Message {
        self.0.message()
    }

    pub(crate) fn choice(self) -> Option<Choice> {
        self.0.choice
    }

    /// The message that a body and an object without schema of their own share.
    pub(crate) fn type_meta() -> Self {
        static TYPE_META: OnceLock<Schema> = OnceLock::new();
        let find = || Self::message("runtime.TypeMeta").expect("in the table, see the tests");
        *TYPE_META.get_or_init(find)
    }
}

#[cfg(feature = "k8s-openapi")]
impl Message {
    /// Returns the schema of the values of a field, if they are messages.
    pub(crate) fn of_field(&self, number: u32) -> Option<Schema> {
        match self.field(number)?.kind {
            Kind::Message(entry) => Some(Schema(entry)),
            _ => None,
        }
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.name()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_the_table_is_well_formed() {
        let mut fields = 0;
        for entry in table().messages() {
            let message = entry.message();
            fields += message.fields().count();
            for field in message.fields() {
                assert!(field.number < 64, "{}", entry.name);
                assert_eq!(
                    message.field(field.number).map(|it| it.name),
                    Some(field.name)
                );
            }
        }
        assert!(fields > 4000, "{fields} fields");
    }

    #[test]
    fn every_kind_has_a_message() {
        let mut kinds: Vec<_> = Schema::kinds().collect();
        assert!(kinds.len() > 300, "{} kinds", kinds.len());
        for (api_version, kind) in &kinds {
            let schema = Schema::of(api_version, kind).expect("listed");
            assert!(schema.name().ends_with(&format!(".{kind}")), "{schema:?}");
        }
        let count = kinds.len();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), count, "a kind is listed once");
    }

    #[test]
    fn object_metadata_is_the_first_field_of_every_object() {
        for (api_version, kind) in Schema::kinds() {
            let schema = Schema::of(api_version, kind).expect("listed");
            for field in schema.fields().fields() {
                let is_metadata = matches!(field.kind, Kind::Message(of) if
                    of.name == "meta/v1.ObjectMeta" || of.name == "meta/v1.ListMeta");
                assert!(!is_metadata || field.number == 1, "{schema:?}");
            }
        }
    }
}
