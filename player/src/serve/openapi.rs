//! The description of the service that programs read.

use utoipa::OpenApi;

use super::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "gipf-player serve",
        description = "A trained player of GIPF. No question has a memory: each brings its whole game along, as a rules string, \
                       a first position where it is not the rules' own, and plays. Texts of plays, positions and rules are those of \
                       the project's RULES.md.",
        license(name = "MIT"),
    ),
    paths(
        routes::player,
        routes::knows,
        routes::position,
        routes::apply,
        routes::read,
        routes::write,
        routes::best,
        routes::analysis,
    )
)]
struct Description;

/// The OpenAPI description of every path under `/api`.
pub fn description() -> utoipa::openapi::OpenApi {
    Description::openapi()
}
