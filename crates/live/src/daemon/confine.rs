//! The privileges that the daemon drops, so that an attacker who takes it over gets little: capabilities, files, system
//! calls (`docs/decisions/0015-privileges.md`).
//!
//! It happens in two steps, both before there is a second thread, for all that is given up is a thread's own and
//! inherited. [`drop_privileges`] comes first of all: one capability is enough to begin with. [`confine`] comes when
//! everything is open that is opened once. What the kernel is too old for is left out and said; nothing here ends a
//! daemon.

use super::site::Site;
use crate::error::LabError;
use caps::{CapSet, Capability, CapsHashSet};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, path_beneath_rules,
};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Ports below are privileged (unless `/proc/sys/net/ipv4/ip_unprivileged_port_start` has another number).
const PRIVILEGED: u16 = 1_024;
/// Read by the resolver and the libraries that it loads (NSS), and by the standard library: the number of processors,
/// the time zone. The folders of the site file and of its keys come to these.
const READ: [&str; 15] = [
    "/etc",
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/proc",
    "/sys",
    "/dev/null",
    "/dev/urandom",
    "/run/systemd/resolve",
    "/run/nscd",
    "/var/lib/sss",
    "/var/lib/extrausers",
];
/// Directories of the daemon's own files.
const OWN: [&str; 2] = ["/run/airbraid", "/var/lib/airbraid"];
/// The system's list of name servers.
const RESOLV: &str = "/etc/resolv.conf";
/// The kernel's rights over files that this code knows of (Linux 6.10); newer kernels may have more, older ones have
/// fewer.
const KNOWN: ABI = ABI::V5;
/// System calls that a running daemon never makes: other programs, other processes, mounts, namespaces, modules,
/// clocks, keys of the kernel's, and interfaces in which kernel bugs were often found. It is a list of forbidden calls,
/// as a list of allowed ones would end the daemon when the C library begins to use a new call.
const FORBIDDEN: [libc::c_long; 46] = [
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_open_by_handle_at,
];
/// Families of sockets that the daemon and the resolver use; all others are forbidden.
const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Whether the site needs a privileged port.
pub fn needs_low_port(site: &Site) -> bool {
    let start = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    let start = start.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(PRIVILEGED);
    let served = [site.interface.metrics, site.interface.page].map(|at| at.map_or(0, |at| at.port()));
    [site.interface.listen].into_iter().chain(served).any(|port| port != 0 && port < start)
}

/// Keeps the one capability that interfaces, routes and marks need, and a second for a port below 1024. No child
/// program gets more, memory is not dumped, and only root can inspect it.
///
/// # Errors
/// A port needs a capability that is not there.
pub fn drop_privileges(site: &Site) -> Result<(), LabError> {
    let mut kept: CapsHashSet = [Capability::CAP_NET_ADMIN].into_iter().collect();
    let has_low_port = needs_low_port(site);
    if has_low_port {
        kept.insert(Capability::CAP_NET_BIND_SERVICE);
    }
    let permitted = caps::read(None, CapSet::Permitted).unwrap_or_default();
    if has_low_port && !permitted.contains(&Capability::CAP_NET_BIND_SERVICE) {
        let how = "give it CAP_NET_BIND_SERVICE (docs/guide/daemon.md, Low ports), or take another port";
        return Err(LabError::Failed(format!("ports below {PRIVILEGED} are not for everybody: {how}")));
    }
    if let Err(error) = drop_capabilities(&kept, &permitted) {
        tracing::warn!(%error, "capabilities that are not needed stay");
    }
    // Not where it is so already: the unit's filter has no call for it.
    let has_no_core = getrlimit(Resource::RLIMIT_CORE) == Ok((0, 0));
    let no_core = if has_no_core { Ok(()) } else { setrlimit(Resource::RLIMIT_CORE, 0, 0) };
    let rest = [prctl::set_no_new_privs(), prctl::set_dumpable(false), no_core];
    for error in rest.into_iter().filter_map(Result::err) {
        tracing::warn!(%error, "a privilege that is not needed stays");
    }
    Ok(())
}

fn drop_capabilities(kept: &CapsHashSet, permitted: &CapsHashSet) -> Result<(), caps::errors::CapsError> {
    // Who has not this one has no say in what programs that he starts may get; new privileges are forbidden beside.
    if permitted.contains(&Capability::CAP_SETPCAP) {
        for capability in caps::read(None, CapSet::Bounding)?.difference(kept) {
            caps::drop(None, CapSet::Bounding, *capability)?;
        }
    }
    let left: CapsHashSet = permitted.intersection(kept).copied().collect();
    if left != *permitted || !caps::read(None, CapSet::Inheritable)?.is_empty() {
        caps::clear(None, CapSet::Ambient)?;
        caps::set(None, CapSet::Effective, &left)?;
        caps::set(None, CapSet::Permitted, &left)?;
        caps::clear(None, CapSet::Inheritable)?;
    }
    Ok(())
}

/// Drops access to all files but those that the daemon needs, and all calls that it does not make.
pub fn confine(site: &Site) {
    for folder in OWN {
        // A rule is for what is there: what is written later is written below it. It may be forbidden, and stays so.
        let _ = std::fs::create_dir_all(folder);
    }
    match restrict_files(site) {
        Ok(RulesetStatus::FullyEnforced) => {}
        Ok(how) => tracing::info!(?how, "the kernel knows not all of Landlock: files are confined as far as it does"),
        Err(error) => tracing::warn!(%error, "files are not confined"),
    }
    if let Err(why) = restrict_calls() {
        tracing::warn!(why, "system calls are not confined");
    }
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        tracing::warn!(threads, "files are not confined for threads that had begun before");
    }
}

/// Folders of the site file and of the keys that it names.
fn folders(site: &Site) -> Vec<PathBuf> {
    let folder = |path: &PathBuf| {
        // Its own folder, and that of what it links to.
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        [path, &real].map(|path| match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        })
    };
    [&site.file].into_iter().chain(&site.keys).flat_map(folder).collect()
}

fn restrict_files(site: &Site) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let written = read | AccessFs::WriteFile | AccessFs::Truncate;
    let own: BitFlags<AccessFs> =
        written | AccessFs::MakeReg | AccessFs::MakeSock | AccessFs::RemoveFile | AccessFs::Refer;
    // The file itself, as it is now: one that is renamed over it is another's.
    let resolv = (!site.interface.dns.is_empty()).then_some(RESOLV);
    let linked = std::fs::canonicalize(RESOLV).ok();
    let linked = linked.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let restricted = Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))?
        // All that listens by TCP does so already.
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(READ, read))?
        .add_rules(path_beneath_rules(folders(site).into_iter().chain(linked), read))?
        .add_rules(path_beneath_rules(OWN, own))?
        .add_rules(path_beneath_rules(resolv.into_iter().chain(["/dev/null"]), written))?
        .restrict_self()?;
    Ok(restricted.ruleset)
}

/// The number of a call, which has the width of the architecture.
fn number(call: impl Into<i64>) -> i64 {
    call.into()
}

fn restrict_calls() -> Result<(), String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let said = |error: seccompiler::BackendError| error.to_string();
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = FORBIDDEN.map(|call| (number(call), Vec::new())).into();
    let is_other = |family: libc::c_int| {
        let family = u64::from(family.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    let others = FAMILIES.into_iter().map(is_other).collect::<Result<Vec<_>, _>>().map_err(said)?;
    rules.insert(number(libc::SYS_socket), vec![SeccompRule::new(others).map_err(said)?]);
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(said)?;
    let program: BpfProgram = filter.try_into().map_err(said)?;
    seccompiler::apply_filter_all_threads(&program).map_err(|error| error.to_string())
}
