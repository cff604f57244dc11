"""Tables, in Markdown, of what the benchmarks measured, and the aims beside it."""

import itertools
import json

TRIGON = "Trigon"
DEVICE_ALONE = "device alone"
NCCL = "IB"
# a cost that should not grow may grow by this factor
TOLERANCE = 1.2
QUESTIONS = {
    "devices": "`devices()`: the call alone",
    "test_empty": "`test()` that finds nothing",
    "test_empty_of_one": "`test()` that finds nothing, one used of those that are open",
    "message": "message of {size}, {window} at a time",
    "message_of_one": "message of {size}, one used of those that are open",
    "isend_without_receive": "`isend()` before the receive is there",
    "connect_early": "connection, both ends, of the first 100",
    "connect": "warm connection, both ends",
    "close": "closing it, both ends",
}


def text(value):
    """A cell: numbers with as many places as are worth reading, nothing for what was not measured."""
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"


def size(count):
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def table(heads, rows, title=""):
    """Prints one, and nothing where there are no rows."""
    rows = list(rows)
    if rows:
        if title:
            print(title + "\n")
        print("| " + " | ".join(heads) + " |")
        print("|" + "---|" * len(heads))
        for row in rows:
            print("| " + " | ".join(map(text, row)) + " |")
        print()


def ratio(value, other):
    return None if value is None or not other else value / other


def less(value, other):
    return None if value is None or other is None else value - other


def figure(values, name, factor=1.0):
    return values[name] * factor if values.get(name) is not None else None


def on_processor(result):
    """By the thread's own clock where there is one: it leaves out what the machine did besides."""
    return float(result.get("processor_median", result["median"])) if result and "median" in result else None


class Plugin:
    """The results of the first plugin of a name in one run of net-bench; none if the run lacks it."""

    def __init__(self, run, name):
        self.results = next((each["results"] for each in run["plugins"] if each["name"] == name), [])

    def of(self, question):
        return [result for result in self.results if result["question"] == question]

    def find(self, question, comms, count=None):
        """The result of a question; of messages, of those that are sent one at a time."""
        return next((result for result in self.of(question) if result["comms"] == comms
                     and (count is None or (result["bytes"], result["window"]) == (count, 1))), None)

    def cost(self, question, comms, count=None):
        return on_processor(self.find(question, comms, count))

    def cost_of_one(self, question, comms, count=None):
        """The cost for one connection while the others rest."""
        return self.cost(question if comms == 1 else question + "_of_one", comms, count)


class Page:
    """The tables of a folder's results; the aims come last."""

    def __init__(self, results):
        self.results = results
        self.aims = []

    def print(self):
        for part in (self.instant, self.growth, self.one_of_many, self.links, self.steady, self.lab):
            part()
        print("## Aims\n")
        table(("what", "measured", "aim", "met"), self.aims)

    def read(self, name):
        file = self.results / name
        if file.exists():
            return json.loads(file.read_text())
        print(f"Not measured: there is no `{name}`.\n")
        return None

    def aim(self, what, measured, limit, unit="times", at_least=False):
        if measured is not None:
            met = measured >= limit if at_least else measured <= limit
            self.aims.append((what, f"{text(float(measured))} {unit}".strip(),
                              f"at {'least' if at_least else 'most'} {text(float(limit))} {unit}".strip(),
                              "yes" if met else "**no**"))

    def flat(self, what, few, costs, of):
        """The aim that a cost with the most connections or nodes is about that with few."""
        most = max(costs, default=0)
        if most > few:
            self.aim(f"growth, {what}: with {most} {of}, to {few}", ratio(costs[most], costs.get(few)), TOLERANCE)

    def instant(self):
        print("## Instant device: `./trigon benchmarks instant`\n")
        run = self.read("instant.json")
        if not run:
            return
        net_bench(run)
        trigon, nccl, alone = (Plugin(run, name) for name in (TRIGON, NCCL, DEVICE_ALONE))
        where = "instant device, "
        short, long = (trigon.cost("message", 1, count) for count in (8, 65536))
        self.aim(where + "message of 8 B", short, 350, "ns")
        self.aim(where + "message of 8 B, to NCCL's own IB transport", ratio(short, nccl.cost("message", 1, 8)), 1)
        # the device alone, which is stricter, where NCCL's transport was not measured
        to, other = "NCCL's own IB transport", nccl.cost("message", 1, 65536)
        if other is None:
            to, other = "the device alone", alone.cost("message", 1, 65536)
        self.aim(f"{where}message of 64 KiB, to {to}", ratio(long, other), 1.1)
        for question in ("test_empty", "isend_without_receive"):
            self.aim(where + QUESTIONS[question], trigon.cost(question, 1), 35, "ns")
        self.aim(where + QUESTIONS["connect"], trigon.cost("connect", 0), 2000, "us")
        self.first_messages(run, trigon)
        self.sizes(trigon, alone)

    def first_messages(self, run, trigon):
        """What a process's first messages take, before any compiler has seen their code."""
        table(("plugin", "the first, us", "2 to 10, us each", "11 to 100, us each", "101 to 1000, us each",
               "warm, us each"),
              ((name, *(figure(each, key) for key in ("first", "from_2", "from_11", "from_101", "warm")))
               for name, plugin in plugins(run) for each in plugin.of("first_messages")),
              "The first messages of a process, of 8 B, one at a time:")
        for each in trigon.of("first_messages"):
            self.aim("instant device, the first message", each["first"], 50, "us")
            self.aim("instant device, messages 11 to 100, to warm ones", ratio(each["from_11"], each["warm"]),
                     TOLERANCE)

    def sizes(self, trigon, alone):
        """Trigon should add the same to the device's time, however long a message is."""
        costs = {count: (trigon.cost("message", 1, count), alone.cost("message", 1, count))
                 for count in sorted({result["bytes"] for result in trigon.of("message")})}
        costs = {count: both for count, both in costs.items() if None not in both}
        if len(costs) < 2:
            return
        least, most = size(min(costs)), size(max(costs))
        fixed = less(*costs[min(costs)])
        table(("size", "Trigon, ns", "the device alone, ns", "Trigon to the device", "Trigon adds, ns",
               f"Trigon to the device and what is added to {least}"),
              ((size(count), ours, device, ours / device, ours - device, ours / (device + fixed))
               for count, (ours, device) in costs.items()), "By size, one message at a time, on the processor:")
        self.aim(f"growth, message of {least} to {most}, the worst: to the device and what is added to {least}",
                 max(ours / (device + fixed) for ours, device in costs.values()), TOLERANCE)

    def growth(self):
        print("## Many connections: `./trigon benchmarks growth`\n")
        run = self.read("growth.json")
        if not run:
            return
        machine(run)
        table(("plugin", "connections", "`test()` that finds nothing, ns: of one", "of all in turns",
               "message of 8 B, ns: of one", "of all in turns", "KiB each", "descriptors each", "threads",
               "made per second"),
              ((name, grown["comms"], plugin.cost_of_one("test_empty", grown["comms"]),
                plugin.cost("test_empty", grown["comms"]), plugin.cost_of_one("message", grown["comms"], 8),
                plugin.cost("message", grown["comms"], 8), figure(grown, "kib_each"),
                figure(grown, "descriptors_each"), grown["threads"], figure(grown, "per_second"))
               for name, plugin in plugins(run) for grown in plugin.of("growth")))
        trigon, alone = (Plugin(run, name) for name in (TRIGON, DEVICE_ALONE))
        grown = {each["comms"]: each for each in trigon.of("growth")}
        for question, *count in (("test_empty",), ("message", 8)):
            what = (QUESTIONS[question] if question == "test_empty" else "message of 8 B") + ", all used in turns"
            ours = {comms: trigon.cost(question, comms, *count) for comms in grown}
            self.flat(what, 1, ours, "connections")
            self.flat(what + ", less the device alone", 1,
                      {comms: less(cost, alone.cost(question, comms, *count)) for comms, cost in ours.items()},
                      "connections")
        # the first connections' memory is in part what the process has already
        for what, few, cost in (
                ("memory of one more", 256, lambda each: figure(each, "kib_each")),
                ("descriptors of one more", 16, lambda each: figure(each, "descriptors_each")),
                ("setting one up", 16, lambda each: ratio(1e6, figure(each, "per_second")))):
            self.flat(what, few, {comms: cost(each) for comms, each in grown.items()}, "connections")

    def one_of_many(self):
        """Two processes whose samples alternated: each used one of its connections, of few and of many."""
        few, many = (self.read(f"growth-one-of-{which}.json") for which in ("few", "many"))
        if not few or not many:
            return
        rows = []
        for name, plugin in plugins(few):
            for alone, rests in itertools.product(plugin.results, Plugin(many, name).results):
                if alone["question"] == rests["question"]:
                    what = QUESTIONS["test_empty"] if "bytes" not in alone else f"message of {size(alone['bytes'])}"
                    costs = on_processor(alone), on_processor(rests)
                    times = ratio(costs[1], costs[0])
                    rows.append((name, what, alone["comms"], costs[0], rests["comms"], costs[1], times))
                    if name == TRIGON:
                        self.aim(f"growth, {what}, one used: with {rests['comms']} connections, to {alone['comms']}",
                                 times, TOLERANCE)
        table(("plugin", "what", "open", "it takes", "open", "it takes", "times"), rows,
              "One connection used, by two processes in turns, sample by sample, ns:")

    def links(self):
        print("## Software links, loopback: `./trigon benchmarks links`\n")
        run = self.read("links.json")
        if not run:
            return
        floor = self.read("links-floor.json")
        if floor:
            table(("operation", "bytes", "median", "99 %", "99.9 %"),
                  ((each["operation"], each["bytes"], *(figure(each, name) for name in ("median", "p99", "p99_9")))
                   for each in floor["results"]),
                  "A TCP connection without anything on top (socket-floor), each call by itself, ns:")
        net_bench(run)
        self.aim("software links, " + QUESTIONS["connect"], Plugin(run, TRIGON).cost("connect", 0), 2000, "us")

    def steady(self):
        print("## A minute at full rate: `./trigon benchmarks steady`\n")
        rows = []
        for file, device in (("steady-instant.json", "instant device"), ("steady-links.json", "software links")):
            run = self.read(file)
            calls = Plugin(run, TRIGON).find("test_call", 1) if run else None
            if not calls:
                continue
            jvm = run.get("jvm") or {}
            collections = jvm.get("collections_while_measuring")
            rows.append((device, calls["seconds"], calls["messages"], *distribution(calls), collections,
                         jvm.get("pauses_while_measuring"), figure(jvm, "longest_while_measuring_ns", 1e-6)))
            what = f"{device}, {calls['seconds']:.0f} s at full rate: "
            self.aim(what + "collections", collections, 0, "")
            self.aim(what + "99.9 % of the `test()` calls", figure(calls, "p99_9"), 2000, "ns")
        table(("`test()`, ns", "seconds", "messages", "calls", "50 %", "99 %", "99.9 %", "99.99 %", "longest",
               "JVM: collections", "stops", "longest stop, ms"), rows)

    def lab(self):
        print("## SoftRoCE in the lab: `./trigon benchmarks lab`\n")
        lab = self.read("lab.json")
        if not lab:
            return
        print("In one boot of an emulated machine, two processes over one pair of devices: compare within a line only."
              f" Rounds: {lab.get('rounds')}; the host's load at the end: {lab.get('load')}.\n")
        latency = lab["latency"]
        rows = [("half a round trip of 8 B, the best, us",
                 *(figure(latency, name) for name in ("trigon_us", "ib_write_lat_us")))]
        self.aim("SoftRoCE, half a round trip of 8 B, the best, to `ib_write_lat`",
                 ratio(figure(latency, "trigon_us"), figure(latency, "ib_write_lat_us")), 1.15)
        for each in lab["bandwidth"]:
            at = f"bandwidth at {size(each['bytes'])}"
            for what, asleep in ((f"{at}, ", ""), (f"{at}, with a receiver that sleeps as perftest's, ", "_asleep")):
                for which, best in (("median", ""), ("the best round", "_best")):
                    rows.append((f"{what}{which}, MB/s", figure(each, f"trigon{asleep}{best}_mb_per_second"),
                                 figure(each, f"ib_write_bw{best}_mb_per_second")))
            theirs = figure(each, "ib_write_bw_mb_per_second")
            self.aim(f"SoftRoCE, {at}, to `ib_write_bw`", ratio(figure(each, "trigon_mb_per_second"), theirs), 0.95,
                     at_least=True)
            self.aim(f"SoftRoCE, {at} with a receiver that sleeps, as `ib_write_bw`'s",
                     ratio(figure(each, "trigon_asleep_mb_per_second"), theirs), 0.95, at_least=True)
        table(("what", "Trigon", "perftest"), rows)


def plugins(run):
    return [(each["name"], Plugin({"plugins": [each]}, each["name"])) for each in run["plugins"]]


def machine(run):
    told, jvm = run.get("machine"), run.get("jvm")
    if told:
        print(f"{told['processor']}, {told['cores']} cores, Linux {told['kernel']}, load {told['load']} at the end."
              f" RDMA devices and their drivers: {json.dumps(run.get('rdma_drivers'))}.")
    if jvm:
        print(f"The JVM stopped {jvm['pauses']} times, the longest {text(jvm['longest_ns'] / 1e6)} ms; once all was"
              f" compiled {jvm['pauses_while_measuring']} times, the longest"
              f" {text(jvm['longest_while_measuring_ns'] / 1e6)} ms.")
    print()


def distribution(calls):
    return [figure(calls, name) for name in ("calls", "p50", "p99", "p99_9", "p99_99", "max")]


def net_bench(run):
    """All that net-bench measured in a run."""
    machine(run)
    table(("plugin", "what", "unit", "median", "on the processor", "10 %", "90 %"),
          ((name, words(result), result["unit"],
            *(figure(result, each) for each in ("median", "processor_median", "p10", "p90")))
           for name, plugin in plugins(run) for result in plugin.results if result.get("median") is not None))
    table(("plugin", "calls", "50 %", "99 %", "99.9 %", "99.99 %", "longest"),
          ((name, *distribution(plugin.find("test_call", 1))) for name, plugin in plugins(run)
           if plugin.find("test_call", 1)),
          "Single calls of `test()` while messages move, ns, each with the clock's own share:")
    table(("plugin", "until second", "median"),
          ((name, number * early["span_seconds"], float(median)) for name, plugin in plugins(run)
           for early in plugin.of("connect_early") for number, median in enumerate(early.get("span_medians", ()), 1)),
          "A connection, both ends, by seconds of connecting, us:")
    for name, plugin in plugins(run):
        if any(not each.get("warm", True) for each in plugin.of("connect")):
            print(f"{name}: connections still became faster when they were timed, so the figure of warm ones is too"
                  " high.\n")


def words(result):
    told = QUESTIONS.get(result["question"], result["question"])
    return told.format(size=size(result.get("bytes", -1)), window=result.get("window"))


def announcements(file):
    """The simulation's rows; the first is the head."""
    heads, *rows = (line.split("\t") for line in file.read_text().splitlines())
    table(heads, rows)
