#!/usr/bin/env python3
"""The least that any resequencer could hold packets that keeps their order, from what a run's radios captured.

    airbraid run FILE --pcap --out look
    scripts/least_wait.py look/node1_ch1.pcapng look/node1_ch5.pcapng look/node1_ch9.pcapng --source 10.0.0.1

A packet need not wait for one that never comes, and must wait for every earlier one that does. Whoever knew from the
start which frames are lost would hold each for just that long. Prints how many packets came, how many numbers never
did, and the mean of that wait [ms].
"""
import argparse, struct

PACKET_BLOCK, DATA, ETHERTYPE = 6, 0x08, b"\x88\xb5"
BAD_FCS = 0x40


def frames(path):
    """Each frame of a pcapng file: time [ns], bytes from the radiotap header on."""
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == PACKET_BLOCK:
            _, high, low, captured, _ = struct.unpack_from("<IIIII", data, at + 8)
            yield (high << 32) | low, data[at + 28 : at + 28 + captured]
        at += length


def arrivals(paths, source):
    """When each trunk number of the packets from `source` came first [ns]."""
    first = {}
    for path in paths:
        for time, frame in frames(path):
            mpdu = frame[struct.unpack_from("<H", frame, 2)[0] :]
            body = mpdu[24:]
            if mpdu[0] != DATA or frame[16] & BAD_FCS or body[6:8] != ETHERTYPE:
                continue
            shim, packet = body[8:16], body[16:]
            # With the resequencer fifo the shim has 8 bytes: version, member, epoch, number.
            if packet[12:16] == source:
                number = struct.unpack_from(">I", shim, 4)[0]
                first[number] = min(time, first.get(number, time))
    return first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="+", help="one for each radio of the receiver, of a run with the resequencer fifo")
    parser.add_argument("--source", required=True, help="the sender's IP address")
    arguments = parser.parse_args()
    first = arrivals(arguments.captures, bytes(map(int, arguments.source.split("."))))
    if not first:
        parser.error(f"no packet from {arguments.source} behind a trunk's header in these captures")
    latest, waited = 0, 0
    for number in sorted(first):
        latest = max(latest, first[number])
        waited += latest - first[number]
    lost = max(first) - min(first) + 1 - len(first)
    print(f"{len(first)} came, {lost} did not; held at least {waited / len(first) / 1e6:.3f} ms on average")


main()
