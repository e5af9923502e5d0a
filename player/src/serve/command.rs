//! The command `gipf-player serve`.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;

use super::{Limits, Service};
use crate::messages::Usage;
use crate::named::Named;
use crate::page::Page;

/// Where to serve, and how much at a time.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address to listen at: this machine alone, unless told otherwise (0.0.0.0: every address of this machine)
    #[arg(long, default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Port; 0: any that is free
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Searches at a time; as many as the machine has cores where it is absent
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    searches: Option<u16>,
    /// The page, as `make web` builds it; the one beside this program where it is absent
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// Serves a player until the program is stopped; `out` hears where.
///
/// # Errors
/// [`Usage`] for a player that has not been trained; a failure where there is no page of the name given, or the address cannot be
/// listened at.
pub fn run(args: &Args, player: &Named, out: &mut impl Write) -> anyhow::Result<()> {
    let Named::Trained(file) = player else {
        return Err(Usage::error(
            "only trained players are served: shipped:NAME or a player's file",
        ));
    };
    // The service is of use without its page, but not without one that was named.
    let page = match &args.page {
        Some(path) => Ok(Page::find(Some(path))?),
        None => Page::find(None),
    };
    let usual = Limits::default();
    let searches = args.searches.map_or(usual.searches, usize::from);
    let service = Service::new(file, page.as_ref().ok(), Limits { searches, ..usual })?;
    let address = SocketAddr::from((args.listen, args.port));
    let mut told = Ok(());
    service
        .run(address, |here| {
            let what = match &page {
                Ok(_) => "a page at /".to_owned(),
                Err(missing) => format!("no page ({missing})"),
            };
            told = writeln!(
                out,
                "{} at http://{here}/: {what}, the API at /openapi.json",
                file.name()
            )
            .and_then(|()| out.flush());
        })
        .with_context(|| format!("cannot listen at {address}"))?;
    Ok(told?)
}
