//! `gipf-player serve`: a trained player over HTTP, with the page in front of it and a small JSON interface.
//!
//! It listens on this machine alone unless told otherwise. Whatever a request may take has a limit: the bytes of its body, the time
//! until it is there, the nodes of a search, the searches at a time and those that wait, the connections. What it gives out
//! lies in memory; no path of a request is ever looked up on the disk.

mod command;
mod openapi;
mod routes;
mod searches;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::PlayerFile;
use crate::page::Page;

pub use command::{Args, run};
pub use openapi::description;
pub use routes::router;
pub use searches::Searches;

/// What requests may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// From a connection's first byte to its request's last header, from there to the body's last byte, and for a client to take
    /// any more of an answer.
    pub arrival: Duration,
    /// Of one search. What has been found by then is the answer.
    pub search: Duration,
    /// Searches at a time.
    pub searches: usize,
    /// Searches that wait for their turn; more are refused (503).
    pub waiting: usize,
    /// Connections at a time; more wait until one ends.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 128 * 1024,
            arrival: Duration::from_secs(10),
            search: Duration::from_secs(10),
            searches: std::thread::available_parallelism().map_or(1, usize::from),
            waiting: 256,
            connections: 512,
        }
    }
}

/// A service that has not been started.
pub struct Service {
    router: Router,
    limits: Limits,
}

impl Service {
    /// The service of a player, with the page if there is one.
    ///
    /// # Errors
    /// The player's rules are none that this version can read.
    pub fn new(file: &PlayerFile, page: Option<&Page>, limits: Limits) -> anyhow::Result<Service> {
        let searches = Searches::new(file, &limits)?;
        Ok(Service { router: router(searches, page, &limits), limits })
    }

    /// Answers at an address until Ctrl-C or SIGTERM; `ready` hears of the address, whose port may have been left to the system (0).
    ///
    /// # Errors
    /// The address cannot be listened at.
    pub fn run(self, address: SocketAddr, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.limits.searches.clamp(1, 4))
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind(address).await?;
            ready(listener.local_addr()?);
            self.accept(listener).await;
            Ok(())
        })
    }

    async fn accept(self, listener: TcpListener) {
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.limits.arrival);
        let (connections, graceful) =
            (Arc::new(Semaphore::new(self.limits.connections)), GracefulShutdown::new());
        let mut end = pin!(ended());
        loop {
            let permit = tokio::select! {
                () = &mut end => break,
                permit = Arc::clone(&connections).acquire_owned() => permit,
            };
            let accepted = tokio::select! {
                () = &mut end => break,
                accepted = listener.accept() => accepted,
            };
            // Out of file descriptors, or gone before it was accepted: the next one may fare better.
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            let router = self.router.clone();
            let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                let answer = router.clone().oneshot(request.map(Body::new));
                async move {
                    Ok::<Response<Body>, Infallible>(
                        answer.await.unwrap_or_else(|never| match never {}),
                    )
                }
            });
            // A client that does not read its answers must not hold its connection for ever.
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(self.limits.arrival));
            let stream = TokioIo::new(Box::pin(stream));
            let connection = graceful.watch(http.serve_connection(stream, service));
            tokio::spawn(async move {
                // A client that goes away or talks no HTTP is its own affair.
                let _ = connection.await;
                drop(permit);
            });
        }
        // Whoever is being answered gets the answer.
        let _ = tokio::time::timeout(self.limits.search, graceful.shutdown()).await;
    }
}

/// Comes back once the program is to end.
async fn ended() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
