//! The terminal, which is stderr: pictures where there is one, lines where there is none.
//!
//! Nothing here fails: whoever closed stderr does not want to read it. Stdout is never touched.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Where pictures and remarks go. Clones are the same screen.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    /// The picture, if stderr is a terminal and a picture is wanted.
    picture: Option<ProgressBar>,
}

impl Screen {
    /// Lines only.
    pub(crate) fn plain() -> Self {
        Self { picture: None }
    }

    /// Pictures if stderr is a terminal.
    pub(crate) fn live() -> Self {
        let bar = || ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let picture = io::stderr().is_terminal().then(bar);
        Self { picture }
    }

    /// Whether pictures are shown.
    pub(crate) fn is_live(&self) -> bool {
        self.picture.is_some()
    }

    /// Says something that stays.
    pub(crate) fn say(&self, text: &str) {
        let write = || {
            // A closed stderr is no reason to end: the answer may be wanted on stdout.
            drop(writeln!(io::stderr().lock(), "{text}"));
        };
        match &self.picture {
            Some(picture) => picture.suspend(write),
            None => write(),
        }
    }

    /// Shows a progress bar.
    pub(crate) fn progress(&self, what: &str, done: u64, of: u64) {
        let Some(picture) = &self.picture else { return };
        picture.set_message(what.to_owned());
        if picture.length() != Some(of) {
            picture.set_style(bar_style());
            picture.set_length(of);
        }
        picture.set_position(done.min(of));
        picture.tick();
    }

    /// Shows these lines in place of what was shown.
    pub(crate) fn show(&self, lines: &[String]) {
        let Some(picture) = &self.picture else { return };
        if picture.length().is_some() {
            picture.unset_length();
            picture.set_style(text_style());
        }
        picture.set_message(lines.join("\n"));
        picture.tick();
    }

    /// Takes the picture away.
    pub(crate) fn clear(&self) {
        if let Some(picture) = &self.picture {
            picture.finish_and_clear();
        }
    }
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} [{bar:40}] {human_pos}/{human_len} {elapsed}")
        .expect("the template is right")
        .progress_chars("=> ")
}

fn text_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg}").expect("the template is right")
}
