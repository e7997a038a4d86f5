//! Packages: versions that agree, an installation that leaves nothing, the same bytes each time.

#[path = "../src/skip.rs"]
mod skip;

use airbraid_tests::{binary, root};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that is gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("airbraid-packaging-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The standard output of a command in the root of the workspace.
fn done(command: &mut Command) -> String {
    let output = command.current_dir(root()).env("SOURCE_DATE_EPOCH", "1764000000").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Files below a folder, relative to it, sorted.
fn files(folder: &Path) -> Vec<String> {
    let all = done(Command::new("find").arg(folder).args(["-mindepth", "1", "-printf", "%P\n"]));
    let mut all: Vec<String> = all.lines().map(str::to_owned).collect();
    all.sort();
    all
}

#[test]
fn every_file_says_the_version_of_the_workspace() {
    let manifest = read("Cargo.toml");
    let version = manifest.split("version = \"").nth(1).unwrap().split('"').next().unwrap();
    for (name, line) in [
        ("CITATION.cff", format!("\nversion: {version}\n")),
        ("packaging/openwrt/airbraid/Makefile", format!("PKG_VERSION:={version}\n")),
        ("packaging/container/compose.yaml", format!("image: airbraid:{version}\n")),
    ] {
        assert!(read(name).contains(&line), "{name} lacks {}", line.trim());
    }
}

#[test]
fn the_release_is_what_make_dist_makes() {
    let workflow = read(".github/workflows/release.yml");
    let runs: Vec<&str> = workflow.lines().filter_map(|line| line.trim().strip_prefix("- run: ")).collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs[0] == "make dist" && runs[1].starts_with("gh release create"), "{runs:?}");
}

/// A toolchain of shell scripts: compiler, Cargo, and a Python that fails, at which a release begins to be built.
fn toolchain(place: &Place, version: &str) -> PathBuf {
    let (bin, system) = (place.0.join("bin"), place.0.join("system"));
    fs::create_dir_all(&bin).unwrap();
    let rustc = format!(
        "case $* in *sysroot*) echo {0} ;; *libdir*) echo {0}/none ;; *) echo 'rustc {version} (a fake)' ;; esac",
        system.display()
    );
    for (name, text) in [("rustc", rustc.as_str()), ("rustup", "exit 7"), ("cargo", "exit 8"), ("python3", "exit 9")] {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        done(Command::new("chmod").arg("755").arg(path));
    }
    bin
}

/// The exit status of `scripts/dist.sh`, and the text that it printed as errors.
fn dist(place: &Place, bin: &Path, architecture: &str) -> (Option<i32>, String) {
    let mut command = Command::new("scripts/dist.sh");
    command.arg(place.0.join("out")).arg(architecture).current_dir(root());
    command.env("CARGO_TARGET_DIR", place.0.join("target"));
    let output = command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_release_without_a_standard_library_is_refused_with_what_mends_it() {
    let place = Place::new("dist");
    let bin = toolchain(&place, "1.96.0");
    let (status, said) = dist(&place, &bin, "sparc");
    assert!(status == Some(2) && said.contains("no 'sparc'"), "{status:?} {said}");
    let (status, said) = dist(&place, &bin, "aarch64");
    assert_eq!(status, Some(1), "{said}");
    for word in ["aarch64-unknown-linux-musl", "rustup target add", "rust-web-src", "1.96.0"] {
        assert!(said.contains(word), "{word} is missing: {said}");
    }
    // Sources of another version do not compile; those of the compiler's are taken.
    let sources = place.0.join("system/lib/rustlib/src/rust");
    fs::create_dir_all(sources.join("library")).unwrap();
    fs::create_dir_all(sources.join("src")).unwrap();
    fs::write(sources.join("library/Cargo.lock"), "").unwrap();
    fs::write(sources.join("src/version"), "1.95.0\n").unwrap();
    assert_eq!(dist(&place, &bin, "aarch64").0, Some(1));
    fs::write(sources.join("src/version"), "1.96.0\n").unwrap();
    assert_eq!(dist(&place, &bin, "aarch64").0, Some(9), "the build did not begin");
    assert!(!place.0.join("out").exists());
}

#[test]
fn nothing_is_compared_or_emulated_before_it_is_built() {
    let place = Place::new("nothing");
    for script in ["scripts/same_bytes.sh", "scripts/emulate.sh"] {
        let output = Command::new(script).arg(&place.0).current_dir(root()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("make dist"), "{script}: {said}");
    }
}

#[test]
fn the_bond_that_every_binary_is_tried_with_comes_up_and_goes() {
    if !Path::new("/dev/net/tun").exists() || done(Command::new("id").arg("-u")).trim() != "0" {
        return skip::skip("the bond of emulate.sh", "it needs root and /dev/net/tun");
    }
    let place = Place::new("bond");
    let bond = |program: &Path| {
        let mut command = Command::new("unshare");
        command.args(["--net", "scripts/emulate.sh", "--bond"]).arg(place.0.join("site"));
        command.arg(format!("packaging-{}", std::process::id())).arg(program).current_dir(root());
        command.output().unwrap()
    };
    let output = bond(&binary());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!bond(Path::new("/bin/false")).status.success(), "a program that does nothing passes");
}

#[test]
fn the_router_s_first_file_is_the_daemon_s_but_for_the_key_of_the_other_end() {
    let uci = root().join("packaging/openwrt/airbraid/files/airbraid.config");
    let toml = done(Command::new(binary()).arg("uci").arg(&uci));
    let place = Place::new("uci");
    let key = done(Command::new(binary()).arg("genkey"));
    fs::write(place.0.join("router.key"), key).unwrap();
    done(Command::new("chmod").arg("600").arg(place.0.join("router.key")));
    let site = place.0.join("router.toml");
    let check = |toml: &str| {
        fs::write(&site, toml.replace("/etc/airbraid/airbraid.key", "router.key")).unwrap();
        let output = Command::new(binary()).args(["up", "--check"]).arg(&site).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = check(&toml);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.lines().count() == 1 && said.contains("`airbraid pubkey` says"), "{said}");
    let public = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";
    let (status, said) = check(&toml.replace("the public key of the other end", public));
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn what_is_installed_is_removed_again() {
    let place = Place::new("install");
    let script = |words: &[&str]| {
        let mut command = Command::new("scripts/install.sh");
        command.args(words).env("DESTDIR", &place.0).env("PREFIX", "/opt/airbraid");
        done(&mut command)
    };
    fs::create_dir_all(place.0.join("opt/airbraid/bin")).unwrap();
    fs::write(place.0.join("opt/airbraid/bin/other"), "another program").unwrap();
    let before = files(&place.0);
    script(&[&binary().display().to_string()]);
    let unit = fs::read_to_string(place.0.join("opt/airbraid/lib/systemd/system/airbraid@.service")).unwrap();
    assert!(unit.contains("ExecStart=/opt/airbraid/bin/airbraid up "), "{unit}");
    let there = files(&place.0);
    for name in ["bin/airbraid", "share/man/man1/airbraid-up.1", "share/airbraid/scenarios/examples/one_channel.toml"] {
        assert!(there.contains(&format!("opt/airbraid/{name}")), "{name} is not installed");
    }
    script(&["--uninstall"]);
    assert_eq!(files(&place.0), before);
}

#[test]
fn an_image_has_the_same_bytes_each_time_and_is_what_its_digests_say() {
    let place = Place::new("image");
    let program = place.0.join("program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let image = |folder: &str| {
        let out = place.0.join(folder);
        let said = done(Command::new("scripts/image.py").arg(&program).arg("arm64").arg(&out));
        PathBuf::from(said.trim())
    };
    let (first, second) = (image("first"), image("second"));
    assert!(fs::read(&first).unwrap() == fs::read(&second).unwrap(), "the images differ");
    done(Command::new("tar").arg("--extract").arg("--file").arg(&first).arg("--directory").arg(&place.0));
    let json = |path: &str| serde_json::from_slice::<Value>(&fs::read(place.0.join(path)).unwrap()).unwrap();
    let blob = |digest: &Value| format!("blobs/sha256/{}", digest.as_str().unwrap().trim_start_matches("sha256:"));
    let index = json("index.json");
    assert_eq!(index["manifests"][0]["platform"]["architecture"], "arm64");
    let manifest = json(&blob(&index["manifests"][0]["digest"]));
    let config = json(&blob(&manifest["config"]["digest"]));
    assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/airbraid");
    for name in files(&place.0.join("blobs/sha256")) {
        let sum = done(Command::new("sha256sum").arg(place.0.join("blobs/sha256").join(&name)));
        assert!(sum.starts_with(&name), "{name} has another digest");
    }
    let layer = place.0.join(blob(&manifest["layers"][0]["digest"]));
    let inside = done(Command::new("tar").arg("--list").arg("--gzip").arg("--file").arg(layer));
    for name in ["usr/bin/airbraid", "srv/scenarios/examples/three_channels.toml", "etc/airbraid/"] {
        assert!(inside.lines().any(|line| line == name), "{name} is not in the layer");
    }
}

#[test]
fn the_list_of_contents_names_what_is_linked_and_its_licences() {
    let text = done(Command::new("scripts/sbom.py").args(["--version", "0.1.0", "--time", "1764000000"]));
    let bom: Value = serde_json::from_str(&text).unwrap();
    let components = bom["components"].as_array().unwrap();
    let find = |name: &str| components.iter().find(|component| component["name"] == name);
    for name in ["ring", "snow", "rusqlite", "sqlite", "airbraid-engine"] {
        assert!(find(name).is_some(), "{name} is missing");
    }
    for name in ["proptest", "syn", "pyo3"] {
        assert!(find(name).is_none(), "{name} is in no binary");
    }
    for component in components {
        assert!(component["licenses"].is_array(), "{} has no licence", component["name"]);
        let named = bom["dependencies"].as_array().unwrap().iter().any(|one| one["ref"] == component["bom-ref"]);
        assert!(named, "{} depends on nothing that is said", component["name"]);
    }
    let hashed = find("snow").unwrap()["hashes"][0]["content"].as_str().unwrap();
    assert!(read("Cargo.lock").contains(hashed));
}

#[test]
fn files_for_routers_are_json_where_they_are_called_so() {
    for name in ["menu.d", "acl.d"] {
        let path =
            format!("packaging/openwrt/luci-app-airbraid/root/usr/share/{}/luci-app-airbraid.json", folder(name));
        let value: Value = serde_json::from_str(&read(&path)).unwrap();
        assert!(value.is_object(), "{path}");
    }
}

fn folder(name: &str) -> String {
    if name == "menu.d" { format!("luci/{name}") } else { format!("rpcd/{name}") }
}
