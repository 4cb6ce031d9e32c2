//! Measures what packed values take and how long packing takes: bytes and microseconds a value.
//!
//! `cargo run --release -p informer-packed --example figures [-- FILE]`
//!
//! The file has one value on each line. Without a file the values are JSON documents of about 3 KB,
//! made up like the descriptions of workloads that an API server returns.
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use informer_packed::{DEFAULT_LEVEL, Dictionary, Packed, Packer};

const DOCUMENTS: usize = 4_000;

/// The values that a dictionary is trained from: the first ones.
const SAMPLES: usize = 500;

/// The values that are timed together, and how many times.
const BATCH: usize = 50;
const TURNS: usize = 7;

/// Draws numbers, the same ones in each run (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn id(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        let (a, b, c) = (high >> 32, high >> 16 & 0xFFFF, high & 0xFFF);
        format!(
            "{a:08x}-{b:04x}-4{c:03x}-a{:03x}-{:012x}",
            low >> 52,
            low & 0xFFFF_FFFF_FFFF
        )
    }

    fn time(&mut self) -> String {
        let (hour, minute, second) = (self.below(24), self.below(60), self.below(60));
        format!(
            "2026-03-{:02}T{hour:02}:{minute:02}:{second:02}Z",
            1 + self.below(28)
        )
    }
}

/// Joins the lines of a template, without their indentation.
fn joined(template: &str) -> String {
    template.lines().map(str::trim_start).collect()
}

/// One container of a workload, with its environment, its probe and its mount.
fn container(chance: &mut Chance, app: u64, index: u64) -> String {
    let (team, minor, patch) = (app % 20, chance.below(30), chance.below(9));
    let variable = |number| {
        let value = chance.below(1_000_000);
        format!(r#"{{"name":"APP_{app}_SETTING_{number}","value":"{value}"}}"#)
    };
    let variables: Vec<String> = (0..3 + app % 9).map(variable).collect();
    let variables = variables.join(",");
    let (cpu, memory, mount) = (100 + app % 5, 128 << (app % 4), chance.below(1 << 20));
    joined(&format!(
        r#"{{"name":"app-{app}-{index}",
        "image":"registry.example/team-{team}/app-{app}:v1.{minor}.{patch}",
        "ports":[{{"name":"http","containerPort":8080,"protocol":"TCP"}}],"env":[{variables}],
        "resources":{{"limits":{{"cpu":"{cpu}0m","memory":"{memory}Mi"}},
        "requests":{{"cpu":"{cpu}m","memory":"{memory}Mi"}}}},
        "volumeMounts":[{{"name":"kube-api-access-{mount:05x}","readOnly":true,
        "mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],
        "livenessProbe":{{"httpGet":{{"path":"/healthz","port":"http","scheme":"HTTP"}},
        "timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},
        "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
        "imagePullPolicy":"IfNotPresent"}}"#
    ))
}

fn condition(chance: &mut Chance, kind: &str) -> String {
    let time = chance.time();
    joined(&format!(
        r#"{{"type":"{kind}","status":"True","lastProbeTime":null,
        "lastTransitionTime":"{time}"}}"#
    ))
}

fn metadata(chance: &mut Chance, app: u64) -> String {
    let (team, hash, random) = (app % 20, chance.below(1 << 40), chance.below(1 << 20));
    let (id, owner, created) = (chance.id(), chance.id(), chance.time());
    let version = 10_000_000 + chance.below(90_000_000);
    let digest = chance.next();
    joined(&format!(
        r#"{{"name":"app-{app}-{hash:010x}-{random:05x}","generateName":"app-{app}-{hash:010x}-",
        "namespace":"team-{team}","uid":"{id}","resourceVersion":"{version}",
        "creationTimestamp":"{created}",
        "labels":{{"app":"app-{app}","pod-template-hash":"{hash:010x}","tier":"backend"}},
        "annotations":{{"checksum/config":"{digest:016x}"}},
        "ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet",
        "name":"app-{app}-{hash:010x}","uid":"{owner}",
        "controller":true,"blockOwnerDeletion":true}}]}}"#
    ))
}

fn document(number: u64) -> Vec<u8> {
    let chance = &mut Chance(number);
    let app = chance.below(200);
    let metadata = metadata(chance, app);
    let containers: Vec<String> = (0..1 + app % 3)
        .map(|index| container(chance, app, index))
        .collect();
    let containers = containers.join(",");
    let kinds = ["Initialized", "Ready", "ContainersReady", "PodScheduled"];
    let conditions = kinds.map(|kind| condition(chance, kind)).join(",");
    let (node, address, started) = (chance.below(250), chance.below(65_536), chance.time());
    let (high, low) = (address >> 8, address & 255);
    joined(&format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{metadata},
        "spec":{{"containers":[{containers}],"restartPolicy":"Always",
        "terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
        "serviceAccountName":"app-{app}","nodeName":"node-{node}","securityContext":{{}},
        "schedulerName":"default-scheduler","tolerations":[
        {{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
        "tolerationSeconds":300}},
        {{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",
        "tolerationSeconds":300}}],
        "priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"}},
        "status":{{"phase":"Running","conditions":[{conditions}],"hostIP":"10.0.0.{node}",
        "podIP":"10.128.{high}.{low}","startTime":"{started}","qosClass":"Burstable"}}}}"#
    ))
    .into_bytes()
}

fn values() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let Some(file) = std::env::args_os().nth(1) else {
        return Ok((0..DOCUMENTS as u64).map(document).collect());
    };
    let text = std::fs::read(file)?;
    let lines = text.split(|byte| *byte == b'\n');
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}

/// Calls `work` with each item, and returns the microseconds that one takes.
///
/// A batch is timed several times and its quickest time counts, since a batch is so short that it
/// seldom has to share its processor each time.
fn microseconds<T>(items: &[T], mut work: impl FnMut(&T)) -> f64 {
    let mut time = |batch: &[T]| {
        let start = Instant::now();
        batch.iter().for_each(&mut work);
        start.elapsed()
    };
    let mut quickest = |batch| (0..TURNS).map(|_| time(batch)).min().unwrap_or_default();
    let total: Duration = items.chunks(BATCH).map(&mut quickest).sum();
    total.as_secs_f64() * 1e6 / items.len() as f64
}

/// Prints one row: packs and unpacks all values.
fn measure(name: &str, packer: &Packer, values: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    let packing = microseconds(values, |value| drop(black_box(packer.pack(value))));
    let packed: Vec<Packed> = values.iter().map(|value| packer.pack(value)).collect();
    let mut value = Vec::new();
    let mut failed = None;
    let unpacking = microseconds(&packed, |packed| {
        failed = packed.unpack_into(&mut value).err().or(failed);
        black_box(&value);
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    let before: usize = values.iter().map(Vec::len).sum();
    let after: usize = packed.iter().map(Packed::packed_len).sum();
    println!(
        "| {name} | {} | {:.1} | {packing:.1} | {unpacking:.1} |",
        after / values.len(),
        before as f64 / after as f64,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let values = values()?;
    let samples = &values[..values.len().min(SAMPLES)];
    let before: usize = values.iter().map(Vec::len).sum();
    println!(
        "{} values of {} bytes\n",
        values.len(),
        before / values.len().max(1)
    );
    println!("| dictionary, level | bytes a value | ratio | pack, µs | unpack, µs |");
    println!("| --- | --- | --- | --- | --- |");
    measure("none, 1", &Packer::new(DEFAULT_LEVEL), &values)?;
    for size in [16, 32, 64, 112] {
        let start = Instant::now();
        let dictionary = Arc::new(Dictionary::train(samples, size * 1024)?);
        let trained = start.elapsed();
        let memory = dictionary.memory() / 1024;
        let packer = Packer::with_dictionary(Arc::clone(&dictionary), DEFAULT_LEVEL)?;
        let tables = packer.memory() / 1024;
        for level in [1, 3, 9] {
            let packer = Packer::with_dictionary(Arc::clone(&dictionary), level)?;
            measure(&format!("{size} KiB, {level}"), &packer, &values)?;
        }
        println!(
            "| trained in {} ms, {memory} KiB and {tables} KiB in its packer | | | | |",
            trained.as_millis()
        );
    }
    Ok(())
}
