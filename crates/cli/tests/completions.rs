//! Words that shells complete, and the manual pages: both know what the command knows.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const THREE: &str = "scenarios/examples/three_channels.toml";
/// Separates words in bash's way of asking.
const VERTICAL_TAB: char = '\u{b}';

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn airbraid(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_airbraid")).current_dir(repository()).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The words that complete the last one of a line.
fn completed(line: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    command.current_dir(repository()).env("AIRBRAID_COMPLETE", "bash").env("_CLAP_IFS", VERTICAL_TAB.to_string());
    command.env("_CLAP_COMPLETE_INDEX", line.len().to_string());
    let done = command.args(["--", "airbraid"]).args(line).output().unwrap();
    assert!(done.status.success(), "{line:?}: {}", text(&done.stderr));
    text(&done.stdout).split(VERTICAL_TAB).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn keys_are_those_of_the_scenario_on_the_line() {
    let begun = completed(&["run", THREE, "--set", "tr"]);
    assert_eq!(begun, ["trunk."]);
    assert_eq!(completed(&["run", THREE, "--set", "trunk."]), ["trunk.air."]);
    assert_eq!(completed(&["run", THREE, "--set", "radio.ra"]), ["radio.rate=", "radio.rate_control="]);
    let policy = completed(&["explain", THREE, "--set", "trunk.air.policy.di"]);
    assert_eq!(policy, ["trunk.air.policy.distributor="]);
    let radios = completed(&["run", THREE, "--set", "node.sender.radios."]);
    assert_eq!(radios, ["ch1", "ch5", "ch9"].map(|name| format!("node.sender.radios.{name}.")));
    assert!(completed(&["lab", "scenarios/lab/trunk.toml", "--set", "run.du"]).contains(&"run.duration=".to_owned()));
}

#[test]
fn a_line_without_a_scenario_has_the_keys_of_all() {
    assert_eq!(completed(&["run", "--set", "r"]), ["radio.", "run."]);
    assert!(completed(&["run", "no-such.toml", "--set", "run.s"]).contains(&"run.seed=".to_owned()));
}

#[test]
fn papers_files_nodes_and_commands_complete() {
    assert_eq!(completed(&["reproduce", "k"]), ["kuang2004"]);
    assert!(completed(&["reproduce", ""]).len() >= 5);
    assert!(completed(&["run", "scenarios/examples/three"]).contains(&THREE.to_owned()));
    assert!(completed(&["run", "Cargo.l"]).is_empty(), "only TOML files and folders");
    assert_eq!(completed(&["lab", "scenarios/lab/trunk.toml", "--shell", "s"]), ["sender"]);
    assert_eq!(completed(&["reprod"]), ["reproduce"]);
    assert!(completed(&["up", "--fore"]).contains(&"--foreground".to_owned()));
    // No daemon runs, or others do: the question itself is answered.
    completed(&["status", "no-such-daemon"]);
    completed(&["link", "no-such-uplink"]);
}

#[test]
fn bash_completes_a_line_by_the_script() {
    let line = format!("airbraid run {THREE} --set radio.powe");
    let script = r#"
        source <(airbraid completions bash)
        read -ra COMP_WORDS <<<"$LINE"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9
        _airbraid airbraid "${COMP_WORDS[COMP_CWORD]}" x 2>/dev/null
        printf '%s\n' "${COMPREPLY[@]}"
        complete -p airbraid"#;
    let folder = Path::new(env!("CARGO_BIN_EXE_airbraid")).parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    let done =
        bash.args(["-c", script]).env("PATH", path).env("LINE", line).current_dir(repository()).output().unwrap();
    let said = text(&done.stdout);
    assert!(
        said.starts_with("radio.power=\n") && said.contains("-F _airbraid airbraid"),
        "{said}{}",
        text(&done.stderr)
    );
}

#[test]
fn every_shell_has_a_script_that_asks_the_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = airbraid(&["completions", shell]);
        assert!(done.status.success(), "{shell}: {}", text(&done.stderr));
        assert!(text(&done.stdout).contains("AIRBRAID_COMPLETE"), "{shell}");
    }
}

/// The long options in a help text.
fn options(help: &str) -> BTreeSet<&str> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let words = lines.filter_map(|line| Some(&line[line.find("--")?..]));
    words.map(|word| word.split(|letter| !is_part(letter)).next().unwrap()).collect()
}

#[test]
fn the_manual_has_a_page_for_each_command_with_its_options_and_examples() {
    let folder = std::env::temp_dir().join(format!("airbraid-man-{}", std::process::id()));
    let done = airbraid(&["man", &folder.display().to_string()]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let page = |name: &str| std::fs::read_to_string(folder.join(format!("airbraid{name}.1"))).unwrap();
    assert!(page("").contains("airbraid\\-reproduce(1)"), "the first page names the others");
    for command in ["run", "reproduce", "up", "status", "plan", "plan airtime"] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = text(&airbraid(&words).stdout);
        let page = page(&format!("-{}", command.replace(' ', "-"))).replace("\\-", "-");
        for option in options(&help) {
            assert!(page.contains(option), "{command}: the page lacks {option}");
        }
        assert!(page.contains(".SH EXAMPLES"), "{command}");
    }
    assert!(!folder.join("airbraid-help.1").exists() && folder.join("airbraid-plan-efficiency.1").exists());
    // A line of text that begins with a point would be a command of troff's.
    let page = page("-run");
    let known =
        [".TH", ".SH", ".PP", ".TP", ".nf", ".fi", ".RS", ".RE", ".ie", ".el", ".br", ".IP", "..", ".de", ".\\\""];
    let commands = page.lines().filter(|line| line.starts_with('.'));
    for line in commands {
        assert!(known.iter().any(|command| line.starts_with(command)), "{line}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
