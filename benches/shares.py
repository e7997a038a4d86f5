#!/usr/bin/env python3
"""Where a tunnel's time goes: what `benches/datapath.py --perf FILE` has recorded, by what it was spent on, as shares of both ends."""

import collections
import re
import subprocess
import sys

# What is on the way to a sample, the innermost last looked at: the first that matches says what it was for.
KERNEL = [
    ("received and queued by the far end's kernel, in the sender's time", r"^(net_rx_action|process_backlog|__napi_poll)$"),
    ("cutting datagrams into frames (GSO)", r"^__skb_gso_segment$"),
    ("sendmsg: the rest", r"^(udp_sendmsg|udpv6_sendmsg|__sys_sendmsg|__sys_sendmmsg)$"),
    ("recvmmsg", r"^do_recvmmsg$"),
    ("reading the interface", r"^tun_chr_read_iter$"),
    ("writing the interface", r"^tun_chr_write_iter$"),
    ("waiting and waking", r"^(do_sys_poll|__x64_sys_ppoll|schedule|finish_task_switch.*|try_to_wake_up)$"),
]
USER = [
    ("AES-GCM", r"ring|Codec|Keyring"),
    ("checksums", r"checksum::sum"),
    ("copies and buffers", r"mem(move|cpy|set)|malloc|free|calloc|realloc|Pool|give_back|IpPacket"),
    ("the tunnel", r"airbraid_engine|Daemon::drive"),
    ("the daemon", r"airbraid_live|Vec|writev|readv|recvmmsg|sendmsg|clock_gettime"),
]


def kind(stack):
    """What a sample was for; `stack` has the innermost function first, and where each is from."""
    names = [name for name, _ in stack]
    if "kernel" in stack[0][1] or stack[0][1] == "unknown":
        for said, pattern in KERNEL:
            if any(re.search(pattern, name) for name in names):
                return "kernel", said
        return "kernel", "the rest"
    for said, pattern in USER:
        if re.search(pattern, names[0]):
            return "daemon", said
    return "daemon", "the rest"


def samples(path):
    """The stack of each sample, with its process."""
    script = subprocess.run(["perf", "script", "-i", path, "-F", "pid,ip,sym,dso"], capture_output=True, text=True, check=True).stdout
    for block in script.split("\n\n"):
        lines = block.strip().split("\n")
        stack = [re.match(r"\s*[0-9a-f]+ (.*?) \((.*)\)$", line) for line in lines[1:]]
        stack = [(found[1], found[2]) for found in stack if found]
        if stack:
            yield lines[0].strip(), stack


def main():
    counts, ends = collections.Counter(), collections.Counter()
    for end, stack in samples(sys.argv[1]):
        ends[end] += 1
        counts[(end, *kind(stack))] += 1
    total = sum(ends.values())
    # The end that sends works more with sendmsg.
    order = sorted(ends, key=lambda end: -sum(count for (own, _, said), count in counts.items() if own == end and "sendmsg" in said))
    rows = sorted({key[1:] for key in counts}, key=lambda row: (row[0] != "kernel", -sum(counts[(end, *row)] for end in ends)))
    print("| | " + " | ".join(["sends", "receives"][: len(order)]) + " | both, % |\n|---|" + "---|" * (len(order) + 1))
    for row in rows:
        shares = [100 * counts[(end, *row)] / total for end in order]
        print(f"| {row[0]}: {row[1]} | " + " | ".join(f"{share:.1f}" for share in [*shares, sum(shares)]) + " |")
    for where in ("kernel", "daemon"):
        shares = [100 * sum(count for (own, kind, _), count in counts.items() if own == end and kind == where) / total for end in order]
        print(f"| all of the {where} | " + " | ".join(f"{share:.1f}" for share in [*shares, sum(shares)]) + " |")


if __name__ == "__main__":
    main()
