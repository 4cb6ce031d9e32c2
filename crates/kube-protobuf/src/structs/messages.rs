//! Made by `cargo xtask protobuf-schema`: the structs of k8s-openapi.

use k8s_openapi::{api, apimachinery};

use super::fields::{Field, Fields, Known, Missing, read_fields};
use super::read::Blank;
use crate::decode::Within;

kinds! {
    api::apps::v1::ControllerRevision, "apps/v1.ControllerRevision";
    api::apps::v1::DaemonSet, "apps/v1.DaemonSet";
    api::apps::v1::Deployment, "apps/v1.Deployment";
    api::apps::v1::ReplicaSet, "apps/v1.ReplicaSet";
    api::apps::v1::StatefulSet, "apps/v1.StatefulSet";
    api::autoscaling::v2::HorizontalPodAutoscaler, "autoscaling/v2.HorizontalPodAutoscaler";
    api::batch::v1::CronJob, "batch/v1.CronJob";
    api::batch::v1::Job, "batch/v1.Job";
    api::coordination::v1::Lease, "coordination/v1.Lease";
    api::discovery::v1::EndpointSlice, "discovery/v1.EndpointSlice";
    api::events::v1::Event, "events/v1.Event";
    api::networking::v1::IPAddress, "networking/v1.IPAddress";
    api::networking::v1::Ingress, "networking/v1.Ingress";
    api::networking::v1::IngressClass, "networking/v1.IngressClass";
    api::networking::v1::NetworkPolicy, "networking/v1.NetworkPolicy";
    api::networking::v1::ServiceCIDR, "networking/v1.ServiceCIDR";
    api::policy::v1::Eviction, "policy/v1.Eviction";
    api::policy::v1::PodDisruptionBudget, "policy/v1.PodDisruptionBudget";
    api::rbac::v1::ClusterRole, "rbac/v1.ClusterRole";
    api::rbac::v1::ClusterRoleBinding, "rbac/v1.ClusterRoleBinding";
    api::rbac::v1::Role, "rbac/v1.Role";
    api::rbac::v1::RoleBinding, "rbac/v1.RoleBinding";
    api::scheduling::v1::PriorityClass, "scheduling/v1.PriorityClass";
    api::storage::v1::CSIDriver, "storage/v1.CSIDriver";
    api::storage::v1::CSINode, "storage/v1.CSINode";
    api::storage::v1::CSIStorageCapacity, "storage/v1.CSIStorageCapacity";
    api::storage::v1::StorageClass, "storage/v1.StorageClass";
    api::storage::v1::VolumeAttachment, "storage/v1.VolumeAttachment";
#[cfg(kubernetes_1_34)]
    api::storage::v1::VolumeAttributesClass, "storage/v1.VolumeAttributesClass";
    api::core::v1::Binding, "core/v1.Binding";
    api::core::v1::ComponentStatus, "core/v1.ComponentStatus";
    api::core::v1::ConfigMap, "core/v1.ConfigMap";
    api::core::v1::Endpoints, "core/v1.Endpoints";
    api::core::v1::Event, "core/v1.Event";
    api::core::v1::LimitRange, "core/v1.LimitRange";
    api::core::v1::Namespace, "core/v1.Namespace";
    api::core::v1::Node, "core/v1.Node";
    api::core::v1::PersistentVolume, "core/v1.PersistentVolume";
    api::core::v1::PersistentVolumeClaim, "core/v1.PersistentVolumeClaim";
    api::core::v1::Pod, "core/v1.Pod";
    api::core::v1::PodTemplate, "core/v1.PodTemplate";
    api::core::v1::ReplicationController, "core/v1.ReplicationController";
    api::core::v1::ResourceQuota, "core/v1.ResourceQuota";
    api::core::v1::Secret, "core/v1.Secret";
    api::core::v1::Service, "core/v1.Service";
    api::core::v1::ServiceAccount, "core/v1.ServiceAccount";
}

message!(api::apps::v1::ControllerRevision {
    1 "metadata" value metadata;
    2 "data" value data;
    3 "revision" value revision;
});

message!(api::apps::v1::DaemonSet {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::apps::v1::DaemonSetCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastTransitionTime" value last_transition_time;
    4 "reason" omitted reason;
    5 "message" omitted message;
});

message!(api::apps::v1::DaemonSetSpec {
    1 "selector" pointer selector;
    2 "template" value template;
    3 "updateStrategy" value update_strategy;
    4 "minReadySeconds" omitted min_ready_seconds;
    6 "revisionHistoryLimit" pointer revision_history_limit;
});

message!(api::apps::v1::DaemonSetStatus {
    1 "currentNumberScheduled" value current_number_scheduled;
    2 "numberMisscheduled" value number_misscheduled;
    3 "desiredNumberScheduled" value desired_number_scheduled;
    4 "numberReady" value number_ready;
    5 "observedGeneration" omitted observed_generation;
    6 "updatedNumberScheduled" omitted updated_number_scheduled;
    7 "numberAvailable" omitted number_available;
    8 "numberUnavailable" omitted number_unavailable;
    9 "collisionCount" pointer collision_count;
    10 "conditions" list conditions;
});

message!(api::apps::v1::DaemonSetUpdateStrategy {
    1 "type" omitted type_;
    2 "rollingUpdate" pointer rolling_update;
});

message!(api::apps::v1::Deployment {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::apps::v1::DeploymentCondition {
    1 "type" value type_;
    2 "status" value status;
    4 "reason" omitted reason;
    5 "message" omitted message;
    6 "lastUpdateTime" value last_update_time;
    7 "lastTransitionTime" value last_transition_time;
});

message!(api::apps::v1::DeploymentSpec {
    1 "replicas" pointer replicas;
    2 "selector" pointer selector;
    3 "template" value template;
    4 "strategy" value strategy;
    5 "minReadySeconds" omitted min_ready_seconds;
    6 "revisionHistoryLimit" pointer revision_history_limit;
    7 "paused" omitted paused;
    9 "progressDeadlineSeconds" pointer progress_deadline_seconds;
});

message!(api::apps::v1::DeploymentStatus {
    1 "observedGeneration" omitted observed_generation;
    2 "replicas" omitted replicas;
    3 "updatedReplicas" omitted updated_replicas;
    4 "availableReplicas" omitted available_replicas;
    5 "unavailableReplicas" omitted unavailable_replicas;
    6 "conditions" list conditions;
    7 "readyReplicas" omitted ready_replicas;
    8 "collisionCount" pointer collision_count;
    9 "terminatingReplicas" pointer terminating_replicas;
});

message!(api::apps::v1::DeploymentStrategy {
    1 "type" omitted type_;
    2 "rollingUpdate" pointer rolling_update;
});

message!(api::apps::v1::ReplicaSet {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::apps::v1::ReplicaSetCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastTransitionTime" value last_transition_time;
    4 "reason" omitted reason;
    5 "message" omitted message;
});

message!(api::apps::v1::ReplicaSetSpec {
    1 "replicas" pointer replicas;
    2 "selector" pointer selector;
    3 "template" value template;
    4 "minReadySeconds" omitted min_ready_seconds;
});

message!(api::apps::v1::ReplicaSetStatus {
    1 "replicas" value replicas;
    2 "fullyLabeledReplicas" omitted fully_labeled_replicas;
    3 "observedGeneration" omitted observed_generation;
    4 "readyReplicas" omitted ready_replicas;
    5 "availableReplicas" omitted available_replicas;
    6 "conditions" list conditions;
    7 "terminatingReplicas" pointer terminating_replicas;
});

message!(api::apps::v1::RollingUpdateDaemonSet {
    1 "maxUnavailable" pointer max_unavailable;
    2 "maxSurge" pointer max_surge;
});

message!(api::apps::v1::RollingUpdateDeployment {
    1 "maxUnavailable" pointer max_unavailable;
    2 "maxSurge" pointer max_surge;
});

message!(api::apps::v1::RollingUpdateStatefulSetStrategy {
    1 "partition" pointer partition;
    2 "maxUnavailable" pointer max_unavailable;
});

message!(api::apps::v1::StatefulSet {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::apps::v1::StatefulSetCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastTransitionTime" value last_transition_time;
    4 "reason" omitted reason;
    5 "message" omitted message;
});

message!(api::apps::v1::StatefulSetOrdinals {
    1 "start" value start;
});

message!(api::apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicy {
    1 "whenDeleted" omitted when_deleted;
    2 "whenScaled" omitted when_scaled;
});

message!(api::apps::v1::StatefulSetSpec {
    1 "replicas" pointer replicas;
    2 "selector" pointer selector;
    3 "template" value template;
    4 "volumeClaimTemplates" list volume_claim_templates;
    5 "serviceName" value service_name;
    6 "podManagementPolicy" omitted pod_management_policy;
    7 "updateStrategy" value update_strategy;
    8 "revisionHistoryLimit" pointer revision_history_limit;
    9 "minReadySeconds" omitted min_ready_seconds;
    10 "persistentVolumeClaimRetentionPolicy" pointer persistent_volume_claim_retention_policy;
    11 "ordinals" pointer ordinals;
});

message!(api::apps::v1::StatefulSetStatus {
    1 "observedGeneration" omitted observed_generation;
    2 "replicas" value replicas;
    3 "readyReplicas" omitted ready_replicas;
    4 "currentReplicas" omitted current_replicas;
    5 "updatedReplicas" omitted updated_replicas;
    6 "currentRevision" omitted current_revision;
    7 "updateRevision" omitted update_revision;
    9 "collisionCount" pointer collision_count;
    10 "conditions" list conditions;
    11 "availableReplicas" value available_replicas;
});

message!(api::apps::v1::StatefulSetUpdateStrategy {
    1 "type" omitted type_;
    2 "rollingUpdate" pointer rolling_update;
});

message!(api::autoscaling::v2::ContainerResourceMetricSource {
    1 "name" value name;
    2 "target" value target;
    3 "container" value container;
});

message!(api::autoscaling::v2::ContainerResourceMetricStatus {
    1 "name" value name;
    2 "current" value current;
    3 "container" value container;
});

message!(api::autoscaling::v2::CrossVersionObjectReference {
    1 "kind" value kind;
    2 "name" value name;
    3 "apiVersion" omitted api_version;
});

message!(api::autoscaling::v2::ExternalMetricSource {
    1 "metric" value metric;
    2 "target" value target;
});

message!(api::autoscaling::v2::ExternalMetricStatus {
    1 "metric" value metric;
    2 "current" value current;
});

message!(api::autoscaling::v2::HPAScalingPolicy {
    1 "type" value type_;
    2 "value" value value;
    3 "periodSeconds" value period_seconds;
});

message!(api::autoscaling::v2::HPAScalingRules {
    1 "selectPolicy" pointer select_policy;
    2 "policies" list policies;
    3 "stabilizationWindowSeconds" pointer stabilization_window_seconds;
    4 "tolerance" pointer tolerance;
});

message!(api::autoscaling::v2::HorizontalPodAutoscaler {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::autoscaling::v2::HorizontalPodAutoscalerBehavior {
    1 "scaleUp" pointer scale_up;
    2 "scaleDown" pointer scale_down;
});

message!(api::autoscaling::v2::HorizontalPodAutoscalerCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastTransitionTime" value last_transition_time;
    4 "reason" omitted reason;
    5 "message" omitted message;
    #[cfg(kubernetes_1_37)]
    6 "observedGeneration" pointer observed_generation;
    #[cfg(not(kubernetes_1_37))]
    6 "observedGeneration" skip 0;
});

message!(api::autoscaling::v2::HorizontalPodAutoscalerSpec {
    1 "scaleTargetRef" value scale_target_ref;
    2 "minReplicas" pointer min_replicas;
    3 "maxReplicas" value max_replicas;
    4 "metrics" list metrics;
    5 "behavior" pointer behavior;
});

message!(api::autoscaling::v2::HorizontalPodAutoscalerStatus {
    1 "observedGeneration" pointer observed_generation;
    2 "lastScaleTime" pointer last_scale_time;
    3 "currentReplicas" omitted current_replicas;
    4 "desiredReplicas" value desired_replicas;
    5 "currentMetrics" list current_metrics;
    6 "conditions" list conditions;
});

message!(api::autoscaling::v2::MetricIdentifier {
    1 "name" value name;
    2 "selector" pointer selector;
});

message!(api::autoscaling::v2::MetricSpec {
    1 "type" value type_;
    2 "object" pointer object;
    3 "pods" pointer pods;
    4 "resource" pointer resource;
    5 "external" pointer external;
    7 "containerResource" pointer container_resource;
});

message!(api::autoscaling::v2::MetricStatus {
    1 "type" value type_;
    2 "object" pointer object;
    3 "pods" pointer pods;
    4 "resource" pointer resource;
    5 "external" pointer external;
    7 "containerResource" pointer container_resource;
});

message!(api::autoscaling::v2::MetricTarget {
    1 "type" value type_;
    2 "value" pointer value;
    3 "averageValue" pointer average_value;
    4 "averageUtilization" pointer average_utilization;
});

message!(api::autoscaling::v2::MetricValueStatus {
    1 "value" pointer value;
    2 "averageValue" pointer average_value;
    3 "averageUtilization" pointer average_utilization;
});

message!(api::autoscaling::v2::ObjectMetricSource {
    1 "describedObject" value described_object;
    2 "target" value target;
    3 "metric" value metric;
});

message!(api::autoscaling::v2::ObjectMetricStatus {
    1 "metric" value metric;
    2 "current" value current;
    3 "describedObject" value described_object;
});

message!(api::autoscaling::v2::PodsMetricSource {
    1 "metric" value metric;
    2 "target" value target;
});

message!(api::autoscaling::v2::PodsMetricStatus {
    1 "metric" value metric;
    2 "current" value current;
});

message!(api::autoscaling::v2::ResourceMetricSource {
    1 "name" value name;
    2 "target" value target;
});

message!(api::autoscaling::v2::ResourceMetricStatus {
    1 "name" value name;
    2 "current" value current;
});

message!(api::batch::v1::CronJob {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::batch::v1::CronJobSpec {
    1 "schedule" value schedule;
    2 "startingDeadlineSeconds" pointer starting_deadline_seconds;
    3 "concurrencyPolicy" omitted concurrency_policy;
    4 "suspend" pointer suspend;
    5 "jobTemplate" value job_template;
    6 "successfulJobsHistoryLimit" pointer successful_jobs_history_limit;
    7 "failedJobsHistoryLimit" pointer failed_jobs_history_limit;
    8 "timeZone" pointer time_zone;
});

message!(api::batch::v1::CronJobStatus {
    1 "active" list active;
    4 "lastScheduleTime" pointer last_schedule_time;
    5 "lastSuccessfulTime" pointer last_successful_time;
});

message!(api::batch::v1::Job {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::batch::v1::JobCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastProbeTime" value last_probe_time;
    4 "lastTransitionTime" value last_transition_time;
    5 "reason" omitted reason;
    6 "message" omitted message;
});

#[cfg(kubernetes_1_37)]
message!(api::batch::v1::JobSchedulingConfiguration {
    1 "schedulingPolicy" pointer scheduling_policy;
    2 "schedulingConstraints" pointer scheduling_constraints;
    3 "disruptionMode" pointer disruption_mode;
    4 "resourceClaims" list resource_claims;
});

message!(api::batch::v1::JobSpec {
    1 "parallelism" pointer parallelism;
    2 "completions" pointer completions;
    3 "activeDeadlineSeconds" pointer active_deadline_seconds;
    4 "selector" pointer selector;
    5 "manualSelector" pointer manual_selector;
    6 "template" value template;
    7 "backoffLimit" pointer backoff_limit;
    8 "ttlSecondsAfterFinished" pointer ttl_seconds_after_finished;
    9 "completionMode" pointer completion_mode;
    10 "suspend" pointer suspend;
    11 "podFailurePolicy" pointer pod_failure_policy;
    12 "backoffLimitPerIndex" pointer backoff_limit_per_index;
    13 "maxFailedIndexes" pointer max_failed_indexes;
    14 "podReplacementPolicy" pointer pod_replacement_policy;
    15 "managedBy" pointer managed_by;
    16 "successPolicy" pointer success_policy;
    #[cfg(kubernetes_1_37)]
    17 "scheduling" pointer scheduling;
    #[cfg(not(kubernetes_1_37))]
    17 "scheduling" skip 2;
});

message!(api::batch::v1::JobStatus {
    1 "conditions" list conditions;
    2 "startTime" pointer start_time;
    3 "completionTime" pointer completion_time;
    4 "active" omitted active;
    5 "succeeded" omitted succeeded;
    6 "failed" omitted failed;
    7 "completedIndexes" omitted completed_indexes;
    8 "uncountedTerminatedPods" pointer uncounted_terminated_pods;
    9 "ready" pointer ready;
    10 "failedIndexes" pointer failed_indexes;
    11 "terminating" pointer terminating;
});

message!(api::batch::v1::JobTemplateSpec {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::batch::v1::PodFailurePolicy {
    1 "rules" list rules;
});

message!(api::batch::v1::PodFailurePolicyOnExitCodesRequirement {
    1 "containerName" pointer container_name;
    2 "operator" value operator;
    3 "values" list values;
});

message!(api::batch::v1::PodFailurePolicyOnPodConditionsPattern {
    1 "type" value type_;
    2 "status" value status;
});

message!(api::batch::v1::PodFailurePolicyRule {
    1 "action" value action;
    2 "onExitCodes" pointer on_exit_codes;
    3 "onPodConditions" list on_pod_conditions;
});

message!(api::batch::v1::SuccessPolicy {
    1 "rules" list rules;
});

message!(api::batch::v1::SuccessPolicyRule {
    1 "succeededIndexes" pointer succeeded_indexes;
    2 "succeededCount" pointer succeeded_count;
});

message!(api::batch::v1::UncountedTerminatedPods {
    1 "succeeded" list succeeded;
    2 "failed" list failed;
});

message!(api::coordination::v1::Lease {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::coordination::v1::LeaseSpec {
    1 "holderIdentity" pointer holder_identity;
    2 "leaseDurationSeconds" pointer lease_duration_seconds;
    3 "acquireTime" pointer acquire_time;
    4 "renewTime" pointer renew_time;
    5 "leaseTransitions" pointer lease_transitions;
    6 "strategy" pointer strategy;
    7 "preferredHolder" pointer preferred_holder;
});

message!(api::core::v1::AWSElasticBlockStoreVolumeSource {
    1 "volumeID" value volume_id;
    2 "fsType" omitted fs_type;
    3 "partition" omitted partition;
    4 "readOnly" omitted read_only;
});

message!(api::core::v1::Affinity {
    1 "nodeAffinity" pointer node_affinity;
    2 "podAffinity" pointer pod_affinity;
    3 "podAntiAffinity" pointer pod_anti_affinity;
});

message!(api::core::v1::AppArmorProfile {
    1 "type" value type_;
    2 "localhostProfile" pointer localhost_profile;
});

message!(api::core::v1::AttachedVolume {
    1 "name" value name;
    2 "devicePath" value device_path;
});

message!(api::core::v1::AzureDiskVolumeSource {
    1 "diskName" value disk_name;
    2 "diskURI" value disk_uri;
    3 "cachingMode" pointer caching_mode;
    4 "fsType" pointer fs_type;
    5 "readOnly" pointer read_only;
    6 "kind" pointer kind;
});

message!(api::core::v1::AzureFilePersistentVolumeSource {
    1 "secretName" value secret_name;
    2 "shareName" value share_name;
    3 "readOnly" omitted read_only;
    4 "secretNamespace" pointer secret_namespace;
});

message!(api::core::v1::AzureFileVolumeSource {
    1 "secretName" value secret_name;
    2 "shareName" value share_name;
    3 "readOnly" omitted read_only;
});

message!(api::core::v1::Binding {
    1 "metadata" value metadata;
    2 "target" value target;
});

message!(api::core::v1::CSIPersistentVolumeSource {
    1 "driver" value driver;
    2 "volumeHandle" value volume_handle;
    3 "readOnly" omitted read_only;
    4 "fsType" omitted fs_type;
    5 "volumeAttributes" map volume_attributes;
    6 "controllerPublishSecretRef" pointer controller_publish_secret_ref;
    7 "nodeStageSecretRef" pointer node_stage_secret_ref;
    8 "nodePublishSecretRef" pointer node_publish_secret_ref;
    9 "controllerExpandSecretRef" pointer controller_expand_secret_ref;
    10 "nodeExpandSecretRef" pointer node_expand_secret_ref;
});

message!(api::core::v1::CSIVolumeSource {
    1 "driver" value driver;
    2 "readOnly" pointer read_only;
    3 "fsType" pointer fs_type;
    4 "volumeAttributes" map volume_attributes;
    5 "nodePublishSecretRef" pointer node_publish_secret_ref;
});

message!(api::core::v1::Capabilities {
    1 "add" list add;
    2 "drop" list drop;
});

message!(api::core::v1::CephFSPersistentVolumeSource {
    1 "monitors" list monitors;
    2 "path" omitted path;
    3 "user" omitted user;
    4 "secretFile" omitted secret_file;
    5 "secretRef" pointer secret_ref;
    6 "readOnly" omitted read_only;
});

message!(api::core::v1::CephFSVolumeSource {
    1 "monitors" list monitors;
    2 "path" omitted path;
    3 "user" omitted user;
    4 "secretFile" omitted secret_file;
    5 "secretRef" pointer secret_ref;
    6 "readOnly" omitted read_only;
});

message!(api::core::v1::CinderPersistentVolumeSource {
    1 "volumeID" value volume_id;
    2 "fsType" omitted fs_type;
    3 "readOnly" omitted read_only;
    4 "secretRef" pointer secret_ref;
});

message!(api::core::v1::CinderVolumeSource {
    1 "volumeID" value volume_id;
    2 "fsType" omitted fs_type;
    3 "readOnly" omitted read_only;
    4 "secretRef" pointer secret_ref;
});

message!(api::core::v1::ClientIPConfig {
    1 "timeoutSeconds" pointer timeout_seconds;
});

message!(api::core::v1::ClusterTrustBundleProjection {
    1 "name" pointer name;
    2 "signerName" pointer signer_name;
    3 "labelSelector" pointer label_selector;
    4 "path" value path;
    5 "optional" pointer optional;
    #[cfg(kubernetes_1_37)]
    6 "user" pointer user;
    #[cfg(not(kubernetes_1_37))]
    6 "user" skip 0;
});

message!(api::core::v1::ComponentCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "message" omitted message;
    4 "error" omitted error;
});

message!(api::core::v1::ComponentStatus {
    1 "metadata" value metadata;
    2 "conditions" list conditions;
});

message!(api::core::v1::ConfigMap {
    1 "metadata" value metadata;
    2 "data" map data;
    3 "binaryData" map binary_data;
    4 "immutable" pointer immutable;
});

message!(api::core::v1::ConfigMapEnvSource {
    1 "-" inline CoreConfigMapEnvSourceLocalObjectReference;
    2 "optional" pointer optional;
});
inline!(CoreConfigMapEnvSourceLocalObjectReference in api::core::v1::ConfigMapEnvSource {
    1 "name" omitted name;
});

message!(api::core::v1::ConfigMapKeySelector {
    1 "-" inline CoreConfigMapKeySelectorLocalObjectReference;
    2 "key" value key;
    3 "optional" pointer optional;
});
inline!(CoreConfigMapKeySelectorLocalObjectReference in api::core::v1::ConfigMapKeySelector {
    1 "name" omitted name;
});

message!(api::core::v1::ConfigMapNodeConfigSource {
    1 "namespace" value namespace;
    2 "name" value name;
    3 "uid" omitted uid;
    4 "resourceVersion" omitted resource_version;
    5 "kubeletConfigKey" value kubelet_config_key;
});

message!(api::core::v1::ConfigMapProjection {
    1 "-" inline CoreConfigMapProjectionLocalObjectReference;
    2 "items" list items;
    4 "optional" pointer optional;
});
inline!(CoreConfigMapProjectionLocalObjectReference in api::core::v1::ConfigMapProjection {
    1 "name" omitted name;
});

message!(api::core::v1::ConfigMapVolumeSource {
    1 "-" inline CoreConfigMapVolumeSourceLocalObjectReference;
    2 "items" list items;
    3 "defaultMode" pointer default_mode;
    4 "optional" pointer optional;
    #[cfg(kubernetes_1_37)]
    5 "defaultUser" pointer default_user;
    #[cfg(not(kubernetes_1_37))]
    5 "defaultUser" skip 0;
});
inline!(CoreConfigMapVolumeSourceLocalObjectReference in api::core::v1::ConfigMapVolumeSource {
    1 "name" omitted name;
});

message!(api::core::v1::Container {
    1 "name" value name;
    2 "image" omitted image;
    3 "command" list command;
    4 "args" list args;
    5 "workingDir" omitted working_dir;
    6 "ports" list ports;
    7 "env" list env;
    8 "resources" value resources;
    9 "volumeMounts" list volume_mounts;
    10 "livenessProbe" pointer liveness_probe;
    11 "readinessProbe" pointer readiness_probe;
    12 "lifecycle" pointer lifecycle;
    13 "terminationMessagePath" omitted termination_message_path;
    14 "imagePullPolicy" omitted image_pull_policy;
    15 "securityContext" pointer security_context;
    16 "stdin" omitted stdin;
    17 "stdinOnce" omitted stdin_once;
    18 "tty" omitted tty;
    19 "envFrom" list env_from;
    20 "terminationMessagePolicy" omitted termination_message_policy;
    21 "volumeDevices" list volume_devices;
    22 "startupProbe" pointer startup_probe;
    23 "resizePolicy" list resize_policy;
    24 "restartPolicy" pointer restart_policy;
    #[cfg(kubernetes_1_34)]
    25 "restartPolicyRules" list restart_policy_rules;
    #[cfg(not(kubernetes_1_34))]
    25 "restartPolicyRules" skip_list 2;
});

#[cfg(kubernetes_1_34)]
message!(api::core::v1::ContainerExtendedResourceRequest {
    1 "containerName" value container_name;
    2 "resourceName" value resource_name;
    3 "requestName" value request_name;
});

message!(api::core::v1::ContainerImage {
    1 "names" list names;
    2 "sizeBytes" omitted size_bytes;
});

message!(api::core::v1::ContainerPort {
    1 "name" omitted name;
    2 "hostPort" omitted host_port;
    3 "containerPort" value container_port;
    4 "protocol" omitted protocol;
    5 "hostIP" omitted host_ip;
});

message!(api::core::v1::ContainerResizePolicy {
    1 "resourceName" value resource_name;
    2 "restartPolicy" value restart_policy;
});

#[cfg(kubernetes_1_34)]
message!(api::core::v1::ContainerRestartRule {
    1 "action" omitted action;
    2 "exitCodes" pointer exit_codes;
});

#[cfg(kubernetes_1_34)]
message!(api::core::v1::ContainerRestartRuleOnExitCodes {
    1 "operator" omitted operator;
    2 "values" list values;
});

message!(api::core::v1::ContainerState {
    1 "waiting" pointer waiting;
    2 "running" pointer running;
    3 "terminated" pointer terminated;
});

message!(api::core::v1::ContainerStateRunning {
    1 "startedAt" value started_at;
});

message!(api::core::v1::ContainerStateTerminated {
    1 "exitCode" value exit_code;
    2 "signal" omitted signal;
    3 "reason" omitted reason;
    4 "message" omitted message;
    5 "startedAt" value started_at;
    6 "finishedAt" value finished_at;
    7 "containerID" omitted container_id;
});

message!(api::core::v1::ContainerStateWaiting {
    1 "reason" omitted reason;
    2 "message" omitted message;
});

message!(api::core::v1::ContainerStatus {
    1 "name" value name;
    2 "state" value state;
    3 "lastState" value last_state;
    4 "ready" value ready;
    5 "restartCount" value restart_count;
    6 "image" value image;
    7 "imageID" value image_id;
    8 "containerID" omitted container_id;
    9 "started" pointer started;
    10 "allocatedResources" map allocated_resources;
    11 "resources" pointer resources;
    12 "volumeMounts" list volume_mounts;
    13 "user" pointer user;
    14 "allocatedResourcesStatus" list allocated_resources_status;
    15 "stopSignal" pointer stop_signal;
});

message!(api::core::v1::ContainerUser {
    1 "linux" pointer linux;
});

message!(api::core::v1::DaemonEndpoint {
    1 "Port" value port;
});

message!(api::core::v1::DownwardAPIProjection {
    1 "items" list items;
});

message!(api::core::v1::DownwardAPIVolumeFile {
    1 "path" value path;
    2 "fieldRef" pointer field_ref;
    3 "resourceFieldRef" pointer resource_field_ref;
    4 "mode" pointer mode;
    #[cfg(kubernetes_1_37)]
    5 "user" pointer user;
    #[cfg(not(kubernetes_1_37))]
    5 "user" skip 0;
});

message!(api::core::v1::DownwardAPIVolumeSource {
    1 "items" list items;
    2 "defaultMode" pointer default_mode;
    #[cfg(kubernetes_1_37)]
    3 "defaultUser" pointer default_user;
    #[cfg(not(kubernetes_1_37))]
    3 "defaultUser" skip 0;
});

message!(api::core::v1::EmptyDirVolumeSource {
    1 "medium" omitted medium;
    2 "sizeLimit" pointer size_limit;
    #[cfg(kubernetes_1_37)]
    3 "mode" pointer mode;
    #[cfg(not(kubernetes_1_37))]
    3 "mode" skip 0;
});

message!(api::core::v1::EndpointAddress {
    1 "ip" value ip;
    2 "targetRef" pointer target_ref;
    3 "hostname" omitted hostname;
    4 "nodeName" pointer node_name;
});

message!(api::core::v1::EndpointPort {
    1 "name" omitted name;
    2 "port" value port;
    3 "protocol" omitted protocol;
    4 "appProtocol" pointer app_protocol;
});

message!(api::core::v1::EndpointSubset {
    1 "addresses" list addresses;
    2 "notReadyAddresses" list not_ready_addresses;
    3 "ports" list ports;
});

message!(api::core::v1::Endpoints {
    1 "metadata" value metadata;
    2 "subsets" list subsets;
});

message!(api::core::v1::EnvFromSource {
    1 "prefix" omitted prefix;
    2 "configMapRef" pointer config_map_ref;
    3 "secretRef" pointer secret_ref;
});

message!(api::core::v1::EnvVar {
    1 "name" value name;
    2 "value" omitted value;
    3 "valueFrom" pointer value_from;
});

message!(api::core::v1::EnvVarSource {
    1 "fieldRef" pointer field_ref;
    2 "resourceFieldRef" pointer resource_field_ref;
    3 "configMapKeyRef" pointer config_map_key_ref;
    4 "secretKeyRef" pointer secret_key_ref;
    #[cfg(kubernetes_1_34)]
    5 "fileKeyRef" pointer file_key_ref;
    #[cfg(not(kubernetes_1_34))]
    5 "fileKeyRef" skip 2;
});

message!(api::core::v1::EphemeralContainer {
    1 "-" inline CoreEphemeralContainerEphemeralContainerCommon;
    2 "targetContainerName" omitted target_container_name;
});
inline!(CoreEphemeralContainerEphemeralContainerCommon in api::core::v1::EphemeralContainer {
    1 "name" value name;
    2 "image" omitted image;
    3 "command" list command;
    4 "args" list args;
    5 "workingDir" omitted working_dir;
    6 "ports" list ports;
    7 "env" list env;
    8 "resources" value resources;
    9 "volumeMounts" list volume_mounts;
    10 "livenessProbe" pointer liveness_probe;
    11 "readinessProbe" pointer readiness_probe;
    12 "lifecycle" pointer lifecycle;
    13 "terminationMessagePath" omitted termination_message_path;
    14 "imagePullPolicy" omitted image_pull_policy;
    15 "securityContext" pointer security_context;
    16 "stdin" omitted stdin;
    17 "stdinOnce" omitted stdin_once;
    18 "tty" omitted tty;
    19 "envFrom" list env_from;
    20 "terminationMessagePolicy" omitted termination_message_policy;
    21 "volumeDevices" list volume_devices;
    22 "startupProbe" pointer startup_probe;
    23 "resizePolicy" list resize_policy;
    24 "restartPolicy" pointer restart_policy;
    #[cfg(kubernetes_1_34)]
    25 "restartPolicyRules" list restart_policy_rules;
    #[cfg(not(kubernetes_1_34))]
    25 "restartPolicyRules" skip_list 2;
});

message!(api::core::v1::EphemeralVolumeSource {
    1 "volumeClaimTemplate" pointer volume_claim_template;
});

message!(api::core::v1::Event {
    1 "metadata" value metadata;
    2 "involvedObject" value involved_object;
    3 "reason" omitted reason;
    4 "message" omitted message;
    5 "source" value source;
    6 "firstTimestamp" value first_timestamp;
    7 "lastTimestamp" value last_timestamp;
    8 "count" omitted count;
    9 "type" omitted type_;
    10 "eventTime" value event_time;
    11 "series" pointer series;
    12 "action" omitted action;
    13 "related" pointer related;
    14 "reportingComponent" value reporting_component;
    15 "reportingInstance" value reporting_instance;
});

message!(api::core::v1::EventSeries {
    1 "count" omitted count;
    2 "lastObservedTime" value last_observed_time;
});

message!(api::core::v1::EventSource {
    1 "component" omitted component;
    2 "host" omitted host;
});

#[cfg(kubernetes_1_37)]
message!(api::core::v1::EvictionResponder {
    1 "name" value name;
    2 "priority" pointer priority;
});

message!(api::core::v1::ExecAction {
    1 "command" list command;
});

message!(api::core::v1::FCVolumeSource {
    1 "targetWWNs" list target_wwns;
    2 "lun" pointer lun;
    3 "fsType" omitted fs_type;
    4 "readOnly" omitted read_only;
    5 "wwids" list wwids;
});

#[cfg(kubernetes_1_34)]
message!(api::core::v1::FileKeySelector {
    1 "volumeName" value volume_name;
    2 "path" value path;
    3 "key" value key;
    4 "optional" pointer optional;
});

message!(api::core::v1::FlexPersistentVolumeSource {
    1 "driver" value driver;
    2 "fsType" omitted fs_type;
    3 "secretRef" pointer secret_ref;
    4 "readOnly" omitted read_only;
    5 "options" map options;
});

message!(api::core::v1::FlexVolumeSource {
    1 "driver" value driver;
    2 "fsType" omitted fs_type;
    3 "secretRef" pointer secret_ref;
    4 "readOnly" omitted read_only;
    5 "options" map options;
});

message!(api::core::v1::FlockerVolumeSource {
    1 "datasetName" omitted dataset_name;
    2 "datasetUUID" omitted dataset_uuid;
});

message!(api::core::v1::GCEPersistentDiskVolumeSource {
    1 "pdName" value pd_name;
    2 "fsType" omitted fs_type;
    3 "partition" omitted partition;
    4 "readOnly" omitted read_only;
});

message!(api::core::v1::GRPCAction {
    1 "port" value port;
    2 "service" pointer service;
    #[cfg(kubernetes_1_37)]
    3 "mode" pointer mode;
    #[cfg(not(kubernetes_1_37))]
    3 "mode" skip 2;
});

message!(api::core::v1::GitRepoVolumeSource {
    1 "repository" value repository;
    2 "revision" omitted revision;
    3 "directory" omitted directory;
});

message!(api::core::v1::GlusterfsPersistentVolumeSource {
    1 "endpoints" value endpoints;
    2 "path" value path;
    3 "readOnly" omitted read_only;
    4 "endpointsNamespace" pointer endpoints_namespace;
});

message!(api::core::v1::GlusterfsVolumeSource {
    1 "endpoints" value endpoints;
    2 "path" value path;
    3 "readOnly" omitted read_only;
});

message!(api::core::v1::HTTPGetAction {
    1 "path" omitted path;
    2 "port" value port;
    3 "host" omitted host;
    4 "scheme" omitted scheme;
    5 "httpHeaders" list http_headers;
    #[cfg(kubernetes_1_37)]
    6 "protocol" pointer protocol;
    #[cfg(not(kubernetes_1_37))]
    6 "protocol" skip 2;
});

message!(api::core::v1::HTTPHeader {
    1 "name" value name;
    2 "value" value value;
});

message!(api::core::v1::HostAlias {
    1 "ip" value ip;
    2 "hostnames" list hostnames;
});

message!(api::core::v1::HostIP {
    1 "ip" value ip;
});

message!(api::core::v1::HostPathVolumeSource {
    1 "path" value path;
    2 "type" pointer type_;
});

message!(api::core::v1::ISCSIPersistentVolumeSource {
    1 "targetPortal" value target_portal;
    2 "iqn" value iqn;
    3 "lun" value lun;
    4 "iscsiInterface" omitted iscsi_interface;
    5 "fsType" omitted fs_type;
    6 "readOnly" omitted read_only;
    7 "portals" list portals;
    8 "chapAuthDiscovery" omitted chap_auth_discovery;
    10 "secretRef" pointer secret_ref;
    11 "chapAuthSession" omitted chap_auth_session;
    12 "initiatorName" pointer initiator_name;
});

message!(api::core::v1::ISCSIVolumeSource {
    1 "targetPortal" value target_portal;
    2 "iqn" value iqn;
    3 "lun" value lun;
    4 "iscsiInterface" omitted iscsi_interface;
    5 "fsType" omitted fs_type;
    6 "readOnly" omitted read_only;
    7 "portals" list portals;
    8 "chapAuthDiscovery" omitted chap_auth_discovery;
    10 "secretRef" pointer secret_ref;
    11 "chapAuthSession" omitted chap_auth_session;
    12 "initiatorName" pointer initiator_name;
});

message!(api::core::v1::ImageVolumeSource {
    1 "reference" omitted reference;
    2 "pullPolicy" omitted pull_policy;
});

#[cfg(kubernetes_1_36)]
message!(api::core::v1::ImageVolumeStatus {
    1 "imageRef" omitted image_ref;
});

message!(api::core::v1::KeyToPath {
    1 "key" value key;
    2 "path" value path;
    3 "mode" pointer mode;
    #[cfg(kubernetes_1_37)]
    4 "user" pointer user;
    #[cfg(not(kubernetes_1_37))]
    4 "user" skip 0;
});

message!(api::core::v1::Lifecycle {
    1 "postStart" pointer post_start;
    2 "preStop" pointer pre_stop;
    3 "stopSignal" pointer stop_signal;
});

message!(api::core::v1::LifecycleHandler {
    1 "exec" pointer exec;
    2 "httpGet" pointer http_get;
    3 "tcpSocket" pointer tcp_socket;
    4 "sleep" pointer sleep;
});

message!(api::core::v1::LimitRange {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::core::v1::LimitRangeItem {
    1 "type" value type_;
    2 "max" map max;
    3 "min" map min;
    4 "default" map default;
    5 "defaultRequest" map default_request;
    6 "maxLimitRequestRatio" map max_limit_request_ratio;
});

message!(api::core::v1::LimitRangeSpec {
    1 "limits" list limits;
});

message!(api::core::v1::LinuxContainerUser {
    1 "uid" value uid;
    2 "gid" value gid;
    3 "supplementalGroups" list supplemental_groups;
});

message!(api::core::v1::LoadBalancerIngress {
    1 "ip" omitted ip;
    2 "hostname" omitted hostname;
    3 "ipMode" pointer ip_mode;
    4 "ports" list ports;
});

message!(api::core::v1::LoadBalancerStatus {
    1 "ingress" list ingress;
});

message!(api::core::v1::LocalObjectReference {
    1 "name" omitted name;
});

message!(api::core::v1::LocalVolumeSource {
    1 "path" value path;
    2 "fsType" pointer fs_type;
});

message!(api::core::v1::ModifyVolumeStatus {
    1 "targetVolumeAttributesClassName" omitted target_volume_attributes_class_name;
    2 "status" value status;
});

message!(api::core::v1::NFSVolumeSource {
    1 "server" value server;
    2 "path" value path;
    3 "readOnly" omitted read_only;
});

message!(api::core::v1::Namespace {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::NamespaceCondition {
    1 "type" value type_;
    2 "status" value status;
    4 "lastTransitionTime" value last_transition_time;
    5 "reason" omitted reason;
    6 "message" omitted message;
});

message!(api::core::v1::NamespaceSpec {
    1 "finalizers" list finalizers;
});

message!(api::core::v1::NamespaceStatus {
    1 "phase" omitted phase;
    2 "conditions" list conditions;
});

message!(api::core::v1::Node {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::NodeAddress {
    1 "type" value type_;
    2 "address" value address;
});

message!(api::core::v1::NodeAffinity {
    1 "requiredDuringSchedulingIgnoredDuringExecution" pointer required_during_scheduling_ignored_during_execution;
    2 "preferredDuringSchedulingIgnoredDuringExecution" list preferred_during_scheduling_ignored_during_execution;
});

#[cfg(kubernetes_1_37)]
message!(api::core::v1::NodeAllocatableMappedResources {
    1 "name" value name;
    2 "quantity" pointer quantity;
});

#[cfg(kubernetes_1_37)]
message!(api::core::v1::NodeAllocatableOverheadResources {
    1 "name" value name;
    2 "perPod" pointer per_pod;
    3 "perContainer" pointer per_container;
});

#[cfg(kubernetes_1_36)]
message!(api::core::v1::NodeAllocatableResourceClaimStatus {
    1 "resourceClaimName" value resource_claim_name;
    2 "containers" list containers;
    #[cfg(kubernetes_1_37)]
    4 "mapping" list mapping;
    #[cfg(not(kubernetes_1_37))]
    4 "mapping" skip_list 2;
    #[cfg(kubernetes_1_37)]
    5 "overhead" list overhead;
    #[cfg(not(kubernetes_1_37))]
    5 "overhead" skip_list 2;
});

message!(api::core::v1::NodeCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastHeartbeatTime" value last_heartbeat_time;
    4 "lastTransitionTime" value last_transition_time;
    5 "reason" omitted reason;
    6 "message" omitted message;
});

message!(api::core::v1::NodeConfigSource {
    2 "configMap" pointer config_map;
});

message!(api::core::v1::NodeConfigStatus {
    1 "assigned" pointer assigned;
    2 "active" pointer active;
    3 "lastKnownGood" pointer last_known_good;
    4 "error" omitted error;
});

message!(api::core::v1::NodeDaemonEndpoints {
    1 "kubeletEndpoint" value kubelet_endpoint;
});

message!(api::core::v1::NodeFeatures {
    1 "supplementalGroupsPolicy" pointer supplemental_groups_policy;
});

#[cfg(kubernetes_1_37)]
message!(api::core::v1::NodePodPreemptionPolicy {
    1 "disableResizePreemption" list disable_resize_preemption;
});

message!(api::core::v1::NodeRuntimeHandler {
    1 "name" value name;
    2 "features" pointer features;
});

message!(api::core::v1::NodeRuntimeHandlerFeatures {
    1 "recursiveReadOnlyMounts" pointer recursive_read_only_mounts;
    2 "userNamespaces" pointer user_namespaces;
});

message!(api::core::v1::NodeSelector {
    1 "nodeSelectorTerms" list node_selector_terms;
});

message!(api::core::v1::NodeSelectorRequirement {
    1 "key" value key;
    2 "operator" value operator;
    3 "values" list values;
});

message!(api::core::v1::NodeSelectorTerm {
    1 "matchExpressions" list match_expressions;
    2 "matchFields" list match_fields;
});

message!(api::core::v1::NodeSpec {
    1 "podCIDR" omitted pod_cidr;
    2 "externalID" omitted external_id;
    3 "providerID" omitted provider_id;
    4 "unschedulable" omitted unschedulable;
    5 "taints" list taints;
    6 "configSource" pointer config_source;
    7 "podCIDRs" list pod_cidrs;
    #[cfg(kubernetes_1_37)]
    8 "podPreemptionPolicy" pointer pod_preemption_policy;
    #[cfg(not(kubernetes_1_37))]
    8 "podPreemptionPolicy" skip 2;
});

message!(api::core::v1::NodeStatus {
    1 "capacity" map capacity;
    2 "allocatable" map allocatable;
    3 "phase" omitted phase;
    4 "conditions" list conditions;
    5 "addresses" list addresses;
    6 "daemonEndpoints" value daemon_endpoints;
    7 "nodeInfo" value node_info;
    8 "images" list images;
    9 "volumesInUse" list volumes_in_use;
    10 "volumesAttached" list volumes_attached;
    11 "config" pointer config;
    12 "runtimeHandlers" list runtime_handlers;
    13 "features" pointer features;
    #[cfg(kubernetes_1_35)]
    14 "declaredFeatures" list declared_features;
    #[cfg(not(kubernetes_1_35))]
    14 "declaredFeatures" skip_list 2;
});

message!(api::core::v1::NodeSwapStatus {
    1 "capacity" pointer capacity;
});

message!(api::core::v1::NodeSystemInfo {
    1 "machineID" value machine_id;
    2 "systemUUID" value system_uuid;
    3 "bootID" value boot_id;
    4 "kernelVersion" value kernel_version;
    5 "osImage" value os_image;
    6 "containerRuntimeVersion" value container_runtime_version;
    7 "kubeletVersion" value kubelet_version;
    8 "kubeProxyVersion" value kube_proxy_version;
    9 "operatingSystem" value operating_system;
    10 "architecture" value architecture;
    11 "swap" pointer swap;
    #[cfg(kubernetes_1_37)]
    12 "runningInUserNamespace" pointer running_in_user_namespace;
    #[cfg(not(kubernetes_1_37))]
    12 "runningInUserNamespace" skip 0;
});

message!(api::core::v1::ObjectFieldSelector {
    1 "apiVersion" omitted api_version;
    2 "fieldPath" value field_path;
});

message!(api::core::v1::ObjectReference {
    1 "kind" omitted kind;
    2 "namespace" omitted namespace;
    3 "name" omitted name;
    4 "uid" omitted uid;
    5 "apiVersion" omitted api_version;
    6 "resourceVersion" omitted resource_version;
    7 "fieldPath" omitted field_path;
});

message!(api::core::v1::PersistentVolume {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::PersistentVolumeClaim {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::PersistentVolumeClaimCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastProbeTime" value last_probe_time;
    4 "lastTransitionTime" value last_transition_time;
    5 "reason" omitted reason;
    6 "message" omitted message;
});

message!(api::core::v1::PersistentVolumeClaimSpec {
    1 "accessModes" list access_modes;
    2 "resources" value resources;
    3 "volumeName" omitted volume_name;
    4 "selector" pointer selector;
    5 "storageClassName" pointer storage_class_name;
    6 "volumeMode" pointer volume_mode;
    7 "dataSource" pointer data_source;
    8 "dataSourceRef" pointer data_source_ref;
    9 "volumeAttributesClassName" pointer volume_attributes_class_name;
});

message!(api::core::v1::PersistentVolumeClaimStatus {
    1 "phase" omitted phase;
    2 "accessModes" list access_modes;
    3 "capacity" map capacity;
    4 "conditions" list conditions;
    5 "allocatedResources" map allocated_resources;
    7 "allocatedResourceStatuses" map allocated_resource_statuses;
    8 "currentVolumeAttributesClassName" pointer current_volume_attributes_class_name;
    9 "modifyVolumeStatus" pointer modify_volume_status;
    #[cfg(kubernetes_1_37)]
    10 "healthStatus" pointer health_status;
    #[cfg(not(kubernetes_1_37))]
    10 "healthStatus" skip 2;
});

message!(api::core::v1::PersistentVolumeClaimTemplate {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::core::v1::PersistentVolumeClaimVolumeSource {
    1 "claimName" value claim_name;
    2 "readOnly" omitted read_only;
});

message!(api::core::v1::PersistentVolumeSpec {
    1 "capacity" map capacity;
    2 "-" inline CorePersistentVolumeSpecPersistentVolumeSource;
    3 "accessModes" list access_modes;
    4 "claimRef" pointer claim_ref;
    5 "persistentVolumeReclaimPolicy" omitted persistent_volume_reclaim_policy;
    6 "storageClassName" omitted storage_class_name;
    7 "mountOptions" list mount_options;
    8 "volumeMode" pointer volume_mode;
    9 "nodeAffinity" pointer node_affinity;
    10 "volumeAttributesClassName" pointer volume_attributes_class_name;
});
inline!(CorePersistentVolumeSpecPersistentVolumeSource in api::core::v1::PersistentVolumeSpec {
    1 "gcePersistentDisk" pointer gce_persistent_disk;
    2 "awsElasticBlockStore" pointer aws_elastic_block_store;
    3 "hostPath" pointer host_path;
    4 "glusterfs" pointer glusterfs;
    5 "nfs" pointer nfs;
    6 "rbd" pointer rbd;
    7 "iscsi" pointer iscsi;
    8 "cinder" pointer cinder;
    9 "cephfs" pointer cephfs;
    10 "fc" pointer fc;
    11 "flocker" pointer flocker;
    12 "flexVolume" pointer flex_volume;
    13 "azureFile" pointer azure_file;
    14 "vsphereVolume" pointer vsphere_volume;
    15 "quobyte" pointer quobyte;
    16 "azureDisk" pointer azure_disk;
    17 "photonPersistentDisk" pointer photon_persistent_disk;
    18 "portworxVolume" pointer portworx_volume;
    19 "scaleIO" pointer scale_io;
    20 "local" pointer local;
    21 "storageos" pointer storageos;
    22 "csi" pointer csi;
});

message!(api::core::v1::PersistentVolumeStatus {
    1 "phase" omitted phase;
    2 "message" omitted message;
    3 "reason" omitted reason;
    4 "lastPhaseTransitionTime" pointer last_phase_transition_time;
});

message!(api::core::v1::PhotonPersistentDiskVolumeSource {
    1 "pdID" value pd_id;
    2 "fsType" omitted fs_type;
});

message!(api::core::v1::Pod {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::PodAffinity {
    1 "requiredDuringSchedulingIgnoredDuringExecution" list required_during_scheduling_ignored_during_execution;
    2 "preferredDuringSchedulingIgnoredDuringExecution" list preferred_during_scheduling_ignored_during_execution;
});

message!(api::core::v1::PodAffinityTerm {
    1 "labelSelector" pointer label_selector;
    2 "namespaces" list namespaces;
    3 "topologyKey" value topology_key;
    4 "namespaceSelector" pointer namespace_selector;
    5 "matchLabelKeys" list match_label_keys;
    6 "mismatchLabelKeys" list mismatch_label_keys;
});

message!(api::core::v1::PodAntiAffinity {
    1 "requiredDuringSchedulingIgnoredDuringExecution" list required_during_scheduling_ignored_during_execution;
    2 "preferredDuringSchedulingIgnoredDuringExecution" list preferred_during_scheduling_ignored_during_execution;
});

#[cfg(kubernetes_1_34)]
message!(api::core::v1::PodCertificateProjection {
    1 "signerName" omitted signer_name;
    2 "keyType" omitted key_type;
    3 "maxExpirationSeconds" pointer max_expiration_seconds;
    4 "credentialBundlePath" omitted credential_bundle_path;
    5 "keyPath" omitted key_path;
    6 "certificateChainPath" omitted certificate_chain_path;
    #[cfg(kubernetes_1_35)]
    7 "userAnnotations" map user_annotations;
    #[cfg(not(kubernetes_1_35))]
    7 "userAnnotations" skip_list 2;
    #[cfg(kubernetes_1_37)]
    8 "user" pointer user;
    #[cfg(not(kubernetes_1_37))]
    8 "user" skip 0;
});

message!(api::core::v1::PodCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastProbeTime" value last_probe_time;
    4 "lastTransitionTime" value last_transition_time;
    5 "reason" omitted reason;
    6 "message" omitted message;
    7 "observedGeneration" omitted observed_generation;
});

message!(api::core::v1::PodDNSConfig {
    1 "nameservers" list nameservers;
    2 "searches" list searches;
    3 "options" list options;
});

message!(api::core::v1::PodDNSConfigOption {
    1 "name" omitted name;
    2 "value" pointer value;
});

#[cfg(kubernetes_1_34)]
message!(api::core::v1::PodExtendedResourceClaimStatus {
    1 "requestMappings" list request_mappings;
    2 "resourceClaimName" value resource_claim_name;
});

message!(api::core::v1::PodIP {
    1 "ip" value ip;
});

message!(api::core::v1::PodOS {
    1 "name" value name;
});

message!(api::core::v1::PodReadinessGate {
    1 "conditionType" value condition_type;
});

message!(api::core::v1::PodResourceClaim {
    1 "name" value name;
    3 "resourceClaimName" pointer resource_claim_name;
    4 "resourceClaimTemplateName" pointer resource_claim_template_name;
});

message!(api::core::v1::PodResourceClaimStatus {
    1 "name" value name;
    2 "resourceClaimName" pointer resource_claim_name;
});

message!(api::core::v1::PodSchedulingGate {
    1 "name" value name;
});

#[cfg(kubernetes_1_36)]
message!(api::core::v1::PodSchedulingGroup {
    1 "podGroupName" pointer pod_group_name;
});

message!(api::core::v1::PodSecurityContext {
    1 "seLinuxOptions" pointer se_linux_options;
    2 "runAsUser" pointer run_as_user;
    3 "runAsNonRoot" pointer run_as_non_root;
    4 "supplementalGroups" list supplemental_groups;
    5 "fsGroup" pointer fs_group;
    6 "runAsGroup" pointer run_as_group;
    7 "sysctls" list sysctls;
    8 "windowsOptions" pointer windows_options;
    9 "fsGroupChangePolicy" pointer fs_group_change_policy;
    10 "seccompProfile" pointer seccomp_profile;
    11 "appArmorProfile" pointer app_armor_profile;
    12 "supplementalGroupsPolicy" pointer supplemental_groups_policy;
    13 "seLinuxChangePolicy" pointer se_linux_change_policy;
});

message!(api::core::v1::PodSpec {
    1 "volumes" list volumes;
    2 "containers" list containers;
    3 "restartPolicy" omitted restart_policy;
    4 "terminationGracePeriodSeconds" pointer termination_grace_period_seconds;
    5 "activeDeadlineSeconds" pointer active_deadline_seconds;
    6 "dnsPolicy" omitted dns_policy;
    7 "nodeSelector" map node_selector;
    8 "serviceAccountName" omitted service_account_name;
    9 "serviceAccount" omitted service_account;
    10 "nodeName" omitted node_name;
    11 "hostNetwork" omitted host_network;
    12 "hostPID" omitted host_pid;
    13 "hostIPC" omitted host_ipc;
    14 "securityContext" pointer security_context;
    15 "imagePullSecrets" list image_pull_secrets;
    16 "hostname" omitted hostname;
    17 "subdomain" omitted subdomain;
    18 "affinity" pointer affinity;
    19 "schedulerName" omitted scheduler_name;
    20 "initContainers" list init_containers;
    21 "automountServiceAccountToken" pointer automount_service_account_token;
    22 "tolerations" list tolerations;
    23 "hostAliases" list host_aliases;
    24 "priorityClassName" omitted priority_class_name;
    25 "priority" pointer priority;
    26 "dnsConfig" pointer dns_config;
    27 "shareProcessNamespace" pointer share_process_namespace;
    28 "readinessGates" list readiness_gates;
    29 "runtimeClassName" pointer runtime_class_name;
    30 "enableServiceLinks" pointer enable_service_links;
    31 "preemptionPolicy" pointer preemption_policy;
    32 "overhead" map overhead;
    33 "topologySpreadConstraints" list topology_spread_constraints;
    34 "ephemeralContainers" list ephemeral_containers;
    35 "setHostnameAsFQDN" pointer set_hostname_as_fqdn;
    36 "os" pointer os;
    37 "hostUsers" pointer host_users;
    38 "schedulingGates" list scheduling_gates;
    39 "resourceClaims" list resource_claims;
    40 "resources" pointer resources;
    #[cfg(kubernetes_1_34)]
    41 "hostnameOverride" pointer hostname_override;
    #[cfg(not(kubernetes_1_34))]
    41 "hostnameOverride" skip 2;
    #[cfg(kubernetes_1_36)]
    43 "schedulingGroup" pointer scheduling_group;
    #[cfg(not(kubernetes_1_36))]
    43 "schedulingGroup" skip 2;
    #[cfg(kubernetes_1_37)]
    44 "evictionResponders" list eviction_responders;
    #[cfg(not(kubernetes_1_37))]
    44 "evictionResponders" skip_list 2;
});

message!(api::core::v1::PodStatus {
    1 "phase" omitted phase;
    2 "conditions" list conditions;
    3 "message" omitted message;
    4 "reason" omitted reason;
    5 "hostIP" omitted host_ip;
    6 "podIP" omitted pod_ip;
    7 "startTime" pointer start_time;
    8 "containerStatuses" list container_statuses;
    9 "qosClass" omitted qos_class;
    10 "initContainerStatuses" list init_container_statuses;
    11 "nominatedNodeName" omitted nominated_node_name;
    12 "podIPs" list pod_ips;
    13 "ephemeralContainerStatuses" list ephemeral_container_statuses;
    14 "resize" omitted resize;
    15 "resourceClaimStatuses" list resource_claim_statuses;
    16 "hostIPs" list host_ips;
    17 "observedGeneration" omitted observed_generation;
    #[cfg(kubernetes_1_34)]
    18 "extendedResourceClaimStatus" pointer extended_resource_claim_status;
    #[cfg(not(kubernetes_1_34))]
    18 "extendedResourceClaimStatus" skip 2;
    #[cfg(kubernetes_1_35)]
    19 "allocatedResources" map allocated_resources;
    #[cfg(not(kubernetes_1_35))]
    19 "allocatedResources" skip_list 2;
    #[cfg(kubernetes_1_35)]
    20 "resources" pointer resources;
    #[cfg(not(kubernetes_1_35))]
    20 "resources" skip 2;
    #[cfg(kubernetes_1_36)]
    21 "nodeAllocatableResourceClaimStatuses" list node_allocatable_resource_claim_statuses;
    #[cfg(not(kubernetes_1_36))]
    21 "nodeAllocatableResourceClaimStatuses" skip_list 2;
    #[cfg(kubernetes_1_37)]
    22 "volumeHealth" list volume_health;
    #[cfg(not(kubernetes_1_37))]
    22 "volumeHealth" skip_list 2;
});

message!(api::core::v1::PodTemplate {
    1 "metadata" value metadata;
    2 "template" value template;
});

message!(api::core::v1::PodTemplateSpec {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

#[cfg(kubernetes_1_37)]
message!(api::core::v1::PodVolumeHealth {
    1 "name" value name;
    2 "healthConditions" list health_conditions;
    3 "lastTransitionTime" value last_transition_time;
});

message!(api::core::v1::PortStatus {
    1 "port" value port;
    2 "protocol" value protocol;
    3 "error" pointer error;
});

message!(api::core::v1::PortworxVolumeSource {
    1 "volumeID" value volume_id;
    2 "fsType" omitted fs_type;
    3 "readOnly" omitted read_only;
});

message!(api::core::v1::PreferredSchedulingTerm {
    1 "weight" value weight;
    2 "preference" value preference;
});

message!(api::core::v1::Probe {
    1 "-" inline CoreProbeProbeHandler;
    2 "initialDelaySeconds" omitted initial_delay_seconds;
    3 "timeoutSeconds" omitted timeout_seconds;
    4 "periodSeconds" omitted period_seconds;
    5 "successThreshold" omitted success_threshold;
    6 "failureThreshold" omitted failure_threshold;
    7 "terminationGracePeriodSeconds" pointer termination_grace_period_seconds;
});
inline!(CoreProbeProbeHandler in api::core::v1::Probe {
    1 "exec" pointer exec;
    2 "httpGet" pointer http_get;
    3 "tcpSocket" pointer tcp_socket;
    4 "grpc" pointer grpc;
});

message!(api::core::v1::ProjectedVolumeSource {
    1 "sources" list sources;
    2 "defaultMode" pointer default_mode;
    #[cfg(kubernetes_1_37)]
    3 "defaultUser" pointer default_user;
    #[cfg(not(kubernetes_1_37))]
    3 "defaultUser" skip 0;
});

message!(api::core::v1::QuobyteVolumeSource {
    1 "registry" value registry;
    2 "volume" value volume;
    3 "readOnly" omitted read_only;
    4 "user" omitted user;
    5 "group" omitted group;
    6 "tenant" omitted tenant;
});

message!(api::core::v1::RBDPersistentVolumeSource {
    1 "monitors" list monitors;
    2 "image" value image;
    3 "fsType" omitted fs_type;
    4 "pool" omitted pool;
    5 "user" omitted user;
    6 "keyring" omitted keyring;
    7 "secretRef" pointer secret_ref;
    8 "readOnly" omitted read_only;
});

message!(api::core::v1::RBDVolumeSource {
    1 "monitors" list monitors;
    2 "image" value image;
    3 "fsType" omitted fs_type;
    4 "pool" omitted pool;
    5 "user" omitted user;
    6 "keyring" omitted keyring;
    7 "secretRef" pointer secret_ref;
    8 "readOnly" omitted read_only;
});

message!(api::core::v1::ReplicationController {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::ReplicationControllerCondition {
    1 "type" value type_;
    2 "status" value status;
    3 "lastTransitionTime" value last_transition_time;
    4 "reason" omitted reason;
    5 "message" omitted message;
});

message!(api::core::v1::ReplicationControllerSpec {
    1 "replicas" pointer replicas;
    2 "selector" map selector;
    3 "template" pointer template;
    4 "minReadySeconds" omitted min_ready_seconds;
});

message!(api::core::v1::ReplicationControllerStatus {
    1 "replicas" value replicas;
    2 "fullyLabeledReplicas" omitted fully_labeled_replicas;
    3 "observedGeneration" omitted observed_generation;
    4 "readyReplicas" omitted ready_replicas;
    5 "availableReplicas" omitted available_replicas;
    6 "conditions" list conditions;
});

message!(api::core::v1::ResourceClaim {
    1 "name" value name;
    2 "request" omitted request;
});

message!(api::core::v1::ResourceFieldSelector {
    1 "containerName" omitted container_name;
    2 "resource" value resource;
    3 "divisor" value divisor;
});

message!(api::core::v1::ResourceHealth {
    1 "resourceID" value resource_id;
    2 "health" omitted health;
    #[cfg(kubernetes_1_36)]
    6 "message" pointer message;
    #[cfg(not(kubernetes_1_36))]
    6 "message" skip 2;
});

message!(api::core::v1::ResourceQuota {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::ResourceQuotaSpec {
    1 "hard" map hard;
    2 "scopes" list scopes;
    3 "scopeSelector" pointer scope_selector;
});

message!(api::core::v1::ResourceQuotaStatus {
    1 "hard" map hard;
    2 "used" map used;
});

message!(api::core::v1::ResourceRequirements {
    1 "limits" map limits;
    2 "requests" map requests;
    3 "claims" list claims;
});

message!(api::core::v1::ResourceStatus {
    1 "name" value name;
    2 "resources" list resources;
});

message!(api::core::v1::SELinuxOptions {
    1 "user" omitted user;
    2 "role" omitted role;
    3 "type" omitted type_;
    4 "level" omitted level;
});

message!(api::core::v1::ScaleIOPersistentVolumeSource {
    1 "gateway" value gateway;
    2 "system" value system;
    3 "secretRef" pointer secret_ref;
    4 "sslEnabled" omitted ssl_enabled;
    5 "protectionDomain" omitted protection_domain;
    6 "storagePool" omitted storage_pool;
    7 "storageMode" omitted storage_mode;
    8 "volumeName" omitted volume_name;
    9 "fsType" omitted fs_type;
    10 "readOnly" omitted read_only;
});

message!(api::core::v1::ScaleIOVolumeSource {
    1 "gateway" value gateway;
    2 "system" value system;
    3 "secretRef" pointer secret_ref;
    4 "sslEnabled" omitted ssl_enabled;
    5 "protectionDomain" omitted protection_domain;
    6 "storagePool" omitted storage_pool;
    7 "storageMode" omitted storage_mode;
    8 "volumeName" omitted volume_name;
    9 "fsType" omitted fs_type;
    10 "readOnly" omitted read_only;
});

message!(api::core::v1::ScopeSelector {
    1 "matchExpressions" list match_expressions;
});

message!(api::core::v1::ScopedResourceSelectorRequirement {
    1 "scopeName" value scope_name;
    2 "operator" value operator;
    3 "values" list values;
});

message!(api::core::v1::SeccompProfile {
    1 "type" value type_;
    2 "localhostProfile" pointer localhost_profile;
});

message!(api::core::v1::Secret {
    1 "metadata" value metadata;
    2 "data" map data;
    3 "type" omitted type_;
    4 "stringData" map string_data;
    5 "immutable" pointer immutable;
});

message!(api::core::v1::SecretEnvSource {
    1 "-" inline CoreSecretEnvSourceLocalObjectReference;
    2 "optional" pointer optional;
});
inline!(CoreSecretEnvSourceLocalObjectReference in api::core::v1::SecretEnvSource {
    1 "name" omitted name;
});

message!(api::core::v1::SecretKeySelector {
    1 "-" inline CoreSecretKeySelectorLocalObjectReference;
    2 "key" value key;
    3 "optional" pointer optional;
});
inline!(CoreSecretKeySelectorLocalObjectReference in api::core::v1::SecretKeySelector {
    1 "name" omitted name;
});

message!(api::core::v1::SecretProjection {
    1 "-" inline CoreSecretProjectionLocalObjectReference;
    2 "items" list items;
    4 "optional" pointer optional;
});
inline!(CoreSecretProjectionLocalObjectReference in api::core::v1::SecretProjection {
    1 "name" omitted name;
});

message!(api::core::v1::SecretReference {
    1 "name" omitted name;
    2 "namespace" omitted namespace;
});

message!(api::core::v1::SecretVolumeSource {
    1 "secretName" omitted secret_name;
    2 "items" list items;
    3 "defaultMode" pointer default_mode;
    4 "optional" pointer optional;
    #[cfg(kubernetes_1_37)]
    5 "defaultUser" pointer default_user;
    #[cfg(not(kubernetes_1_37))]
    5 "defaultUser" skip 0;
});

message!(api::core::v1::SecurityContext {
    1 "capabilities" pointer capabilities;
    2 "privileged" pointer privileged;
    3 "seLinuxOptions" pointer se_linux_options;
    4 "runAsUser" pointer run_as_user;
    5 "runAsNonRoot" pointer run_as_non_root;
    6 "readOnlyRootFilesystem" pointer read_only_root_filesystem;
    7 "allowPrivilegeEscalation" pointer allow_privilege_escalation;
    8 "runAsGroup" pointer run_as_group;
    9 "procMount" pointer proc_mount;
    10 "windowsOptions" pointer windows_options;
    11 "seccompProfile" pointer seccomp_profile;
    12 "appArmorProfile" pointer app_armor_profile;
});

message!(api::core::v1::Service {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::core::v1::ServiceAccount {
    1 "metadata" value metadata;
    2 "secrets" list secrets;
    3 "imagePullSecrets" list image_pull_secrets;
    4 "automountServiceAccountToken" pointer automount_service_account_token;
});

message!(api::core::v1::ServiceAccountTokenProjection {
    1 "audience" omitted audience;
    2 "expirationSeconds" pointer expiration_seconds;
    3 "path" value path;
    #[cfg(kubernetes_1_37)]
    4 "user" pointer user;
    #[cfg(not(kubernetes_1_37))]
    4 "user" skip 0;
});

message!(api::core::v1::ServicePort {
    1 "name" omitted name;
    2 "protocol" omitted protocol;
    3 "port" value port;
    4 "targetPort" value target_port;
    5 "nodePort" omitted node_port;
    6 "appProtocol" pointer app_protocol;
});

message!(api::core::v1::ServiceSpec {
    1 "ports" list ports;
    2 "selector" map selector;
    3 "clusterIP" omitted cluster_ip;
    4 "type" omitted type_;
    5 "externalIPs" list external_ips;
    7 "sessionAffinity" omitted session_affinity;
    8 "loadBalancerIP" omitted load_balancer_ip;
    9 "loadBalancerSourceRanges" list load_balancer_source_ranges;
    10 "externalName" omitted external_name;
    11 "externalTrafficPolicy" omitted external_traffic_policy;
    12 "healthCheckNodePort" omitted health_check_node_port;
    13 "publishNotReadyAddresses" omitted publish_not_ready_addresses;
    14 "sessionAffinityConfig" pointer session_affinity_config;
    17 "ipFamilyPolicy" pointer ip_family_policy;
    18 "clusterIPs" list cluster_ips;
    19 "ipFamilies" list ip_families;
    20 "allocateLoadBalancerNodePorts" pointer allocate_load_balancer_node_ports;
    21 "loadBalancerClass" pointer load_balancer_class;
    22 "internalTrafficPolicy" pointer internal_traffic_policy;
    23 "trafficDistribution" pointer traffic_distribution;
});

message!(api::core::v1::ServiceStatus {
    1 "loadBalancer" value load_balancer;
    2 "conditions" list conditions;
});

message!(api::core::v1::SessionAffinityConfig {
    1 "clientIP" pointer client_ip;
});

message!(api::core::v1::SleepAction {
    1 "seconds" value seconds;
});

message!(api::core::v1::StorageOSPersistentVolumeSource {
    1 "volumeName" omitted volume_name;
    2 "volumeNamespace" omitted volume_namespace;
    3 "fsType" omitted fs_type;
    4 "readOnly" omitted read_only;
    5 "secretRef" pointer secret_ref;
});

message!(api::core::v1::StorageOSVolumeSource {
    1 "volumeName" omitted volume_name;
    2 "volumeNamespace" omitted volume_namespace;
    3 "fsType" omitted fs_type;
    4 "readOnly" omitted read_only;
    5 "secretRef" pointer secret_ref;
});

message!(api::core::v1::Sysctl {
    1 "name" value name;
    2 "value" value value;
});

message!(api::core::v1::TCPSocketAction {
    1 "port" value port;
    2 "host" omitted host;
});

message!(api::core::v1::Taint {
    1 "key" value key;
    2 "value" omitted value;
    3 "effect" value effect;
    4 "timeAdded" pointer time_added;
});

message!(api::core::v1::Toleration {
    1 "key" omitted key;
    2 "operator" omitted operator;
    3 "value" omitted value;
    4 "effect" omitted effect;
    5 "tolerationSeconds" pointer toleration_seconds;
});

message!(api::core::v1::TopologySelectorLabelRequirement {
    1 "key" value key;
    2 "values" list values;
});

message!(api::core::v1::TopologySelectorTerm {
    1 "matchLabelExpressions" list match_label_expressions;
});

message!(api::core::v1::TopologySpreadConstraint {
    1 "maxSkew" value max_skew;
    2 "topologyKey" value topology_key;
    3 "whenUnsatisfiable" value when_unsatisfiable;
    4 "labelSelector" pointer label_selector;
    5 "minDomains" pointer min_domains;
    6 "nodeAffinityPolicy" pointer node_affinity_policy;
    7 "nodeTaintsPolicy" pointer node_taints_policy;
    8 "matchLabelKeys" list match_label_keys;
});

message!(api::core::v1::TypedLocalObjectReference {
    1 "apiGroup" pointer api_group;
    2 "kind" value kind;
    3 "name" value name;
});

message!(api::core::v1::TypedObjectReference {
    1 "apiGroup" pointer api_group;
    2 "kind" value kind;
    3 "name" value name;
    4 "namespace" pointer namespace;
});

message!(api::core::v1::Volume {
    1 "name" value name;
    2 "-" inline CoreVolumeVolumeSource;
});
inline!(CoreVolumeVolumeSource in api::core::v1::Volume {
    1 "hostPath" pointer host_path;
    2 "emptyDir" pointer empty_dir;
    3 "gcePersistentDisk" pointer gce_persistent_disk;
    4 "awsElasticBlockStore" pointer aws_elastic_block_store;
    5 "gitRepo" pointer git_repo;
    6 "secret" pointer secret;
    7 "nfs" pointer nfs;
    8 "iscsi" pointer iscsi;
    9 "glusterfs" pointer glusterfs;
    10 "persistentVolumeClaim" pointer persistent_volume_claim;
    11 "rbd" pointer rbd;
    12 "flexVolume" pointer flex_volume;
    13 "cinder" pointer cinder;
    14 "cephfs" pointer cephfs;
    15 "flocker" pointer flocker;
    16 "downwardAPI" pointer downward_api;
    17 "fc" pointer fc;
    18 "azureFile" pointer azure_file;
    19 "configMap" pointer config_map;
    20 "vsphereVolume" pointer vsphere_volume;
    21 "quobyte" pointer quobyte;
    22 "azureDisk" pointer azure_disk;
    23 "photonPersistentDisk" pointer photon_persistent_disk;
    24 "portworxVolume" pointer portworx_volume;
    25 "scaleIO" pointer scale_io;
    26 "projected" pointer projected;
    27 "storageos" pointer storageos;
    28 "csi" pointer csi;
    29 "ephemeral" pointer ephemeral;
    30 "image" pointer image;
});

message!(api::core::v1::VolumeDevice {
    1 "name" value name;
    2 "devicePath" value device_path;
});

#[cfg(kubernetes_1_37)]
message!(api::core::v1::VolumeHealthCondition {
    1 "status" value status;
    2 "reason" value reason;
    3 "message" omitted message;
});

#[cfg(kubernetes_1_37)]
message!(api::core::v1::VolumeHealthStatus {
    1 "healthConditions" list health_conditions;
    2 "lastTransitionTime" value last_transition_time;
});

message!(api::core::v1::VolumeMount {
    1 "name" value name;
    2 "readOnly" omitted read_only;
    3 "mountPath" value mount_path;
    4 "subPath" omitted sub_path;
    5 "mountPropagation" pointer mount_propagation;
    6 "subPathExpr" omitted sub_path_expr;
    7 "recursiveReadOnly" pointer recursive_read_only;
    #[cfg(kubernetes_1_37)]
    8 "bindMountOptions" list bind_mount_options;
    #[cfg(not(kubernetes_1_37))]
    8 "bindMountOptions" skip_list 2;
});

message!(api::core::v1::VolumeMountStatus {
    1 "name" value name;
    2 "mountPath" value mount_path;
    3 "readOnly" omitted read_only;
    4 "recursiveReadOnly" pointer recursive_read_only;
    #[cfg(kubernetes_1_36)]
    5 "volumeStatus" pointer volume_status;
    #[cfg(not(kubernetes_1_36))]
    5 "volumeStatus" skip 2;
});

message!(api::core::v1::VolumeNodeAffinity {
    1 "required" pointer required;
});

message!(api::core::v1::VolumeProjection {
    1 "secret" pointer secret;
    2 "downwardAPI" pointer downward_api;
    3 "configMap" pointer config_map;
    4 "serviceAccountToken" pointer service_account_token;
    5 "clusterTrustBundle" pointer cluster_trust_bundle;
    #[cfg(kubernetes_1_34)]
    6 "podCertificate" pointer pod_certificate;
    #[cfg(not(kubernetes_1_34))]
    6 "podCertificate" skip 2;
});

message!(api::core::v1::VolumeResourceRequirements {
    1 "limits" map limits;
    2 "requests" map requests;
});

#[cfg(kubernetes_1_36)]
message!(api::core::v1::VolumeStatus {
    1 "image" pointer image;
});

message!(api::core::v1::VsphereVirtualDiskVolumeSource {
    1 "volumePath" value volume_path;
    2 "fsType" omitted fs_type;
    3 "storagePolicyName" omitted storage_policy_name;
    4 "storagePolicyID" omitted storage_policy_id;
});

message!(api::core::v1::WeightedPodAffinityTerm {
    1 "weight" value weight;
    2 "podAffinityTerm" value pod_affinity_term;
});

message!(api::core::v1::WindowsSecurityContextOptions {
    1 "gmsaCredentialSpecName" pointer gmsa_credential_spec_name;
    2 "gmsaCredentialSpec" pointer gmsa_credential_spec;
    3 "runAsUserName" pointer run_as_user_name;
    4 "hostProcess" pointer host_process;
});

message!(api::discovery::v1::Endpoint {
    1 "addresses" list addresses;
    2 "conditions" value conditions;
    3 "hostname" pointer hostname;
    4 "targetRef" pointer target_ref;
    5 "deprecatedTopology" map deprecated_topology;
    6 "nodeName" pointer node_name;
    7 "zone" pointer zone;
    8 "hints" pointer hints;
});

message!(api::discovery::v1::EndpointConditions {
    1 "ready" pointer ready;
    2 "serving" pointer serving;
    3 "terminating" pointer terminating;
});

message!(api::discovery::v1::EndpointHints {
    1 "forZones" list for_zones;
    2 "forNodes" list for_nodes;
});

message!(api::discovery::v1::EndpointPort {
    1 "name" pointer name;
    2 "protocol" pointer protocol;
    3 "port" pointer port;
    4 "appProtocol" pointer app_protocol;
});

message!(api::discovery::v1::EndpointSlice {
    1 "metadata" value metadata;
    2 "endpoints" list endpoints;
    3 "ports" list ports;
    4 "addressType" value address_type;
});

message!(api::discovery::v1::ForNode {
    1 "name" value name;
});

message!(api::discovery::v1::ForZone {
    1 "name" value name;
});

message!(api::events::v1::Event {
    1 "metadata" value metadata;
    2 "eventTime" value event_time;
    3 "series" pointer series;
    4 "reportingController" omitted reporting_controller;
    5 "reportingInstance" omitted reporting_instance;
    6 "action" omitted action;
    7 "reason" omitted reason;
    8 "regarding" value regarding;
    9 "related" pointer related;
    10 "note" omitted note;
    11 "type" omitted type_;
    12 "deprecatedSource" value deprecated_source;
    13 "deprecatedFirstTimestamp" value deprecated_first_timestamp;
    14 "deprecatedLastTimestamp" value deprecated_last_timestamp;
    15 "deprecatedCount" omitted deprecated_count;
});

message!(without default api::events::v1::EventSeries {
    1 "count" value count;
    2 "lastObservedTime" required last_observed_time;
});

message!(without default apimachinery::pkg::apis::meta::v1::Condition {
    1 "type" value type_;
    2 "status" value status;
    3 "observedGeneration" omitted observed_generation;
    4 "lastTransitionTime" required last_transition_time;
    5 "reason" value reason;
    6 "message" value message;
});

message!(apimachinery::pkg::apis::meta::v1::DeleteOptions {
    1 "gracePeriodSeconds" pointer grace_period_seconds;
    2 "preconditions" pointer preconditions;
    3 "orphanDependents" pointer orphan_dependents;
    4 "propagationPolicy" pointer propagation_policy;
    5 "dryRun" list dry_run;
    6 "ignoreStoreReadErrorWithClusterBreakingPotential" pointer ignore_store_read_error_with_cluster_breaking_potential;
});

message!(apimachinery::pkg::apis::meta::v1::LabelSelector {
    1 "matchLabels" map match_labels;
    2 "matchExpressions" list match_expressions;
});

message!(apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement {
    1 "key" value key;
    2 "operator" value operator;
    3 "values" list values;
});

message!(apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry {
    1 "manager" omitted manager;
    2 "operation" omitted operation;
    3 "apiVersion" omitted api_version;
    4 "time" pointer time;
    6 "fieldsType" omitted fields_type;
    7 "fieldsV1" pointer fields_v1;
    8 "subresource" omitted subresource;
});

message!(apimachinery::pkg::apis::meta::v1::ObjectMeta {
    1 "name" omitted name;
    2 "generateName" omitted generate_name;
    3 "namespace" omitted namespace;
    4 "selfLink" omitted self_link;
    5 "uid" omitted uid;
    6 "resourceVersion" omitted resource_version;
    7 "generation" omitted generation;
    8 "creationTimestamp" omitted creation_timestamp;
    9 "deletionTimestamp" pointer deletion_timestamp;
    10 "deletionGracePeriodSeconds" pointer deletion_grace_period_seconds;
    11 "labels" map labels;
    12 "annotations" map annotations;
    13 "ownerReferences" list owner_references;
    14 "finalizers" list finalizers;
    17 "managedFields" list managed_fields;
});

message!(apimachinery::pkg::apis::meta::v1::OwnerReference {
    1 "kind" value kind;
    3 "name" value name;
    4 "uid" value uid;
    5 "apiVersion" value api_version;
    6 "controller" pointer controller;
    7 "blockOwnerDeletion" pointer block_owner_deletion;
});

message!(apimachinery::pkg::apis::meta::v1::Preconditions {
    1 "uid" pointer uid;
    2 "resourceVersion" pointer resource_version;
});

message!(api::networking::v1::HTTPIngressPath {
    1 "path" omitted path;
    2 "backend" value backend;
    3 "pathType" pointer path_type;
});

message!(api::networking::v1::HTTPIngressRuleValue {
    1 "paths" list paths;
});

message!(api::networking::v1::IPAddress {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::networking::v1::IPAddressSpec {
    1 "parentRef" pointer parent_ref;
});

message!(api::networking::v1::IPBlock {
    1 "cidr" value cidr;
    2 "except" list except;
});

message!(api::networking::v1::Ingress {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::networking::v1::IngressBackend {
    3 "resource" pointer resource;
    4 "service" pointer service;
});

message!(api::networking::v1::IngressClass {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::networking::v1::IngressClassParametersReference {
    1 "apiGroup" pointer api_group;
    2 "kind" value kind;
    3 "name" value name;
    4 "scope" pointer scope;
    5 "namespace" pointer namespace;
});

message!(api::networking::v1::IngressClassSpec {
    1 "controller" omitted controller;
    2 "parameters" pointer parameters;
});

message!(api::networking::v1::IngressLoadBalancerIngress {
    1 "ip" omitted ip;
    2 "hostname" omitted hostname;
    4 "ports" list ports;
});

message!(api::networking::v1::IngressLoadBalancerStatus {
    1 "ingress" list ingress;
});

message!(api::networking::v1::IngressPortStatus {
    1 "port" value port;
    2 "protocol" value protocol;
    3 "error" pointer error;
});

message!(api::networking::v1::IngressRule {
    1 "host" omitted host;
    2 "-" inline NetworkingIngressRuleIngressRuleValue;
});
inline!(NetworkingIngressRuleIngressRuleValue in api::networking::v1::IngressRule {
    1 "http" pointer http;
});

message!(api::networking::v1::IngressServiceBackend {
    1 "name" value name;
    2 "port" value port;
});

message!(api::networking::v1::IngressSpec {
    1 "defaultBackend" pointer default_backend;
    2 "tls" list tls;
    3 "rules" list rules;
    4 "ingressClassName" pointer ingress_class_name;
});

message!(api::networking::v1::IngressStatus {
    1 "loadBalancer" value load_balancer;
});

message!(api::networking::v1::IngressTLS {
    1 "hosts" list hosts;
    2 "secretName" omitted secret_name;
});

message!(api::networking::v1::NetworkPolicy {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::networking::v1::NetworkPolicyEgressRule {
    1 "ports" list ports;
    2 "to" list to;
});

message!(api::networking::v1::NetworkPolicyIngressRule {
    1 "ports" list ports;
    2 "from" list from;
});

message!(api::networking::v1::NetworkPolicyPeer {
    1 "podSelector" pointer pod_selector;
    2 "namespaceSelector" pointer namespace_selector;
    3 "ipBlock" pointer ip_block;
});

message!(api::networking::v1::NetworkPolicyPort {
    1 "protocol" pointer protocol;
    2 "port" pointer port;
    3 "endPort" pointer end_port;
});

message!(api::networking::v1::NetworkPolicySpec {
    1 "podSelector" value pod_selector;
    2 "ingress" list ingress;
    3 "egress" list egress;
    4 "policyTypes" list policy_types;
});

message!(api::networking::v1::ParentReference {
    1 "group" omitted group;
    2 "resource" omitted resource;
    3 "namespace" omitted namespace;
    4 "name" omitted name;
});

message!(api::networking::v1::ServiceBackendPort {
    1 "name" omitted name;
    2 "number" omitted number;
});

message!(api::networking::v1::ServiceCIDR {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::networking::v1::ServiceCIDRSpec {
    1 "cidrs" list cidrs;
});

message!(api::networking::v1::ServiceCIDRStatus {
    1 "conditions" list conditions;
});

message!(api::policy::v1::Eviction {
    1 "metadata" value metadata;
    2 "deleteOptions" pointer delete_options;
});

message!(api::policy::v1::PodDisruptionBudget {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::policy::v1::PodDisruptionBudgetSpec {
    1 "minAvailable" pointer min_available;
    2 "selector" pointer selector;
    3 "maxUnavailable" pointer max_unavailable;
    4 "unhealthyPodEvictionPolicy" pointer unhealthy_pod_eviction_policy;
});

message!(api::policy::v1::PodDisruptionBudgetStatus {
    1 "observedGeneration" omitted observed_generation;
    2 "disruptedPods" map disrupted_pods;
    3 "disruptionsAllowed" value disruptions_allowed;
    4 "currentHealthy" value current_healthy;
    5 "desiredHealthy" value desired_healthy;
    6 "expectedPods" value expected_pods;
    7 "conditions" list conditions;
});

message!(api::rbac::v1::AggregationRule {
    1 "clusterRoleSelectors" list cluster_role_selectors;
});

message!(api::rbac::v1::ClusterRole {
    1 "metadata" value metadata;
    2 "rules" list rules;
    3 "aggregationRule" pointer aggregation_rule;
});

message!(api::rbac::v1::ClusterRoleBinding {
    1 "metadata" value metadata;
    2 "subjects" list subjects;
    3 "roleRef" value role_ref;
});

message!(api::rbac::v1::PolicyRule {
    1 "verbs" list verbs;
    2 "apiGroups" list api_groups;
    3 "resources" list resources;
    4 "resourceNames" list resource_names;
    5 "nonResourceURLs" list non_resource_urls;
});

message!(api::rbac::v1::Role {
    1 "metadata" value metadata;
    2 "rules" list rules;
});

message!(api::rbac::v1::RoleBinding {
    1 "metadata" value metadata;
    2 "subjects" list subjects;
    3 "roleRef" value role_ref;
});

message!(api::rbac::v1::RoleRef {
    1 "apiGroup" value api_group;
    2 "kind" value kind;
    3 "name" value name;
});

message!(api::rbac::v1::Subject {
    1 "kind" value kind;
    2 "apiGroup" omitted api_group;
    3 "name" value name;
    4 "namespace" omitted namespace;
});

message!(api::scheduling::v1::PriorityClass {
    1 "metadata" value metadata;
    2 "value" value value;
    3 "globalDefault" omitted global_default;
    4 "description" omitted description;
    5 "preemptionPolicy" pointer preemption_policy;
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::TopologyConstraint {
    1 "key" value key;
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupAllDisruptionMode {
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupBasicSchedulingPolicy {
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupDisruptionMode {
    1 "single" pointer single;
    2 "all" pointer all;
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupGangSchedulingPolicy {
    1 "minCount" pointer min_count;
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupResourceClaim {
    1 "name" value name;
    2 "resourceClaimName" pointer resource_claim_name;
    3 "resourceClaimTemplateName" pointer resource_claim_template_name;
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupSchedulingConstraints {
    1 "topology" list topology;
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupSchedulingPolicy {
    1 "basic" pointer basic;
    2 "gang" pointer gang;
});

#[cfg(kubernetes_1_37)]
message!(api::scheduling::v1alpha3::WorkloadPodGroupSingleDisruptionMode {
});

message!(api::storage::v1::CSIDriver {
    1 "metadata" value metadata;
    2 "spec" value spec;
});

message!(api::storage::v1::CSIDriverSpec {
    1 "attachRequired" pointer attach_required;
    2 "podInfoOnMount" pointer pod_info_on_mount;
    3 "volumeLifecycleModes" list volume_lifecycle_modes;
    4 "storageCapacity" pointer storage_capacity;
    5 "fsGroupPolicy" pointer fs_group_policy;
    6 "tokenRequests" list token_requests;
    7 "requiresRepublish" pointer requires_republish;
    8 "seLinuxMount" pointer se_linux_mount;
    9 "nodeAllocatableUpdatePeriodSeconds" pointer node_allocatable_update_period_seconds;
    #[cfg(kubernetes_1_35)]
    10 "serviceAccountTokenInSecrets" pointer service_account_token_in_secrets;
    #[cfg(not(kubernetes_1_35))]
    10 "serviceAccountTokenInSecrets" skip 0;
    #[cfg(kubernetes_1_36)]
    11 "preventPodSchedulingIfMissing" pointer prevent_pod_scheduling_if_missing;
    #[cfg(not(kubernetes_1_36))]
    11 "preventPodSchedulingIfMissing" skip 0;
});

message!(api::storage::v1::CSINode {
    1 "metadata" value metadata;
    2 "spec" value spec;
    #[cfg(kubernetes_1_37)]
    3 "status" value status;
    #[cfg(not(kubernetes_1_37))]
    3 "status" skip 2;
});

message!(api::storage::v1::CSINodeDriver {
    1 "name" value name;
    2 "nodeID" value node_id;
    3 "topologyKeys" list topology_keys;
    4 "allocatable" pointer allocatable;
});

message!(api::storage::v1::CSINodeSpec {
    1 "drivers" list drivers;
});

#[cfg(kubernetes_1_37)]
message!(api::storage::v1::CSINodeStatus {
    1 "storageHealth" list storage_health;
});

message!(api::storage::v1::CSIStorageCapacity {
    1 "metadata" value metadata;
    2 "nodeTopology" pointer node_topology;
    3 "storageClassName" value storage_class_name;
    4 "capacity" pointer capacity;
    5 "maximumVolumeSize" pointer maximum_volume_size;
});

message!(api::storage::v1::StorageClass {
    1 "metadata" value metadata;
    2 "provisioner" value provisioner;
    3 "parameters" map parameters;
    4 "reclaimPolicy" pointer reclaim_policy;
    5 "mountOptions" list mount_options;
    6 "allowVolumeExpansion" pointer allow_volume_expansion;
    7 "volumeBindingMode" pointer volume_binding_mode;
    8 "allowedTopologies" list allowed_topologies;
});

#[cfg(kubernetes_1_37)]
message!(api::storage::v1::StorageHealth {
    1 "name" value name;
    2 "healthConditions" list health_conditions;
});

#[cfg(kubernetes_1_37)]
message!(api::storage::v1::StorageHealthCondition {
    1 "status" value status;
    2 "reason" value reason;
    3 "message" omitted message;
    4 "accessMode" pointer access_mode;
    5 "volumeMode" pointer volume_mode;
    6 "lastTransitionTime" value last_transition_time;
});

message!(api::storage::v1::TokenRequest {
    1 "audience" value audience;
    2 "expirationSeconds" pointer expiration_seconds;
});

message!(api::storage::v1::VolumeAttachment {
    1 "metadata" value metadata;
    2 "spec" value spec;
    3 "status" value status;
});

message!(api::storage::v1::VolumeAttachmentSource {
    1 "persistentVolumeName" pointer persistent_volume_name;
    2 "inlineVolumeSpec" pointer inline_volume_spec;
});

message!(api::storage::v1::VolumeAttachmentSpec {
    1 "attacher" value attacher;
    2 "source" value source;
    3 "nodeName" value node_name;
});

message!(api::storage::v1::VolumeAttachmentStatus {
    1 "attached" value attached;
    2 "attachmentMetadata" map attachment_metadata;
    3 "attachError" pointer attach_error;
    4 "detachError" pointer detach_error;
});

#[cfg(kubernetes_1_34)]
message!(api::storage::v1::VolumeAttributesClass {
    1 "metadata" value metadata;
    2 "driverName" value driver_name;
    3 "parameters" map parameters;
});

message!(api::storage::v1::VolumeError {
    1 "time" value time;
    2 "message" omitted message;
    3 "errorCode" pointer error_code;
});

message!(api::storage::v1::VolumeNodeResources {
    1 "count" pointer count;
});
