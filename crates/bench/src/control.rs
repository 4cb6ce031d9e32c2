//! The side door of the fixture server: what makes things happen, and what the server used.
//!
//! A socket and a few lines of HTTP: it is used between measurements and must add nothing to them.
//! The driver of kube-runtime includes this file, so it knows no other module.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::io::{Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, bail};

/// The side door of one server.
#[derive(Clone, Debug)]
pub struct Control {
    server: String,
}

impl Control {
    /// Of the server at this host and port.
    pub fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
        }
    }

    /// Processor time of the server so far, in seconds.
    ///
    /// # Errors
    /// When the server is gone.
    pub fn server_cpu(&self) -> Result<f64> {
        let answer = self.ask("/bench/cpu")?;
        answer
            .trim()
            .parse()
            .context("the server answers in seconds")
    }

    /// Publishes as many changes at once; watches take them as fast as they can.
    ///
    /// # Errors
    /// When the server is gone.
    pub fn change(&self, count: u64) -> Result<()> {
        self.ask(&format!("/bench/change?count={count}")).map(drop)
    }

    /// Publishes as many changes, at so many a second.
    ///
    /// # Errors
    /// When the server is gone.
    pub fn change_at(&self, count: u64, rate: u64) -> Result<()> {
        let path = format!("/bench/change?count={count}&rate={rate}");
        self.ask(&path).map(drop)
    }

    /// Changes as many objects behind everybody's back: watches expire, and a list is needed.
    ///
    /// # Errors
    /// When the server is gone.
    pub fn expire(&self, changed: u64) -> Result<()> {
        self.ask(&format!("/bench/expire?count={changed}"))
            .map(drop)
    }

    fn ask(&self, path: &str) -> Result<String> {
        let mut socket = TcpStream::connect(&self.server)?;
        let server = &self.server;
        write!(
            socket,
            "GET {path} HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        if !head.starts_with("HTTP/1.1 200") {
            bail!("{path}: {head}\n{body}");
        }
        Ok(body.to_owned())
    }
}
