#!/usr/bin/env python3
"""The least that any resequencer could hold packets that keeps their order, from what a run's radios captured.

    airbraid run FILE --pcap --out look
    scripts/least_wait.py look/run.pcapng --node node1 --source 10.0.0.1

A packet need not wait for one that never comes, and must wait for every earlier one that does. Whoever knew from the
start which frames are lost would hold each for just that long. Prints how many packets came, how many numbers never
did, and the mean of that wait [ms].
"""
import argparse, struct

INTERFACE_BLOCK, PACKET_BLOCK, RADIOTAP, IF_NAME = 1, 6, 127, 2
DATA, ETHERTYPE = 0x08, b"\x88\xb5"
BAD_FCS = 0x40


def interface_name(options):
    """The name among the options of an interface."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, at)
        if code == IF_NAME:
            return options[at + 4 : at + 4 + length].decode()
        at += 4 + (length + 3) // 4 * 4
    return ""


def frames(path, node):
    """Each frame of a node's radios in a pcapng file: time [ns], bytes from the radiotap header on."""
    data = open(path, "rb").read()
    at, wanted = 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == INTERFACE_BLOCK:
            name = interface_name(data[at + 16 : at + length - 4])
            is_radio = struct.unpack_from("<H", data, at + 8)[0] == RADIOTAP
            wanted.append(is_radio and name.split("/")[0] == node)
        elif kind == PACKET_BLOCK:
            interface, high, low, captured, _ = struct.unpack_from("<IIIII", data, at + 8)
            if wanted[interface]:
                yield (high << 32) | low, data[at + 28 : at + 28 + captured]
        at += length


def arrivals(path, node, source):
    """When each trunk number of the packets from `source` came first [ns]."""
    first = {}
    for time, frame in frames(path, node):
        mpdu = frame[struct.unpack_from("<H", frame, 2)[0] :]
        body = mpdu[24:]
        if mpdu[0] != DATA or frame[16] & BAD_FCS or body[6:8] != ETHERTYPE:
            continue
        shim, packet = body[8:16], body[16:]
        # With the resequencer fifo the shim has 8 bytes, of which the first four are the number.
        if packet[12:16] == source:
            number = struct.unpack_from(">I", shim, 0)[0]
            first[number] = min(time, first.get(number, time))
    return first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", help="run.pcapng of a run with the resequencer fifo")
    parser.add_argument("--node", required=True, help="the receiver")
    parser.add_argument("--source", required=True, help="the sender's IP address")
    arguments = parser.parse_args()
    first = arrivals(arguments.capture, arguments.node, bytes(map(int, arguments.source.split("."))))
    if not first:
        parser.error(f"no packet from {arguments.source} behind a trunk's header at {arguments.node}")
    latest, waited = 0, 0
    for number in sorted(first):
        latest = max(latest, first[number])
        waited += latest - first[number]
    lost = max(first) - min(first) + 1 - len(first)
    print(f"{len(first)} came, {lost} did not; held at least {waited / len(first) / 1e6:.3f} ms on average")


main()
