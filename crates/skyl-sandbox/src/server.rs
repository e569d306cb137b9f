//! Connections in, exchanges out.
//!
//! A request is read to its end, then planned and journaled in one step, and only then does a byte
//! or a fault go out. Waits belong to the connection's task: when the client hangs up, the task
//! ends and the wait with it.

use std::{io, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, request::Parts};
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    answer::Call,
    body::{Broken, PlannedBody},
    chaos::Chaos,
    control,
    fault::Named,
    journal::{JournalEntry, redacted},
    ledger::{Ledger, Place, Stats},
    limiter::{Ruling, Verdict},
    mounts::{Cause, House, Mount, Request},
    plan::{self, Cut, Ending, Moment, Plan},
    script::{Number, Outcome, Script, StatusFault, Step},
    socket::{Fate, Socket},
    timing::{self, Origin},
};

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) ledger: Ledger,
    pub(crate) house: House,
    pub(crate) mounts: Vec<Box<dyn Mount>>,
    pub(crate) script: Option<Script>,
    pub(crate) chaos: Option<Chaos>,
    pub(crate) origin: Origin,
    pub(crate) connections: watch::Sender<Connections>,
}

/// Connections since the start, and now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Connections {
    pub(crate) accepted: u64,
    pub(crate) open: u64,
}

impl Server {
    pub(crate) fn stats(&self) -> Stats {
        let connections = *self.connections.borrow();
        let mut stats = Stats {
            connections: connections.accepted,
            connections_open: connections.open,
            ..Stats::default()
        };
        self.ledger.count(&mut stats);
        stats
    }

    /// Resolves once no connection is open.
    pub(crate) async fn all_closed(&self) {
        let mut seen = self.connections.subscribe();
        // The sender lives as long as `self`, so the wait cannot fail.
        let _closed = seen
            .wait_for(|connections| connections.open == 0)
            .await
            .is_err();
    }
}

/// Accepts connections for ever; dropping the future ends them all.
pub(crate) async fn accept(server: Arc<Server>, listener: TcpListener, tls: Option<TlsAcceptor>) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let guard = Open::new(server.clone());
                    tasks.spawn(connection(guard, stream, tls.clone()));
                }
                // Out of file descriptors, or a peer that gave up in the queue: the listener lives.
                Err(_) => timing::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = tasks.join_next() => {}
        }
    }
}

/// Counts a connection as open for as long as it lives.
struct Open {
    server: Arc<Server>,
    number: u64,
}

impl Open {
    fn new(server: Arc<Server>) -> Self {
        let mut number = 0;
        server.connections.send_modify(|connections| {
            connections.accepted += 1;
            connections.open += 1;
            number = connections.accepted;
        });
        Self { server, number }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.server
            .connections
            .send_modify(|connections| connections.open -= 1);
    }
}

async fn connection(open: Open, stream: TcpStream, tls: Option<TlsAcceptor>) {
    // Without it small pieces would wait for each other; a peer that is gone shows itself below.
    let _gone = stream.set_nodelay(true).is_err();
    let fate = Fate::default();
    let socket = Socket::new(stream, fate.clone());
    match tls {
        None => exchanges(&open, socket, fate).await,
        Some(tls) => {
            // A client that refuses the certificate ends here, without a request.
            if let Ok(stream) = tls.accept(socket).await {
                exchanges(&open, stream, fate).await;
            }
        }
    }
}

async fn exchanges(open: &Open, io: impl AsyncRead + AsyncWrite + Unpin, fate: Fate) {
    let service = service_fn(|request| respond(open, fate.clone(), request));
    // Broken on purpose or by the client: either way the connection is over, and what happened
    // stands in the journal.
    let _over = http1::Builder::new()
        .serve_connection(TokioIo::new(io), service)
        .await
        .is_err();
}

async fn respond(
    open: &Open,
    fate: Fate,
    request: hyper::Request<Incoming>,
) -> Result<Response<PlannedBody>, Broken> {
    let server = &*open.server;
    let (head, body) = request.into_parts();
    let body = Received::read(body).await?;
    let path = head.uri.path();
    let mount = server.mounts.iter().find(|mount| {
        path.strip_prefix(mount.prefix())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let Some(mount) = mount else {
        let (status, body) = control::answer(server, &head);
        return response(
            status,
            [("content-type", crate::answer::JSON.to_owned())],
            PlannedBody::plain(body, fate),
        );
    };
    let (plan, headers) = settle(server, mount.as_ref(), open.number, head, body);
    if !plan.stall.is_zero() {
        timing::sleep(plan.stall).await;
    }
    match plan.ending {
        Ending::Hangup(cut) => {
            if cut == Cut::Reset {
                fate.reset_on_drop();
            }
            Err(Broken)
        }
        Ending::Reply(mut reply) => {
            let body = PlannedBody::new(&mut reply, fate);
            response(reply.status, reply.headers.into_iter().chain(headers), body)
        }
    }
}

/// Numbers, matches, plans and journals a request, all under one lock.
fn settle(
    server: &Server,
    mount: &dyn Mount,
    connection: u64,
    head: Parts,
    body: Received,
) -> (Plan, Vec<(&'static str, String)>) {
    let path = head.uri.path().to_owned();
    let headers = redacted(&head.headers);
    let kept = if body.bytes > MAX_BODY_BYTES {
        Bytes::new()
    } else {
        body.start
    };
    let inside = path
        .get(mount.prefix().len()..)
        .unwrap_or_default()
        .to_owned();
    let request = Request {
        method: head.method,
        path: inside,
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body: kept,
    };
    let call = if body.bytes > MAX_BODY_BYTES {
        let message = format!(
            "sandbox: the body has {} bytes, at most {MAX_BODY_BYTES} are taken",
            body.bytes
        );
        Call::refused(mount.error(413, Cause::Usual, &message))
    } else {
        mount.read(&request, &server.house)
    };
    let mount = call
        .model
        .as_deref()
        .and_then(|model| mount.voice(model))
        .unwrap_or(mount);
    let call = refuse_broken_script(mount, call);
    let model = call.model.clone();
    server.ledger.record(&request.body, |place| {
        let seq = place.seq;
        // Read under the lock, so that the journal's times are in its order.
        let now = Now {
            elapsed: server.origin.elapsed(),
            moment: Moment {
                seq,
                wall: timing::wall(),
            },
        };
        let (step, plan, limits) = matched(server, mount, call, place, &body.sha256, now);
        let entry = JournalEntry {
            seq,
            time_ms: u64::try_from(now.elapsed.as_millis()).unwrap_or(u64::MAX),
            connection,
            method: request.method.to_string(),
            path,
            mount: mount.name(),
            model,
            step,
            status: plan.status(),
            body_sha256: body.sha256,
            body_bytes: body.bytes,
            headers,
        };
        let headers = mount.headers(seq).into_iter().chain(limits);
        (entry, (plan, headers.collect()))
    })
}

/// A model name with a script that does not parse is a bad request, whatever else is going on.
fn refuse_broken_script(mount: &dyn Mount, call: Call) -> Call {
    match call.model.as_deref().map(Named::of) {
        Some(Named::Broken(error)) if !call.refused => {
            let refused =
                Call::refused(mount.error(400, Cause::Usual, &format!("sandbox: {error}")));
            Call {
                model: call.model,
                ..refused
            }
        }
        _ => call,
    }
}

/// The moment a request got its place.
#[derive(Clone, Copy, Debug)]
struct Now {
    /// Since the sandbox started.
    elapsed: Duration,
    moment: Moment,
}

/// Finds the course of a request: its step, its plan, and what the limiter adds to the headers.
///
/// A fault in the model's name goes before everything else, then the limiter, then faults at
/// random, then the server's script.
fn matched(
    server: &Server,
    mount: &dyn Mount,
    call: Call,
    place: &mut Place<'_>,
    sha256: &str,
    now: Now,
) -> (Option<usize>, Plan, Vec<(&'static str, String)>) {
    let planned =
        |call, step: &Step, message: &str| plan::plan(mount, call, step, message, now.moment);
    if call.refused {
        return (None, planned(call, Step::OK, ""), Vec::new());
    }
    let name = call.model.clone().unwrap_or_default();
    match Named::of(&name) {
        Named::Always(step) => {
            let message = format!("sandbox: injected status {name}");
            return (None, planned(call, &step, &message), Vec::new());
        }
        Named::Script(script) => {
            let (index, step) = place.step_of(&script, &name);
            return (
                Some(index),
                planned(call, step, &injected(step)),
                Vec::new(),
            );
        }
        Named::Plain | Named::Broken(_) => {}
    }
    let mut limits = Vec::new();
    if let Some(ruling) = place.rule(now.elapsed, sha256, call.tokens) {
        limits = mount.limits(&ruling.dimensions, now.moment.wall);
        if let Some((step, message)) = limited(&ruling) {
            return (None, planned(call, &step, &message), limits);
        }
    }
    if let Some(chaos) = &server.chaos
        && let Some(step) = chaos.step(sha256, place.seen(sha256))
    {
        return (None, planned(call, step, &injected(step)), limits);
    }
    match &server.script {
        None => (None, planned(call, Step::OK, ""), limits),
        Some(script) => {
            let (index, step) = place.step_of_server(script);
            (Some(index), planned(call, step, &injected(step)), limits)
        }
    }
}

/// The 429 of the limiter, with the wait in both headers that clients read; `None` if admitted.
fn limited(ruling: &Ruling) -> Option<(Step, String)> {
    let mut fault = StatusFault {
        code: 429,
        ..StatusFault::default()
    };
    let message = match ruling.verdict {
        Verdict::Admitted => return None,
        Verdict::Wait(wait) => {
            // Rounded up: whoever waits exactly as long as told must not be early.
            let millis = u32::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX);
            fault.retry_after_ms = Some(Number::from(millis));
            fault.retry_after = Some(Number::from(millis.div_ceil(1000)));
            format!("sandbox: rate limit reached; try again in {millis}ms")
        }
        Verdict::TooLarge { limit, asked } => {
            fault.should_retry = Some(false);
            format!("sandbox: request too large: limit {limit} tokens a minute, asked for {asked}")
        }
    };
    Some((Step::of(Outcome::Status(fault)), message))
}

fn injected(step: &Step) -> String {
    match &step.outcome {
        Outcome::Status(fault) => format!("sandbox: injected status {}", fault.code),
        _ => String::new(),
    }
}

/// A request body, read to its end.
struct Received {
    /// The body, or its start when it was larger than is taken.
    start: Bytes,
    bytes: u64,
    sha256: String,
}

impl Received {
    /// Reads all of it, so that the client never fails while it sends, but keeps a bounded part.
    async fn read(mut body: Incoming) -> Result<Self, Broken> {
        let mut start = BytesMut::new();
        let mut bytes = 0_u64;
        let mut hash = Sha256::new();
        while let Some(frame) = body.frame().await {
            // A client that breaks off in the middle of its request has sent none.
            let Ok(data) = frame.map_err(|_| Broken)?.into_data() else {
                continue;
            };
            hash.update(&data);
            bytes = bytes.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX));
            if bytes <= MAX_BODY_BYTES {
                start.extend_from_slice(&data);
            }
        }
        Ok(Self {
            start: start.freeze(),
            bytes,
            sha256: hex(&hash.finalize()),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn response(
    status: u16,
    headers: impl IntoIterator<Item = (&'static str, String)>,
    body: PlannedBody,
) -> Result<Response<PlannedBody>, Broken> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).map_err(|_| Broken)?;
    let lines: &mut HeaderMap = response.headers_mut();
    for (name, value) in headers {
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| Broken)?;
        lines.append(HeaderName::from_static(name), value);
    }
    Ok(response)
}

/// The largest request that is taken: 32 MiB, enough for a few images.
pub(crate) const MAX_BODY_BYTES: u64 = 32 * 1024 * 1024;

/// How long the listener rests after a failed accept, so that it does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Binds the address; the only place that opens a socket.
pub(crate) async fn bind(addr: std::net::SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(addr).await
}
