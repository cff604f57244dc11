"""What a rank can be told to do with its communicator."""

import statistics
import time

import torch
import torch.distributed as dist

import operations

def exercise(function):
    """Marks a function as a command that the driver may send."""
    function.is_exercise = True
    return function


@exercise
def check(rank, checks):
    """Runs a list of checks; stops at the first that raises, because the communicator is broken then."""
    results, payload = [], 0
    for number, spec in enumerate(checks):
        start = time.perf_counter()
        wrong, moved = operations.run(rank, spec, number)
        results.append({"wrong": wrong, "seconds": time.perf_counter() - start})
        payload += moved
    return {"results": results, "payload": payload}


@exercise
def measure(rank, bytes, iterations, warmup):
    """The mean time of an all-reduce of so many bytes."""
    data = torch.zeros(max(1, bytes // 4), dtype=torch.float32, device=rank.device)
    for _ in range(warmup):
        dist.all_reduce(data)
    rank.synchronize()
    if rank.cpu:
        start = time.perf_counter()
        for _ in range(iterations):
            dist.all_reduce(data)
        elapsed = time.perf_counter() - start
    else:
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        for _ in range(iterations):
            dist.all_reduce(data)
        last.record()
        last.synchronize()
        elapsed = first.elapsed_time(last) / 1000
    return {"seconds": elapsed / iterations}


@exercise
def passes(rank, sizes, warmup, rounds, passes):
    """Of each pass the mean seconds of all-reduces of each size, asked for without a wait between them."""
    taken = []
    for _ in range(passes):
        means = []
        for size in sizes:
            data = torch.zeros(max(1, size // 4), dtype=torch.float32, device=rank.device)
            for _ in range(warmup):
                dist.all_reduce(data)
            rank.synchronize()
            start = time.perf_counter()
            for _ in range(rounds):
                dist.all_reduce(data)
            rank.synchronize()
            means.append((time.perf_counter() - start) / rounds)
        taken.append(means)
    return {"seconds": taken}


@exercise
def decode(rank, sizes, reduces, replays):
    """Of each size the median seconds of an all-reduce of bfloat16, as decode has them: many in a CUDA graph."""
    medians = []
    for size in sizes:
        data = torch.zeros(size // 2, dtype=torch.bfloat16, device=rank.device)

        def step():
            for _ in range(reduces):
                dist.all_reduce(data)

        replay = step if rank.cpu else captured(step).replay
        taken = []
        for _ in range(replays):
            rank.synchronize()
            start = time.perf_counter()
            replay()
            rank.synchronize()
            taken.append((time.perf_counter() - start) / reduces)
        medians.append(statistics.median(taken))
    return {"seconds": medians}


def captured(step):
    """A CUDA graph of it; what it does has been done before, on another stream."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        step()
    return graph


@exercise
def steady(rank, bytes, seconds):
    """All-reduces one after the other, each looked at, until rank 0 says with the data that its time is over.

    So all ranks do as many. Tells the driver once they run.
    """
    count, rounds, wrong, slowest = bytes // 4, 0, None, 0.0
    over, deadline = False, time.monotonic() + seconds
    while not over:
        data = torch.full((count,), float(rounds % 1000 + rank.rank), device=rank.device)
        data[0] = 1.0 if rank.rank == 0 and time.monotonic() >= deadline else 0.0
        rank.synchronize()
        start = time.perf_counter()
        dist.all_reduce(data)
        rank.synchronize()
        slowest = max(slowest, time.perf_counter() - start) if rounds else 0.0  # the first one may connect
        expected = sum(float(rounds % 1000 + each) for each in range(rank.ranks))
        if not bool((data[1:] == expected).all()):
            wrong = wrong or f"all-reduce {rounds} is wrong: not {expected} everywhere"
        over = data[0].item() != 0
        rounds += 1
        if rounds == 1:
            rank.notify()
    return {"rounds": rounds, "wrong": wrong, "slowest_s": slowest, "payload": 2 * bytes * rounds}


@exercise
def endure(rank, first, rounds):
    """All-reduces of numbers whose sums are not exact, one after the other; returns the bits of all results."""
    count, bits, slowest = 1 << 20, [], 0.0
    for number in range(first, first + rounds):
        torch.manual_seed(1000 * number + rank.rank)
        data = torch.randn(count, device=rank.device)
        rank.synchronize()
        start = time.perf_counter()
        dist.all_reduce(data)
        rank.synchronize()
        slowest = max(slowest, time.perf_counter() - start)
        # a sum that depends on each element's place
        places = torch.arange(1, count + 1, device=rank.device)
        bits.append((data.view(torch.int32).long() * places).sum().item())
    return {"bits": bits, "slowest_s": slowest, "payload": 2 * 4 * count * rounds}


@exercise
def steps(rank, warmup, steps):
    """The mean time of a step of a data-parallel training of 19 million parameters, 74 MB.

    Each gradient is reduced as soon as it is there, as DistributedDataParallel does, whose import takes seconds.
    """
    model = torch.nn.Sequential(
        torch.nn.Linear(512, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 4096), torch.nn.ReLU(),
        torch.nn.Linear(4096, 1)
    ).to(rank.device)
    works = []
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(
            lambda reduced: works.append(dist.all_reduce(reduced.grad, async_op=True)))
    inputs = torch.ones(64, 512, device=rank.device)
    for number in range(warmup + steps):
        if number == warmup:
            rank.synchronize()
            start = time.perf_counter()
        model(inputs).square().mean().backward()
        while works:
            works.pop(0).wait()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(parameter.grad, alpha=1e-6)
                parameter.grad = None
    rank.synchronize()
    return {"seconds": (time.perf_counter() - start) / steps}


@exercise
def train(rank, steps):
    """A small data-parallel training; returns the losses' and the parameters' exact bits."""
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 512), torch.nn.Tanh(), torch.nn.Linear(512, 1)
    ).to(rank.device)
    parallel = torch.nn.parallel.DistributedDataParallel(
        model, device_ids=None if rank.cpu else [0], bucket_cap_mb=0.25)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(1000 + rank.rank)
    losses = []
    for _ in range(steps):
        inputs = torch.randn(128, 64, generator=generator).to(rank.device)
        wanted = inputs[:, :8].sum(dim=1, keepdim=True).sin()
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(parallel(inputs), wanted)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(mean.cpu().view(torch.int32).item())
    parameters = [p.detach().cpu().view(torch.int32).long().sum().item() for p in model.parameters()]
    bytes_per_step = sum(p.numel() * 4 for p in model.parameters())
    return {"losses": losses, "parameters": parameters, "payload": 2 * steps * bytes_per_step,
            "last_loss": mean.item() / rank.ranks}


def await_first(works):
    """Until the first operation is done, and the next ones are under way."""
    deadline = time.monotonic() + 30
    while not works[0].is_completed():
        if time.monotonic() > deadline:
            raise AssertionError("the first operation is not done after 30 s")
        time.sleep(0.001)


@exercise
def abort(rank, absent):
    """Aborts the communicator while requests are in flight.

    With absent, the last rank does not take part, so that what the others started can never end.
    """
    data = torch.ones(64 << 20, dtype=torch.float32, device=rank.device)
    dist.all_reduce(data)
    rank.synchronize()
    takes_part = not absent or rank.rank != rank.ranks - 1
    works = [dist.all_reduce(data, async_op=True) for _ in range(100)] if takes_part else []
    if absent:
        time.sleep(0.3)  # for the requests to get as far as they can
    else:
        await_first(works)
    in_flight = sum(not work.is_completed() for work in works)
    start = time.perf_counter()
    dist.distributed_c10d._abort_process_group()
    aborted = time.perf_counter() - start
    rank.synchronize()
    return {"in_flight": in_flight, "abort_s": aborted}


@exercise
def flow(rank, seconds):
    """All-reduces without end, until one fails; tells the driver once they flow, and then what the error was."""
    data = torch.zeros(4 << 20, dtype=torch.float32, device=rank.device)
    dist.all_reduce(data)
    rank.synchronize()
    rank.notify()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            dist.all_reduce(data, async_op=True).wait()  # TORCH_NCCL_BLOCKING_WAIT: it waits, and raises
            rank.synchronize()
        except Exception as error:  # the one that is wanted: any error that the communicator reports
            seen = f"{type(error).__name__}: {error}"
            rank.notify(seen=seen)
            return give_up(rank, seen)
    raise AssertionError(f"no error came within {seconds} s")


def give_up(rank, error):
    start = time.perf_counter()
    if rank.cpu:
        dist.destroy_process_group()
    else:
        dist.distributed_c10d._abort_process_group()
    return {"seen": error, "abort_s": time.perf_counter() - start}


@exercise
def late(rank, who, seconds, times, bytes):
    """All-reduces by themselves, to which one rank comes late; who: none, if it is no rank's number."""
    data = torch.zeros(max(1, bytes // 4), dtype=torch.float32, device=rank.device)
    for _ in range(times):
        rank.synchronize()
        if rank.rank == who:
            time.sleep(seconds)
        dist.all_reduce(data)
    rank.synchronize()
    return {}
