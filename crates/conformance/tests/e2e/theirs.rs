//! client-go: the Go program beside us, its commands and what it says.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use crate::cluster::Cluster;
use crate::ledger::{Ledger, Listener};
use crate::told::{Identity, Objects, Told};
use crate::watched::{Watched, in_go};

/// client-go's own name for the switch.
const STREAMING: &str = "KUBE_FEATURE_WatchListClient";

/// One running Go program.
pub(crate) struct Theirs {
    pub(crate) ledger: Arc<Ledger>,
    input: ChildStdin,
    answers: mpsc::UnboundedReceiver<Answer>,
    /// Ends when this is dropped.
    _child: Child,
}

/// How often the server was asked for what, and how often it answered that a version has expired.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct Asked {
    pub(crate) lists: usize,
    pub(crate) streaming: usize,
    pub(crate) expired: usize,
}

/// A line of its output.
#[derive(Deserialize)]
struct Line {
    told: Option<Event>,
    store: Option<String>,
    objects: Option<BTreeMap<String, State>>,
    joined: Option<String>,
    asked: Option<Asked>,
}

enum Answer {
    Store(String, Objects),
    Joined(String),
    Asked(Asked),
}

#[derive(Deserialize)]
struct Event {
    informer: String,
    handler: String,
    kind: EventKind,
    key: String,
    old: Option<State>,
    new: Option<State>,
    #[serde(default)]
    initial: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum EventKind {
    Added,
    Updated,
    Deleted,
    Missed,
}

#[derive(Deserialize)]
struct State {
    uid: String,
    version: String,
}

impl Theirs {
    pub(crate) async fn start(
        cluster: &Cluster,
        server: &str,
        streaming: bool,
        watched: &[Watched],
    ) -> Self {
        let mut child = Command::new(&cluster.beside)
            .arg(format!("-kubeconfig={}", cluster.kubeconfig.display()))
            .arg(format!("-server={server}"))
            .env(STREAMING, streaming.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program was built by xtask");
        let output = child.stdout.take().expect("the output was asked for");
        let input = child.stdin.take().expect("the input was asked for");
        let ledger = Arc::new(Ledger::default());
        let (tell, answers) = mpsc::unbounded_channel();
        tokio::spawn(listen(output, Arc::clone(&ledger), tell));
        let mut theirs = Self {
            ledger,
            input,
            answers,
            _child: child,
        };
        theirs.say(&in_go(watched)).await;
        theirs
    }

    /// Adds a handler to every informer.
    pub(crate) async fn join(&mut self, handler: &str) {
        self.say(&format!("join {handler}")).await;
        match self.answer().await {
            Answer::Joined(joined) => assert_eq!(joined, handler),
            _ => panic!("client-go answers something else"),
        }
    }

    /// What the stores of so many informers hold.
    pub(crate) async fn stores(&mut self, count: usize) -> BTreeMap<String, Objects> {
        self.say("stores").await;
        let mut stores = BTreeMap::new();
        while stores.len() < count {
            match self.answer().await {
                Answer::Store(name, objects) => drop(stores.insert(name, objects)),
                _ => panic!("client-go answers something else"),
            }
        }
        stores
    }

    pub(crate) async fn asked(&mut self) -> Asked {
        self.say("asked").await;
        match self.answer().await {
            Answer::Asked(asked) => asked,
            _ => panic!("client-go answers something else"),
        }
    }

    async fn say(&mut self, line: &str) {
        let written = self.input.write_all(format!("{line}\n").as_bytes()).await;
        written.expect("the program listens");
    }

    async fn answer(&mut self) -> Answer {
        self.answers
            .recv()
            .await
            .expect("the program is alive, see its errors above")
    }
}

/// Reads its output until it ends.
async fn listen(output: ChildStdout, ledger: Arc<Ledger>, tell: mpsc::UnboundedSender<Answer>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let said: Line = match serde_json::from_str(&line) {
            Ok(said) => said,
            Err(error) => panic!("client-go says {line:?}: {error}"),
        };
        if let Some(event) = said.told {
            take_down(&ledger, event);
        }
        let answer = match (said.store, said.joined, said.asked) {
            (Some(name), ..) => {
                let objects = said.objects.into_iter().flatten();
                let objects = objects.map(|(key, state)| (key, state.identity()));
                Some(Answer::Store(name, objects.collect()))
            }
            (_, Some(joined), _) => Some(Answer::Joined(joined)),
            (.., asked) => asked.map(Answer::Asked),
        };
        // Nobody may listen any more.
        if let Some(answer) = answer
            && tell.send(answer).is_err()
        {
            return;
        }
    }
}

fn take_down(ledger: &Ledger, event: Event) {
    let listener = Listener {
        watched: event.informer,
        handler: event.handler,
    };
    let new = event
        .new
        .expect("client-go knows the last state")
        .identity();
    let told = match event.kind {
        EventKind::Added => Told::Added {
            new,
            initial: event.initial,
        },
        EventKind::Updated => {
            let old = event.old.expect("an update has an old state").identity();
            Told::Updated { old, new }
        }
        EventKind::Deleted => Told::Deleted { last: new },
        EventKind::Missed => Told::Missed { last: new },
    };
    ledger.take_down(&listener, &event.key, told);
}

impl State {
    fn identity(self) -> Identity {
        Identity::from_parts(&self.uid, &self.version)
    }
}
