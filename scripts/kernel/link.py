#!/usr/bin/env python3
"""One TCP connection of the real kernel over an emulated plain link, for comparison with the `linux` TCP profile.

    scripts/kernel/link.py --rate 20e6 --delay 10e-3 --loss 0.01 --queue 50 --tcp cubic --seconds 30 [--seed 1]

Two network namespaces of its own, a TUN interface in each (needs root, iproute2, iperf3), and between them what
`[[link]]` does: serialisation at a rate, a queue of packets, a delay, independent loss, each way. Many kernels lack
sch_netem; this needs nothing but /dev/net/tun. It touches no other interface and removes what it made. Prints one line:
tcp, goodput of the receiver [Mbit/s], retransmissions, the mean of the sender's smoothed round trip [ms], drops by the
queue, and by how much the emulation was late on average and at worst [ms].
"""
import argparse, collections, fcntl, json, os, random, select, struct, subprocess, sys, time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def first_in_line():
    """The two programs do not wait for whatever else the machine does: the window opens when they read."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(5))


class Direction:
    """One way: packets waiting, and those on their way in order of arrival."""

    def __init__(self, arguments, seed):
        self.rate, self.delay, self.loss = arguments.rate, arguments.delay, arguments.loss
        self.queue = arguments.queue
        self.random = random.Random(seed)
        self.ends = collections.deque()
        self.flying = collections.deque()
        self.free_at = 0.0
        self.overflows = 0

    def offer(self, now, packet):
        while self.ends and self.ends[0] <= now:
            self.ends.popleft()
        # One is being sent, `queue` may wait.
        if len(self.ends) > self.queue:
            self.overflows += 1
            return
        self.free_at = max(self.free_at, now) + len(packet) * 8 / self.rate
        self.ends.append(self.free_at)
        if self.random.random() >= self.loss:
            self.flying.append((self.free_at + self.delay, packet))


def open_tun(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def emulate(fds, ways, until):
    """Carries packets between the two file descriptors; returns the mean and the largest lateness [s]."""
    worst, total, count = 0.0, 0.0, 0
    # A clock that others can hold up is none.
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
    while not until():
        due = min((way.flying[0][0] for way in ways if way.flying), default=None)
        wait = 0.05 if due is None else max(0.0, due - time.monotonic())
        select.select(fds, [], [], min(wait, 0.05))
        for side, fd in enumerate(fds):
            for _ in range(64):
                try:
                    packet = os.read(fd, 2048)
                except BlockingIOError:
                    break
                if packet[0] >> 4 == 4:
                    ways[side].offer(time.monotonic(), packet)
        for side, way in enumerate(ways):
            now = time.monotonic()
            while way.flying and way.flying[0][0] <= now:
                at, packet = way.flying.popleft()
                worst, total, count = max(worst, now - at), total + now - at, count + 1
                try:
                    os.write(fds[1 - side], packet)
                except OSError:
                    pass
    return total / max(1, count), worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("rate", 20e6), ("delay", 0.01), ("loss", 0.0), ("seconds", 30.0)):
        parser.add_argument("--" + name, type=float, default=default)
    parser.add_argument("--queue", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tcp", default="cubic")
    arguments = parser.parse_args()
    if arguments.seconds > 120:
        sys.exit("at most 120 s")
    names = [f"abk{os.getpid()}{side}" for side in "ab"]
    made, fds, server = [], [], None
    try:
        for side, name in enumerate(names):
            run("ip", "netns", "add", name)
            made.append(name)
            fds.append(open_tun(name))
            run("ip", "link", "set", name, "netns", name)
            inside = ["ip", "netns", "exec", name]
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "addr", "add", f"10.9.0.{side + 1}", "peer", f"10.9.0.{2 - side}", "dev", name)
            # The interface itself must never be the limit: the emulated queue is.
            run(*inside, "ip", "link", "set", name, "txqueuelen", "10000", "up")
            run(*inside, "tc", "qdisc", "replace", "dev", name, "root", "pfifo", "limit", "10000")
            for key, value in (("tcp_no_metrics_save", "1"), ("tcp_rmem", "4096 131072 6291456"),
                               ("tcp_wmem", "4096 16384 4194304")):
                run(*inside, "sysctl", "-qw", f"net.ipv4.{key}={value}")
        ways = [Direction(arguments, 2 * arguments.seed + side) for side in range(2)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = subprocess.Popen(["ip", "netns", "exec", names[1], "iperf3", "-s", "-1"], preexec_fn=first_in_line, **quiet)
        time.sleep(0.3)
        client = subprocess.Popen(
            ["ip", "netns", "exec", names[0], "iperf3", "-c", "10.9.0.2", "-J", "-C", arguments.tcp,
             "-t", str(int(arguments.seconds))], preexec_fn=first_in_line, stdout=subprocess.PIPE, text=True)
        end = time.monotonic() + arguments.seconds + 20
        mean, worst = emulate(fds, ways, lambda: client.poll() is not None or time.monotonic() > end)
        report = json.loads(client.stdout.read())
        goodput = report["end"]["sum_received"]["bits_per_second"] / 1e6
        sender = report["end"]["streams"][0]["sender"]
        print(f"{arguments.tcp} {goodput:.3f} {sender['retransmits']} {sender['mean_rtt'] / 1e3:.2f} "
              f"{ways[0].overflows} {mean * 1e3:.2f} {worst * 1e3:.1f}")
    finally:
        if server is not None and server.poll() is None:
            server.kill()
        for fd in fds:
            os.close(fd)
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


if __name__ == "__main__":
    main()
