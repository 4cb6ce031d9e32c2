//! The resource that a server has: whole pods, or the metadata of a custom resource.

/// The resource that a server lists and sends in watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Whole pods.
    Pods,
    /// The metadata of widgets, a custom resource. The server has no whole widgets.
    WidgetMetadata,
}

impl Resource {
    /// The version of the API that an object names.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Pods => "v1",
            Self::WidgetMetadata => "meta.k8s.io/v1",
        }
    }

    /// The kind that an object names.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Pods => "Pod",
            Self::WidgetMetadata => "PartialObjectMetadata",
        }
    }

    /// Whether the resource is served at this path.
    pub(crate) fn is_at(self, path: &str) -> bool {
        path.ends_with(match self {
            Self::Pods => "/pods",
            Self::WidgetMetadata => "/widgets",
        })
    }

    /// Whether a client that accepts this can be served.
    pub(crate) fn is_accepted(self, accept: &str) -> bool {
        let first = accept.split(',').next().unwrap_or_default();
        // Of a list or of an event.
        let wants_metadata = first.contains(";as=PartialObjectMetadata");
        wants_metadata == (self == Self::WidgetMetadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widgets_are_served_as_metadata_only_and_pods_as_a_whole() {
        let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        assert!(Resource::WidgetMetadata.is_accepted(partial));
        assert!(!Resource::WidgetMetadata.is_accepted("application/json"));
        assert!(Resource::Pods.is_accepted("application/json") && Resource::Pods.is_accepted(""));
        assert!(!Resource::Pods.is_accepted(partial));
        assert!(Resource::WidgetMetadata.is_at("/apis/example.org/v1/widgets"));
        assert!(!Resource::WidgetMetadata.is_at("/api/v1/pods"));
    }
}
