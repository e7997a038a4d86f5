//! `airbraid up`, `down`, `link`, `reload`, `genkey` and `pubkey`.

use super::arguments::{Link, Named, Uci, Up};
use super::{answers, ended, log, privileged};
use crate::print::{Ended, note, out};
use airbraid_live::daemon::{self, Question, keys, site};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Longest time that `up` waits until the daemon answers, and `down` until it has gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// Interval of their checks.
const PAUSE: Duration = Duration::from_millis(20);

pub fn up(arguments: &Up) -> Result<(), Ended> {
    let file = &site_file(&arguments.file, Path::new("/etc/airbraid"));
    let site = site::read(file)?;
    if arguments.check {
        daemon::notes(&site).iter().for_each(|line| note(line));
        if daemon::needs_low_port(&site) {
            note(
                "a port below 1024: the daemon needs CAP_NET_BIND_SERVICE for it, which the unit gives by a drop-in (docs/guide/daemon.md, Low ports)",
            );
        }
        for conflict in daemon::check_routes(&site).map_err(ended)? {
            note(&conflict);
        }
        return out(&format!("{}: fine\n", file.display()));
    }
    if !arguments.foreground {
        in_background(file, &site.name)?;
        let patience = if arguments.no_wait { Duration::ZERO } else { Duration::from_secs_f64(arguments.wait) };
        return answers::wait(&site.name, patience);
    }
    if arguments.detached {
        // It leads its group already where a shell has made it so: then there is nothing to leave.
        let _ = nix::unistd::setsid();
    }
    log::begin(arguments.detached.then(|| log::path(&site.name)))?;
    daemon::up(site, || {}).map_err(ended)
}

/// Prints a daemon's file as UCI, or UCI as a daemon's file.
pub fn uci(arguments: &Uci) -> Result<(), Ended> {
    let file = &arguments.file;
    let wrong = |why: String| Ended::Argument(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let is_toml = file.extension().is_some_and(|end| end == "toml");
    let other = match is_toml {
        true => daemon::uci::from_toml(&file.display().to_string(), &text)?,
        false => daemon::uci::to_toml(&text).map_err(wrong)?,
    };
    out(&other)
}

/// The file that is meant: a bare name that is no file here is one in `folder`.
fn site_file(given: &Path, folder: &Path) -> PathBuf {
    let is_name = given.components().count() == 1 && given.extension().is_none() && !given.is_file();
    let site = folder.join(given).with_added_extension("toml");
    if is_name && (site.is_file() || !given.exists()) { site } else { given.to_owned() }
}

/// Starts the daemon as a process of its own, and waits until it answers.
pub fn in_background(file: &Path, name: &str) -> Result<(), Ended> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| Ended::Failed(privileged(&format!("{what}: {error}")))
    };
    // Before anything is touched: its log is the other's.
    if daemon::ask(name, &Question::Status).is_ok() {
        let how = format!("`airbraid down {name}` ends it, `airbraid status {name}` shows it");
        return Err(Ended::Argument(format!("{name} is up already: {how}")));
    }
    let folder = Path::new("/run/airbraid");
    std::fs::create_dir_all(folder).map_err(failed("/run/airbraid"))?;
    let log = log::path(name);
    let shown = log.display().to_string();
    let written = log::fresh(&log).map_err(failed(&shown))?;
    let program = std::env::current_exe().map_err(failed("airbraid"))?;
    let mut command = Command::new(program);
    command.arg("up").arg(file).args(["--foreground", "--detached"]).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(written);
    let mut child = command.spawn().map_err(failed("airbraid"))?;
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        if let Some(status) = child.try_wait().map_err(failed("airbraid"))? {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            note(said.trim_end());
            return Err(Ended::Silent(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)));
        }
        let status = |answer: String| serde_json::from_str::<daemon::Status>(&answer).ok();
        let status = daemon::ask(name, &Question::Status).ok().and_then(status);
        if let Some(status) = status.filter(|status| status.pid == child.id()) {
            status.route_conflicts.iter().for_each(|conflict| note(conflict));
            let causes = status.uplinks.iter().filter_map(|uplink| Some((&uplink.name, uplink.cause.as_ref()?)));
            causes.for_each(|(uplink, cause)| note(&format!("uplink {uplink}: {cause}")));
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(Ended::Failed(format!("{name} does not answer; {shown} may say why")))
}

/// The daemon's name, or the only one.
pub fn named(name: Option<&str>) -> Result<String, Ended> {
    if let Some(name) = name {
        return Ok(name.to_owned());
    }
    match &daemon::names()[..] {
        [] => Err(Ended::Argument("no daemon is up".to_owned())),
        [name] => Ok(name.clone()),
        names => Err(Ended::Argument(format!("several daemons are up, name one: {}", names.join(", ")))),
    }
}

/// Ends a daemon, or puts right what is left of one.
pub fn down(arguments: &Named) -> Result<(), Ended> {
    end(&named(arguments.name.as_deref())?)
}

/// Ends a daemon by its name.
pub fn end(name: &str) -> Result<(), Ended> {
    let name = name.to_owned();
    if daemon::clean(&name).map_err(ended)? {
        note(&format!("{name} was not up any more; what it had left is put right"));
        return Ok(());
    }
    daemon::ask(&name, &Question::Down).map_err(ended)?;
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        // What it may not put right itself, as it has given up so much, is put right here.
        if !daemon::names().contains(&name) || daemon::clean(&name).map_err(ended)? {
            // That of one that was killed stays: it may say why.
            log::remove(&name);
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(Ended::Failed(format!("{name} has not ended")))
}

pub fn link(arguments: &Link) -> Result<(), Ended> {
    let name = named(arguments.daemon.as_deref())?;
    let question = Question::Link(arguments.uplink.clone(), arguments.state == "on");
    daemon::ask(&name, &question).map(|_| ()).map_err(ended)
}

/// Lets a daemon read its file again.
pub fn reload(arguments: &Named) -> Result<(), Ended> {
    let name = named(arguments.name.as_deref())?;
    let said = daemon::ask(&name, &Question::Reload).map_err(ended)?;
    out(&format!("{said}\n"))
}

/// Prints a new private key, or one that both ends share: 32 random bytes both.
pub fn genkey() -> Result<(), Ended> {
    out(&keys::generate())?;
    out("\n")
}

/// Prints the public key of the private one on standard input.
pub fn pubkey() -> Result<(), Ended> {
    let mut text = zeroize::Zeroizing::new(String::new());
    let read = std::io::stdin().lock().take(256).read_to_string(&mut text);
    read.map_err(|error| Ended::Failed(format!("standard input: {error}")))?;
    let public = keys::public_of(&text).map_err(|why| Ended::Argument(format!("standard input: {why}")))?;
    out(&format!("{public}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_a_file_of_the_folder_and_a_path_is_itself() {
        let folder = std::env::temp_dir().join(format!("airbraid-sites-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("office.toml"), "").unwrap();
        let file = |given: &str| site_file(Path::new(given), &folder);
        assert_eq!(file("office"), folder.join("office.toml"));
        assert_eq!(file("nobody-has-this"), folder.join("nobody-has-this.toml"));
        for path in ["office.toml", "./office", "/etc/airbraid/office"] {
            assert_eq!(file(path), Path::new(path));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
