"""Compares what the kernel and Trigon's report say of one run of the lab's ring all-reduce, and prints the anatomy of
its steps. Usage: kernel-witness.py FOLDER, which has kernel.txt, report.jsonl and rank*.json; see trace.sh.

The exit status is 1 where the two say different things; each difference is a line.
"""

import collections
import json
import pathlib
import re
import statistics
import sys

# CLOSED is no state of the kernel's
STATES = {"RESET": 0, "INIT": 1, "READY_TO_RECEIVE": 2, "READY_TO_SEND": 3, "ERROR": 6}
LAST_OF_A_WRITE = (8, 9, 10, 11)  # a WRITE's last or only packet, with an immediate or without
REQUESTS = range(0, 13)
RECEIVED_BY_IMMEDIATE = 129
SLICES, STEPS = 4, 4  # of the C host: messages of a step; 2 * (3 ranks - 1)
ROUNDING = 1_000  # the kernel's times are microseconds
LINE = re.compile(r".{16}-\d+ .*? (\d+)\.(\d{6}): (\w+): \(.*?\) (.*)")

folder = pathlib.Path(sys.argv[1])
differences = []


def same(what, kernel, trigon):
    if kernel != trigon:
        differences.append(f"{what}: the kernel says {kernel}, Trigon {trigon}")


def kernel_events():
    """By device and queue pair the events, each a dict with its kind and its time in nanoseconds."""
    events = collections.defaultdict(list)
    with open(folder / "kernel.txt") as file:
        for line in file:
            if counts := re.match(r"# entries-in-buffer/entries-written: (\d+)/(\d+)", line):
                same("records that were not lost", int(counts[1]), int(counts[2]))
            if match := LINE.match(line):
                fields = dict(field.split("=", 1) for field in match[4].split())
                event = {name: int(value, 0) for name, value in fields.items() if name != "dev"}
                event["time"] = int(match[1]) * 1_000_000_000 + int(match[2]) * 1_000
                event["kind"] = match[3]
                events[fields["dev"].strip('"'), event["qp"]].append(event)
    return events


def of(kind, events):
    return [event for event in events if event["kind"] == kind]


def report_lines():
    lines = collections.defaultdict(list)
    with open(folder / "report.jsonl") as file:
        for line in file:
            entry = json.loads(line)
            lines[entry["kind"]].append(entry)
    return lines


def packets_of_messages(events):
    """Of each WRITE its packets' first transmissions, and how often the queue pair went back to send again."""
    messages, current, again, expected, before = [], [], [], None, None
    for packet in (event for event in of("packet", events) if event["op"] in REQUESTS):
        psn = packet["psn"]
        if before is not None and psn != (before + 1) % (1 << 24):
            again.append(packet["time"])
        if expected is None or psn == expected:
            current.append(packet)
            expected = (psn + 1) % (1 << 24)
            if packet["op"] in LAST_OF_A_WRITE:
                messages.append(current)
                current = []
        before = psn
    return messages, again


def first_behind(events, psn, time):
    """When the first of the events came that is about this packet or a later one."""
    return next((e["time"] for e in events if e["time"] >= time and (e["psn"] - psn) % (1 << 24) < 1 << 23), None)


def in_order(what, times):
    """Names and times that must not go back."""
    for (before, earlier), (after, later) in zip(times, times[1:]):
        if later < earlier - ROUNDING:
            differences.append(f"{what}: {after} at {later} is before {before} at {earlier}")


def transitions(kernel, lines):
    trigon = collections.defaultdict(list)
    for event in lines["event"]:
        if event["what"] == "transition" and event["to"] in STATES:
            trigon[event["device"], int(event["qp"])].append((event["at"], STATES[event["to"]]))
    count = 0
    devices = {event["device"] for event in lines["event"] if event["what"] == "rdma"}  # others are of software
    for pair in sorted(pair for pair in set(kernel) | set(trigon) if pair[0] in devices):
        asked = [event["to"] for event in of("modify", kernel[pair]) if event["mask"] & 1]
        same(f"the states of queue pair {pair[1]} of {pair[0]}", asked, [state for _, state in sorted(trigon[pair])])
        count += len(asked)
    return count


def connection(kernel, entry, messages, steps):
    """Compares one connection's messages; adds the parts of each to its step."""
    sender = entry["sendLinks"], int(entry["sendQps"], 16)
    receiver = entry["receiveLinks"], int(entry["receiveQps"], 16)
    posts = of("post", kernel[sender])
    name = f"{entry['direction']} ({sender[0]} to {receiver[0]})"
    writes, _ = packets_of_messages(kernel[sender])
    done = [event for event in of("completion", kernel[sender]) if event["op"] != RECEIVED_BY_IMMEDIATE]
    came = [event for event in of("completion", kernel[receiver]) if event["op"] == RECEIVED_BY_IMMEDIATE]
    for event in done + came:
        same(f"{name}: the status of a completion", event["status"], 0)
    same(f"{name}: posted sends", len(posts), len(messages))
    same(f"{name}: messages in packets", len(writes), len(messages))
    same(f"{name}: completed sends", len(done), sum(1 for message in messages if message["sent"]))
    same(f"{name}: completed receives", len(came), sum(1 for message in messages if message["received"]))
    same(f"{name}: permits to send", len(of("post", kernel[receiver])), len(messages))
    arrivals, acknowledgements = of("responder", kernel[receiver]), of("acknowledged", kernel[sender])
    for message, post, packets, sent, received in zip(messages, posts, writes, done, came):
        psn, first = packets[-1]["psn"], packets[0]["time"]
        arrived = first_behind(arrivals, psn, first)
        acknowledged = first_behind(acknowledgements, psn, first)
        if arrived is None or acknowledged is None:
            differences.append(f"{name}: message {message['number']} never arrived, or was never acknowledged")
            continue
        what = f"{name}, message {message['number']}"
        # a requester that sends again meanwhile finds a work request in the shared ring before the kernel is called
        in_order(what, [("isend", message["posted"]), ("the post", post["time"])])
        in_order(what, [("isend", message["posted"]), ("the first packet", first), ("the responder", arrived),
                        ("the acknowledgement", acknowledged), ("the completion", sent["time"]),
                        ("test() of it", message["sent"])])
        in_order(what, [("the responder", arrived), ("the receiver's completion", received["time"]),
                        ("test() of it", message["received"])])
        steps[message["number"] // SLICES % STEPS].append((
            post["time"] - message["posted"], first - post["time"], arrived - first, acknowledged - arrived,
            sent["time"] - acknowledged, message["sent"] - sent["time"], message["received"] - received["time"],
            len(packets)))
    return len(messages)


def retransmissions(kernel, lines):
    """How often queue pairs of a link's two ends went back to send again, by the kernel and by the report."""
    total = 0
    for link in lines["link"]:
        ends = {(entry[end + "Links"], int(entry[end + "Qps"], 16))
                for entry in lines["connection"] for end in ("send", "receive")
                if entry["direction"] == link["direction"] and entry["sendLinks"] == link["links"]}
        seen = sum(len(packets_of_messages(kernel[end])[1]) for end in ends)
        same(f"{link['direction']} over {link['links']}: retransmissions", seen, link["retransmissions"])
        print(f"{link['direction']} over {link['links']}: {seen} retransmissions by the kernel's packets, "
              f"{link['retransmissions']} by the report")
        total += seen
    return total


def print_steps(steps):
    """The parts of a step; the acknowledgement may be on its way before the last packet is at the responder's turn."""
    print("| step | packets | isend to post | post to packet | packet to responder | to acknowledgement "
          "| to completion | completion to test | the receiver's |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for step, parts in sorted(steps.items()):
        middle = [statistics.median(column) for column in zip(*parts)]
        micros = " | ".join(f"{value / 1000:.0f}" for value in middle[:-1])
        print(f"| {step + 1} | {middle[-1]:.0f} | {micros} |")
    print("\nMedians of a step's messages, in microseconds.")


def main():
    kernel, lines = kernel_events(), report_lines()
    results = [json.loads(file.read_text()) for file in sorted(folder.glob("rank*.json"))]
    same("ranks with sums that are wrong", [result["rank"] for result in results if result["wrong"]], [])
    print(f"{len(results)} ranks; rank r brings r + 1 times each number, and all have 1 + 2 + 3 = 6 times of it")
    changed = transitions(kernel, lines)
    steps = collections.defaultdict(list)
    count = 0
    for entry in lines["connection"]:
        messages = [message for message in lines["message"] if message["connection"] == entry["connection"]]
        count += connection(kernel, entry, messages, steps)
    print(f"{changed} transitions of the queue pairs, {count} posted sends, {count} completed sends and "
          f"receives: the kernel's and Trigon's are compared one by one")
    if changed == 0 or count == 0:
        differences.append("there is nothing to compare")
    again = retransmissions(kernel, lines)
    print_steps(steps)
    for difference in differences[:30]:
        print(f"DIFFERENT: {difference}")
    print(f"{len(differences)} differences" if differences else f"The two agree. {again} retransmissions.")
    return 1 if differences else 0


sys.exit(main())
