//! Clients that count what they receive, and the processor time and allocations of the server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use http::Request;
use http_body_util::BodyExt;
use informer_factory::Client;
use kube_client::Config;
use kube_client::client::Body;
use kube_client::config::{KubeConfigOptions, Kubeconfig};

/// The clock ticks of a second in `/proc`, the same on every Linux of today.
const TICKS: f64 = 100.0;

/// The counter of the bytes that the server has allocated.
const ALLOCATED: &str = "go_memstats_alloc_bytes_total ";

/// The way to the server.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    config: Config,
    process: u32,
}

impl Access {
    /// Reads the kubeconfig.
    pub(crate) async fn read(kubeconfig: &Path, process: u32) -> Result<Self> {
        let read = Kubeconfig::read_from(kubeconfig)?;
        let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
        Ok(Self { config, process })
    }

    /// Returns a client with connections of its own.
    pub(crate) fn client(&self) -> Result<Client> {
        Ok(informer_factory::client(self.config.clone())?)
    }

    /// Returns such a client, and the bytes of the bodies that it has received.
    pub(crate) fn counted(&self) -> Result<(Client, Arc<AtomicU64>)> {
        let inner = self.client()?;
        let received = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&received);
        let service = tower::service_fn(move |request: Request<Body>| {
            let (inner, counter) = (inner.clone(), Arc::clone(&counter));
            async move {
                let response = inner.send(request).await?;
                Ok::<_, kube_client::Error>(response.map(|body| {
                    body.map_frame(move |frame| {
                        let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
                        counter.fetch_add(bytes, Ordering::Relaxed);
                        frame
                    })
                }))
            }
        });
        Ok((Client::new(service, "default"), received))
    }

    /// Returns the bytes that the server has allocated since it began, freed or not. The answer
    /// itself takes some of them.
    pub(crate) async fn server_allocated(&self) -> Result<f64> {
        let request = Request::get("/metrics").body(Vec::new())?;
        let metrics = self.client()?.request_text(request).await?;
        let mut lines = metrics.lines();
        let value = lines.find_map(|line| line.strip_prefix(ALLOCATED));
        let value = value.context("the server does not count its allocations")?;
        Ok(value.trim().parse()?)
    }

    /// Has the server collect its garbage. The next collection begins when as much has been
    /// allocated as is alive now, or after two minutes.
    pub(crate) async fn collect_garbage(&self) -> Result<()> {
        let request = Request::get("/debug/pprof/heap?gc=1&debug=1").body(Vec::new())?;
        self.client()?.request_text(request).await?;
        Ok(())
    }

    /// Returns the processor seconds that the server has used, once it uses hardly any more.
    pub(crate) async fn server_cpu(&self) -> Result<f64> {
        let mut before = self.server_cpu_now()?;
        for _ in 0..50 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let now = self.server_cpu_now()?;
            if now - before <= 0.02 {
                return Ok(now);
            }
            before = now;
        }
        Ok(before)
    }

    fn server_cpu_now(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.process);
        let stat = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        // The name of the program, which may contain spaces, ends with the last parenthesis.
        let (_, fields) = stat.rsplit_once(") ").with_context(|| path.clone())?;
        let ticks = |index: usize| fields.split(' ').nth(index)?.parse::<f64>().ok();
        let (user, system) = (
            ticks(11).context("user time")?,
            ticks(12).context("system time")?,
        );
        Ok((user + system) / TICKS)
    }
}
