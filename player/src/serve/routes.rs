//! The paths of the service.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;

use super::Limits;
use super::openapi::description;
use super::searches::{Refusal, Searches};
use crate::desk::thinking::{Analysis, Best, Knowledge, Knows, Opinion, PlayerInfo, Task};
use crate::desk::view::View;
use crate::desk::{self, Apply, Fault, Game, Read, Written};
use crate::page::Page;

/// What the paths share.
#[derive(Clone)]
pub(super) struct Shared {
    searches: Searches,
    page: Option<Arc<str>>,
    limits: Limits,
}

/// Everything that the service answers.
pub fn router(searches: Searches, page: Option<&Page>, limits: &Limits) -> Router {
    let page = page.map(|page| Arc::from(page.for_service()));
    let shared = Shared { searches, page, limits: *limits };
    Router::new()
        .route("/", get(front))
        .route("/openapi.json", get(openapi))
        .route("/api/player", get(player))
        .route("/api/knows", post(knows))
        .route("/api/position", post(position))
        .route("/api/apply", post(apply))
        .route("/api/read", post(read))
        .route("/api/write", post(write))
        .route("/api/best", post(best))
        .route("/api/analysis", post(analysis))
        .fallback(|| async {
            Answer::fault(
                StatusCode::NOT_FOUND,
                "there is nothing at this path; /openapi.json tells what there is",
            )
        })
        .method_not_allowed_fallback(|| async {
            Answer::fault(
                StatusCode::METHOD_NOT_ALLOWED,
                "this path answers another method; /openapi.json tells which",
            )
        })
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// What is answered: JSON, or a fault with its status.
struct Answer;

impl Answer {
    fn of(result: Result<String, Fault>) -> Response {
        match result {
            Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
            Err(fault) => (StatusCode::BAD_REQUEST, Json(fault)).into_response(),
        }
    }

    fn json(answer: &impl Serialize) -> Response {
        Answer::of(desk::write_answer(answer))
    }

    fn fault(status: StatusCode, text: &str) -> Response {
        (status, Json(Fault::new(text))).into_response()
    }
}

/// Reads the body within its limits, refuses what is no JSON, and sets the headers that every answer has.
async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let mut response = match read_body(&shared.limits, request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused,
    };
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value))
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::CACHE_CONTROL, "no-store");
    response
}

async fn read_body(limits: &Limits, request: Request) -> Result<Request, Response> {
    let (parts, body) = request.into_parts();
    // A page of somebody else's cannot send this type without being asked first, and nobody answers that question.
    if parts.method == Method::POST && !is_json(&parts.headers) {
        let text = "the body must be JSON (content-type: application/json)";
        return Err(Answer::fault(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    match tokio::time::timeout(limits.arrival, to_bytes(body, limits.body)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => {
            let text = format!("the body is longer than {} bytes, or broke off", limits.body);
            Err(Answer::fault(StatusCode::PAYLOAD_TOO_LARGE, &text))
        }
        Err(_) => {
            Err(Answer::fault(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| {
        kind.split(';')
            .next()
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    })
}

/// The page, for a browser.
async fn front(State(shared): State<Shared>) -> Response {
    match &shared.page {
        Some(page) => {
            ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.to_string()).into_response()
        }
        None => {
            Answer::fault(StatusCode::NOT_FOUND, "this program has no page: `make web` builds it")
        }
    }
}

/// This description.
async fn openapi() -> Response {
    Answer::json(&description())
}

/// Who plays
#[utoipa::path(get, path = "/api/player", responses((status = 200, description = "the player", body = PlayerInfo)))]
pub(super) async fn player(State(shared): State<Shared>) -> Response {
    let info = shared.searches.ask(|thinker| Ok(thinker.player()));
    Answer::of(info.and_then(|info| desk::write_answer(&info)))
}

/// Whether the player was trained for a game
#[utoipa::path(post, path = "/api/knows", request_body = Knows, responses(
    (status = 200, description = "whether it plays by these rules", body = Knowledge),
    (status = "4XX", description = "the question cannot be answered", body = Fault),
))]
pub(super) async fn knows(State(shared): State<Shared>, body: Bytes) -> Response {
    let answer = desk::parse::<Knows>(&body)
        .and_then(|question| shared.searches.ask(|thinker| thinker.knows(&question)))
        .and_then(|answer| desk::write_answer(&answer));
    Answer::of(answer)
}

/// The position after a game's last play: board, hands, legal plays, moves so far
#[utoipa::path(post, path = "/api/position", request_body = Game, responses(
    (status = 200, description = "the position", body = View),
    (status = "4XX", description = "the question cannot be answered", body = Fault),
))]
pub(super) async fn position(body: Bytes) -> Response {
    Answer::of(desk::answer("position", &body))
}

/// Makes one more play
#[utoipa::path(post, path = "/api/apply", request_body = Apply, responses(
    (status = 200, description = "the position after it", body = View),
    (status = "4XX", description = "the question cannot be answered, or the play is not legal", body = Fault),
))]
pub(super) async fn apply(body: Bytes) -> Response {
    Answer::of(desk::answer("apply", &body))
}

/// The game that a text tells: official notation, plays joined by semicolons, a line of a game file
#[utoipa::path(post, path = "/api/read", request_body = Read, responses(
    (status = 200, description = "the game", body = Game),
    (status = "4XX", description = "the question cannot be answered", body = Fault),
))]
pub(super) async fn read(body: Bytes) -> Response {
    Answer::of(desk::answer("read", &body))
}

/// A game as a text, in official notation where that can tell it
#[utoipa::path(post, path = "/api/write", request_body = Game, responses(
    (status = 200, description = "the text", body = Written),
    (status = "4XX", description = "the question cannot be answered", body = Fault),
))]
pub(super) async fn write(body: Bytes) -> Response {
    Answer::of(desk::answer("write", &body))
}

/// The player's play, at a strength from 1 to 10
#[utoipa::path(post, path = "/api/best", request_body = Best, responses(
    (status = 200, description = "the play, and what is thought of it", body = Opinion),
    (status = "4XX", description = "the question cannot be answered", body = Fault),
    (status = 503, description = "too many searches are waiting", body = Fault),
))]
pub(super) async fn best(State(shared): State<Shared>, body: Bytes) -> Response {
    think(&shared, "best", &body).await
}

/// What the player thinks of a position
#[utoipa::path(post, path = "/api/analysis", request_body = Analysis, responses(
    (status = 200, description = "what is thought of it", body = Opinion),
    (status = "4XX", description = "the question cannot be answered", body = Fault),
    (status = 503, description = "too many searches are waiting", body = Fault),
))]
pub(super) async fn analysis(State(shared): State<Shared>, body: Bytes) -> Response {
    think(&shared, "analysis", &body).await
}

async fn think(shared: &Shared, question: &str, body: &[u8]) -> Response {
    let task = match Task::parse(question, body) {
        Ok(task) => task,
        Err(fault) => return Answer::of(Err(fault)),
    };
    match shared.searches.think(task).await {
        Ok(opinion) => Answer::json(&opinion),
        Err(Refusal::Fault(fault)) => Answer::of(Err(fault)),
        Err(Refusal::Busy) => {
            let mut response = Answer::fault(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many searches are waiting: ask again in a moment",
            );
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
            response
        }
        Err(Refusal::Broken) => {
            Answer::fault(StatusCode::INTERNAL_SERVER_ERROR, "the search broke down")
        }
    }
}
