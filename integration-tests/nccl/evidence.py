"""Did Trigon carry it? What NCCL's log, Trigon's own counters and the kernel's counters say."""

import collections
import re

# "Using network Trigon", "Assigned NET plugin Trigon to comm", "Loaded net plugin Trigon (v11)", by NCCL's release
CHOSEN = re.compile(r"NCCL INFO .*(?:Using network|Assigned NET plugin|[Ll]oaded net plugin) Trigon\b.*")
LOADED = re.compile(r"NCCL INFO .*[Ll]oaded net plugin Trigon \((v\d+)\)")
CHANNEL = re.compile(r"Channel \d+(?:/\d+)? : .* via (\S+)")
TRAFFIC = re.compile(r"NET/Trigon : (\S+ \S+ \(\w+\)): (\d+) messages, (\d+) bytes sent and received so far")
CHANNELS = re.compile(r"(\d+) coll channels.* (\d+) p2p channels")
AGREED = re.compile(r"(\d+) coll channels.* (\d+) p2p channels, (\d+) p2p channels per peer")
CHOICE = re.compile(r"(\w+): (\d+) Bytes -> Algo (\w+) proto (\w+) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}")


def traffic(log):
    """Trigon's last count per link: {link: (messages, bytes)}."""
    return {match[1]: (int(match[2]), int(match[3])) for match in TRAFFIC.finditer(log)}


def plugin_lines(log):
    return list(dict.fromkeys(match[0].split("NCCL INFO ", 1)[1] for match in CHOSEN.finditer(log)))


def nccl_version(log):
    """Major and minor number, of a log that says them."""
    found = re.search(r"NCCL version (\d+)\.(\d+)", log)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def api_version(log):
    match = LOADED.search(log)
    return match[1] if match else None


def transports(log):
    """What NCCL's channels go through, e.g. NET/Trigon/0."""
    return sorted({match[1] for match in CHANNEL.finditer(log)})


def channels(log):
    match = CHANNELS.search(log)
    return int(match[1]) if match else None


def judge_agreed(logs):
    """Whether all ranks have the same channels, which NCCL's ranks do not compare: (problem or None, what they say)."""
    found = [sorted({match[0] for match in AGREED.finditer(log)}) for log in logs]
    if not all(found):
        return "NCCL's log does not tell a rank's channels", ""
    said = " / ".join(found[0])
    return None if all(each == found[0] for each in found) else f"they differ: {found}", said


def choices(log):
    """The algorithm, protocol and channels that NCCL chose: {(function, algorithm, protocol): most channels}."""
    found = {}
    for match in CHOICE.finditer(log):
        key = (match[1], match[3].upper(), match[4].upper())
        found[key] = max(found.get(key, 0), int(match[6]) - int(match[5]) + 1)
    return found


AllReduce = collections.namedtuple("AllReduce", "bytes algorithm protocol channels")
AllReduce.pair = property(lambda self: (self.algorithm, self.protocol))


def all_reduces(log):
    """What NCCL chose for each all-reduce, in their order."""
    return [AllReduce(int(match[2]), match[3].upper(), match[4].upper(), int(match[6]) - int(match[5]) + 1)
            for match in CHOICE.finditer(log) if match[1] == "AllReduce"]


def judge_alike(stat, ranks, sha256, decides=None):
    """Whether all ranks decide by one version, and have decided as often: (problem or None, what they say).

    stat: {pid: what "trigon policy stat --json" says of that process}
    sha256: of the version, or None where NCCL has to decide
    decides: whether the policy has to have decided anything; None: either
    """
    if len(stat) != ranks:
        return f"{len(stat)} of {ranks} ranks say what they decide by", ""
    found = [[(each["sha256"], each["decided"], each["leftToNccl"], each["impossible"])
              for each in process["communicators"]] for process in stat.values()]
    if any(process["stopped"] for process in stat.values()):
        return "a rank's policy was stopped: " + str({pid: p["stopped"] for pid, p in stat.items()}), ""
    said = "; ".join(f"{sha[:12]}: {decided} decided, {left} left to NCCL, {beyond} that NCCL cannot do"
                     for sha, decided, left, beyond in found[0]) or "NCCL decides"
    if any(each != found[0] for each in found):
        return f"ranks differ: {found}", said
    versions = [each[0] for each in found[0]]
    if versions != ([] if sha256 is None else [sha256]):
        return f"decided by {versions or 'NCCL'} instead of {sha256 or 'NCCL'}", said
    if decides is not None and decides != any(each[1] or each[3] for each in found[0]):
        return f"the policy has {'not ' if decides else ''}decided ({said})", said
    return None, f"{said}, on each of {ranks} ranks"


def judge_log(log, payload):
    """Whether one rank's log proves that Trigon carried at least so many bytes: (problem or None, what it says)."""
    chosen = plugin_lines(log)
    if not chosen:
        return "NCCL's log does not name Trigon as its network", ""
    foreign = [name for name in transports(log) if not name.startswith("NET/Trigon")]
    if foreign:
        return f"channels go through {', '.join(foreign)}", ""
    counts = traffic(log)
    if not counts:
        return "the log has no counters of Trigon (they are written when a communicator closes)", ""
    total = sum(count for _, count in counts.values())
    said = f"'{chosen[0]}'; " + "; ".join(f"{link}: {m} messages, {b} bytes" for link, (m, b) in counts.items())
    if total < payload:
        return f"Trigon counted {total} bytes, at least {payload} must have moved ({said})", said
    return None, said


def judge_unconfigured(logs):
    """Whether Trigon ran without a file on every rank, as it says when it starts: problem or None."""
    wrong = [str(rank) for rank, log in enumerate(logs) if "file: none (TRIGON_CONFIG is not set)" not in log]
    return f"no line of Trigon's says that it has no file, on rank {', '.join(wrong)}" if wrong else None


def judge_counters(before, after, payload, cables="to_"):
    """Whether the kernel saw the payload on the cables, and next to nothing on the management network."""
    moved = {name: after[name] - before.get(name, 0) for name in after}
    on_cables = sum(count for name, count in moved.items() if name.startswith(cables))
    apart = moved.get("mgmt0", 0)
    said = ", ".join(f"{name} {count}" for name, count in sorted(moved.items()) if count)
    if on_cables < payload:
        return f"the kernel saw {on_cables} bytes on the cables, at least {payload} must have moved ({said})", said
    if apart > 20_000_000 + payload // 20:
        return f"{apart} bytes went over the management network ({said})", said
    return None, said
