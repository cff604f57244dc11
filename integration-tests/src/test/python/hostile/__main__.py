"""
Attacks the nodes of a job from the cables between them. Arguments: for each cable the port that is listened at, the
interface that is sent from, its own address, and the nodes' addresses, with commas between them. Then, on standard
input: "attack PID PID ..." or "reset PID ...", with the job's processes; and "end". Standard output says what was done.
"""

import os
import socket
import struct
import sys
import time

import attacks
from cable import Cable

LISTENS = "0A"


def sockets(process, protocol):
    """Local addresses and ports of a process's network: of TCP those that are listened at."""
    found = set()
    for name in (protocol, protocol + "6"):
        with open("/proc/%s/net/%s" % (process, name), encoding="ascii") as table:
            for line in table.readlines()[1:]:
                words = line.split()
                address, port = words[1].split(":")
                if protocol == "udp" or words[3] == LISTENS:
                    # the last word of an address of IPv6 is that of IPv4 which is mapped into it
                    found.add((socket.inet_ntoa(struct.pack("=I", int(address[-8:], 16))), int(port, 16)))
    return found


def ground(cables, processes):
    nodes = [node for cable in cables for node in cable.nodes]
    all_of = {protocol: sorted({each for process in processes for each in sockets(process, protocol)
                                if each[0] in nodes}) for protocol in ("tcp", "udp")}
    print("targets: %s" % all_of, flush=True)
    return attacks.Ground(cables, all_of["tcp"], all_of["udp"])


def begin(command, cables):
    words = command.split()
    if words[0] == "attack":
        for cable in cables:
            cable.end_recording()
    known = attacks.ALL if words[0] == "attack" else attacks.CUTS
    where = ground(cables, words[1:])
    running = {name: kind(where, rate) for name, (kind, rate) in known.items()}
    for each in running.values():
        each.start()
    return running


def main():
    os.nice(10)  # one on another machine would take no processor from the ranks
    cables = [Cable(port, interface, address, nodes.split(","))
              for port, interface, address, nodes in (each.split(":") for each in sys.argv[1:])]
    for cable in cables:
        cable.start()
    print("recording", flush=True)
    running = begin(sys.stdin.readline(), cables)
    started = time.monotonic()
    print("attacking", flush=True)
    sys.stdin.readline()
    for each in running.values():
        each.over.set()
    for name, each in running.items():
        each.join(10)
        print("did %s %d in %.1f s, failed: %s" % (name, each.done, time.monotonic() - started, dict(each.failed)))


main()
