//! The server as a `tower::Service`: requests in, answers out, no sockets.
//!
//! This is where a request meets its faults. Its error stands for a connection that broke before
//! anything was answered.

use std::{
    fmt,
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE, request::Parts};
use http_body::Body;
use http_body_util::BodyExt;
use tower::Service;

use super::{
    accept,
    answer::{
        ApiBody, answer, broken, foreign, media_type, refusal, refused_handshake, unreachable,
        value_answer,
    },
    discovery::discover,
    objects::{Answered, Call},
    query::Query,
    route::{Route, route},
};
use crate::{ApiServer, Fault, RequestLine, ResourceId, Verb, server::Server, wire::Encoding};

/// Answers HTTP requests in memory; made by [`ApiServer::service`].
#[derive(Clone)]
pub struct ApiService {
    server: Arc<Server>,
}

impl ApiServer {
    /// The server as a service, for `kube_client::Client::new(server.service(), "default")`.
    pub fn service(&self) -> ApiService {
        ApiService {
            server: Arc::clone(self.server()),
        }
    }
}

impl<B> Service<Request<B>> for ApiService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: fmt::Display + Send,
{
    type Response = Response<ApiBody>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Response<ApiBody>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = Arc::clone(&self.server);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await;
            let body = body.map_err(|error| io::Error::other(error.to_string()))?;
            respond(&server, parts, body.to_bytes()).await
        })
    }
}

impl fmt::Debug for ApiService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiService").finish_non_exhaustive()
    }
}

/// One request: into the log, through its faults, to its answer.
async fn respond(server: &Arc<Server>, parts: Parts, body: Bytes) -> io::Result<Response<ApiBody>> {
    let route = route(parts.uri.path(), &server.lock().cluster);
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let (number, faults) = server.begin(line(server, &parts, &route, &query));
    let status_encoding = accept::status(&parts.headers, server.settings.protobuf);
    if let Some(response) = meet(server, number, &faults, status_encoding).await? {
        return Ok(response);
    }
    let stall = faults.iter().find_map(|fault| match fault {
        Fault::Stall(time) => Some(*time),
        _ => None,
    });
    let is_hanging = faults.contains(&Fault::Hang);
    let is_html = faults.contains(&Fault::Html);
    let is_watch = is_watch(&parts, &query);
    let (mut response, why) = match handle(server, route, &parts, query, body, faults) {
        Ok((response, why)) => (response, why),
        Err(rejection) => {
            let response = refusal(&rejection, status_encoding);
            (response, rejection.to_string())
        }
    };
    if let Some(time) = stall {
        let body = std::mem::replace(response.body_mut(), ApiBody::from(Bytes::new()));
        *response.body_mut() = body.stalled(time);
    }
    if is_hanging && !is_watch {
        let silence = futures::stream::pending();
        *response.body_mut() = ApiBody::stream(silence);
    }
    if is_html && !is_watch {
        let page = Bytes::from_static(b"<html><body><h1>Please log in</h1></body></html>");
        response = answer(StatusCode::OK, "text/html", ApiBody::from(page));
    }
    let media_type = response.headers().get(CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    server.note_media_type(number, media_type.unwrap_or_default());
    server.answer(number, Some(response.status().as_u16()), why);
    Ok(response)
}

/// Meets the faults that come before any answer. Returns the answer, if one of them gives it.
async fn meet(
    server: &Server,
    number: u64,
    faults: &[Fault],
    encoding: Encoding,
) -> io::Result<Option<Response<ApiBody>>> {
    let told = |code, why: &str| server.answer(number, code, format!("fault: {why}"));
    for fault in faults {
        match fault {
            Fault::Delay(time) => tokio::time::sleep(*time).await,
            Fault::Refuse => {
                told(None, "refused");
                return Err(broken());
            }
            Fault::Unreachable => {
                told(None, "unreachable");
                return Err(unreachable());
            }
            Fault::Handshake => {
                told(None, "the handshake failed");
                return Err(refused_handshake());
            }
            Fault::HangHeaders => {
                told(None, "never answered");
                std::future::pending::<()>().await;
            }
            Fault::Answer {
                code,
                retry_after,
                media_type,
                body,
            } => {
                told(Some(*code), media_type);
                server.note_media_type(number, media_type);
                let body = ApiBody::from(Bytes::from(body.clone()));
                let response = foreign(*code, retry_after.as_deref(), media_type, body);
                return Ok(Some(response));
            }
            Fault::Status(rejection) => {
                told(Some(rejection.code), &rejection.to_string());
                server.note_media_type(number, media_type(encoding));
                return Ok(Some(refusal(rejection, encoding)));
            }
            _ => {}
        }
    }
    Ok(None)
}

fn is_watch(parts: &Parts, query: &Query) -> bool {
    parts.method == Method::GET && matches!(query.flag("watch"), Ok(Some(true)))
}

fn handle(
    server: &Arc<Server>,
    route: Route,
    parts: &Parts,
    query: Query,
    body: Bytes,
    faults: Vec<Fault>,
) -> Answered {
    let call = |id: ResourceId, namespace| Call {
        server,
        id,
        resource: Arc::clone(&server.lock().cluster.collection(id).resource),
        namespace,
        method: parts.method.clone(),
        query,
        headers: parts.headers.clone(),
        body,
        faults,
    };
    match route {
        Route::Collection { id, namespace } => call(id, namespace).collection(),
        Route::Object {
            id,
            namespace,
            name,
            part,
        } => call(id, namespace).object(&name, part),
        route => {
            let found = discover(&route, &server.lock().cluster, &parts.headers)?;
            let response = match found {
                Some(value) => value_answer(StatusCode::OK, Encoding::Json, &value),
                None => answer(
                    StatusCode::OK,
                    "text/plain",
                    Bytes::from_static(b"ok").into(),
                ),
            };
            Ok((response, "discovery".to_owned()))
        }
    }
}

/// What was asked, for the log and the script.
fn line(server: &Server, parts: &Parts, route: &Route, query: &Query) -> RequestLine {
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    let other = RequestLine::other(path.to_owned());
    let (id, namespace, name) = match route {
        Route::Collection { id, namespace } => (*id, namespace.clone(), None),
        Route::Object {
            id,
            namespace,
            name,
            ..
        } => (*id, namespace.clone(), Some(name.clone())),
        _ => return other,
    };
    let verb = match (&parts.method, &name) {
        (&Method::GET, None) if is_watch(parts, query) => Verb::Watch,
        (&Method::GET, None) => Verb::List,
        (&Method::GET, Some(_)) => Verb::Get,
        (&Method::POST, None) => Verb::Create,
        (&Method::PUT, Some(_)) => Verb::Replace,
        (&Method::PATCH, Some(_)) => Verb::Patch,
        (&Method::DELETE, None) => Verb::DeleteCollection,
        (&Method::DELETE, Some(_)) => Verb::Delete,
        _ => Verb::Other,
    };
    RequestLine {
        verb,
        resource: Some(crate::Resource::clone(
            &server.lock().cluster.collection(id).resource,
        )),
        namespace,
        name,
        version: query.version(),
        is_continuation: query.is_continuation(),
        wants_initial_events: matches!(query.flag("sendInitialEvents"), Ok(Some(true))),
        ..other
    }
}
