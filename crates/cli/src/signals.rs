//! Signals: an end that is asked for, and a question on SIGUSR1.

use informer_factory::SharedInformerFactory;

use crate::screen::Screen;
use crate::status;

/// Waits until somebody asks the process to end: Ctrl-C, or SIGTERM.
///
/// # Cancel safety
///
/// Safe, but a signal that comes while nobody waits may be missed.
pub(crate) async fn end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let streams = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        );
        if let (Ok(mut interrupt), Ok(mut terminate)) = streams {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        // No handler could be installed, so the system's own ends the process.
        std::future::pending::<()>().await;
    }
}

/// Says where the informers stand whenever SIGUSR1 comes, for as long as the process lives.
///
/// To be called before the process may get the signal, which would end it otherwise.
pub(crate) fn tell_status_when_asked(factory: SharedInformerFactory, screen: Screen) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut asked) = signal(SignalKind::user_defined1()) else {
            return screen.say("SIGUSR1 cannot be listened to; status is not available");
        };
        tokio::spawn(async move {
            while asked.recv().await.is_some() {
                screen.say(&status::lines(&factory.status()).join("\n"));
            }
        });
    }
    #[cfg(not(unix))]
    drop((factory, screen));
}
