//! The types of k8s-openapi, one for each kind of Kubernetes 1.36.

use std::collections::BTreeMap;

use k8s_openapi::{List, ListableResource, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Compare, compare};

/// Comparisons by apiVersion and kind.
pub(super) type Types = BTreeMap<(&'static str, &'static str), Compare>;

/// Adds a type.
fn one<T>(types: &mut Types)
where
    T: Resource + DeserializeOwned + PartialEq + Serialize + 'static,
{
    types.insert((T::API_VERSION, T::KIND), compare::<T>);
}

/// Adds a type and the list of it.
fn two<T>(types: &mut Types)
where
    T: ListableResource + DeserializeOwned + PartialEq + Serialize + 'static,
{
    one::<T>(types);
    one::<List<T>>(types);
}

macro_rules! add {
    ($types:expr, $how:ident, $module:path: $($name:ident)+) => {{
        use $module as module;
        $($how::<module::$name>($types);)+
    }};
}

/// Returns every type.
pub(super) fn types() -> Types {
    let mut types = Types::new();
    early_groups(&mut types);
    late_groups(&mut types);
    types
}

fn early_groups(types: &mut Types) {
    add!(types, two, k8s_openapi::api::admissionregistration::v1: MutatingAdmissionPolicy
        MutatingAdmissionPolicyBinding MutatingWebhookConfiguration
        ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
        ValidatingWebhookConfiguration);
    add!(types, two, k8s_openapi::api::admissionregistration::v1alpha1: MutatingAdmissionPolicy
        MutatingAdmissionPolicyBinding);
    add!(types, two, k8s_openapi::api::admissionregistration::v1beta1: MutatingAdmissionPolicy
        MutatingAdmissionPolicyBinding);
    add!(types, two, k8s_openapi::api::apiserverinternal::v1alpha1: StorageVersion);
    add!(types, two, k8s_openapi::api::apps::v1: ControllerRevision DaemonSet Deployment ReplicaSet
        StatefulSet);
    add!(types, one, k8s_openapi::api::authentication::v1:
        SelfSubjectReview TokenRequest TokenReview);
    add!(types, one, k8s_openapi::api::authorization::v1: LocalSubjectAccessReview
        SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview);
    add!(types, two, k8s_openapi::api::autoscaling::v1: HorizontalPodAutoscaler);
    add!(types, one, k8s_openapi::api::autoscaling::v1: Scale);
    add!(types, two, k8s_openapi::api::autoscaling::v2: HorizontalPodAutoscaler);
    add!(types, two, k8s_openapi::api::batch::v1: CronJob Job);
    add!(types, two, k8s_openapi::api::certificates::v1: CertificateSigningRequest);
    add!(types, two, k8s_openapi::api::certificates::v1alpha1: ClusterTrustBundle);
    add!(types, two, k8s_openapi::api::certificates::v1beta1:
        ClusterTrustBundle PodCertificateRequest);
    add!(types, two, k8s_openapi::api::coordination::v1: Lease);
    add!(types, two, k8s_openapi::api::coordination::v1alpha2: LeaseCandidate);
    add!(types, two, k8s_openapi::api::coordination::v1beta1: LeaseCandidate);
    add!(types, two, k8s_openapi::api::core::v1:
        ComponentStatus ConfigMap Endpoints Event LimitRange
        Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate
        ReplicationController ResourceQuota Secret Service ServiceAccount);
    add!(types, one, k8s_openapi::api::core::v1: Binding);
    add!(types, two, k8s_openapi::api::discovery::v1: EndpointSlice);
}

fn late_groups(types: &mut Types) {
    add!(types, two, k8s_openapi::api::events::v1: Event);
    add!(types, two, k8s_openapi::api::flowcontrol::v1: FlowSchema PriorityLevelConfiguration);
    add!(types, two, k8s_openapi::api::networking::v1: IPAddress Ingress IngressClass NetworkPolicy
        ServiceCIDR);
    add!(types, two, k8s_openapi::api::networking::v1beta1: IPAddress ServiceCIDR);
    add!(types, two, k8s_openapi::api::node::v1: RuntimeClass);
    add!(types, two, k8s_openapi::api::policy::v1: PodDisruptionBudget);
    add!(types, one, k8s_openapi::api::policy::v1: Eviction);
    add!(types, two, k8s_openapi::api::rbac::v1: ClusterRole ClusterRoleBinding Role RoleBinding);
    add!(types, two, k8s_openapi::api::resource::v1: DeviceClass ResourceClaim ResourceClaimTemplate
        ResourceSlice);
    add!(types, two, k8s_openapi::api::resource::v1alpha3:
        DeviceTaintRule ResourcePoolStatusRequest);
    add!(types, two, k8s_openapi::api::resource::v1beta1:
        DeviceClass ResourceClaim ResourceClaimTemplate
        ResourceSlice);
    add!(types, two, k8s_openapi::api::resource::v1beta2: DeviceClass DeviceTaintRule ResourceClaim
        ResourceClaimTemplate ResourceSlice);
    add!(types, two, k8s_openapi::api::scheduling::v1: PriorityClass);
    add!(types, two, k8s_openapi::api::scheduling::v1alpha2: PodGroup Workload);
    add!(types, two, k8s_openapi::api::storage::v1:
        CSIDriver CSINode CSIStorageCapacity StorageClass
        VolumeAttachment VolumeAttributesClass);
    add!(types, two, k8s_openapi::api::storage::v1beta1: VolumeAttributesClass);
    add!(types, two, k8s_openapi::api::storagemigration::v1beta1: StorageVersionMigration);
    add!(types, two, k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1:
        CustomResourceDefinition);
    add!(types, one, k8s_openapi::apimachinery::pkg::apis::meta::v1: APIGroup APIGroupList
        APIResourceList APIVersions Status);
    add!(types, two, k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1: APIService);
}
