"""The collectives, each checked in every element. A check is a dictionary: op, dtype, count, and what the op needs.

Every function returns what is wrong, or None, and a lower bound for the bytes this rank must send and receive together,
whatever the algorithm.
"""

import torch
import torch.distributed as dist

import patterns

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int64": torch.int64}


def run(rank, spec, number):
    dtype = TYPES[spec.get("dtype", "float32")]
    call = Call(rank, dtype, spec["count"], 1 + number)
    return OPERATIONS[spec["op"]](call, spec)


class Call:
    """One check on one rank: makes its tensors and its references. salt makes every check's numbers its own."""

    def __init__(self, rank, dtype, count, salt):
        self.owner, self.dtype, self.count, self.salt = rank, dtype, count, salt
        self.rank, self.ranks, self.device = rank.rank, rank.ranks, rank.device
        self.all = list(range(self.ranks))
        self.bytes = count * dtype.itemsize

    def empty(self, count=None):
        """A tensor of a number that no pattern has: what is not written shows."""
        return torch.full((self.count if count is None else count,), -1, dtype=self.dtype, device=self.device)

    def source(self, rank, length=None):
        return patterns.source(rank, self.salt, self.dtype, length or self.count, self.device)

    def own(self, count=None):
        count = self.count if count is None else count
        tensor = self.empty(count)
        self.source(self.rank, count).fill(tensor)
        return tensor

    def reduced(self, ranks=None, length=None, operation="sum"):
        return patterns.reduced(ranks or self.all, self.salt, self.dtype, length or self.count, self.device, operation)


def first(problems):
    return next((problem for problem in problems if problem), None)


def all_reduce(call, spec):
    operation = spec.get("reduce", "sum")
    data = call.own()
    dist.all_reduce(data, op=dist.ReduceOp.SUM if operation == "sum" else dist.ReduceOp.MAX)
    return call.reduced(operation=operation).check(data), 2 * call.bytes


def reduce(call, spec):
    root = spec.get("root", 0) % call.ranks
    data = call.own()
    dist.reduce(data, root)
    return call.reduced().check(data) if call.rank == root else None, call.bytes


def broadcast(call, spec):
    root = spec.get("root", 0) % call.ranks
    data = call.own() if call.rank == root else call.empty()
    dist.broadcast(data, root)
    return call.source(root).check(data), call.bytes


def all_gather(call, _):
    out = call.empty(call.count * call.ranks)
    dist.all_gather_into_tensor(out, call.own())
    parts = out.split(call.count)
    return first(call.source(r).check(parts[r]) for r in call.all), (call.ranks - 1) * call.bytes


def reduce_scatter(call, _):
    length = call.count * call.ranks
    out = call.empty()
    dist.reduce_scatter_tensor(out, call.own(length))
    return call.reduced(length=length).check(out, call.rank * call.count), (call.ranks - 1) * call.bytes


def all_to_all(call, _):
    length = call.count * call.ranks
    out = call.empty(length)
    dist.all_to_all_single(out, call.own(length))
    parts = out.split(call.count)
    wrong = first(call.source(r, length).check(parts[r], call.rank * call.count) for r in call.all)
    return wrong, 2 * (call.ranks - 1) * call.bytes


def all_to_all_uneven(call, _):
    """Rank r sends count * (1 + (r + d) % 3) elements to rank d."""
    share = lambda r, d: call.count * (1 + (r + d) % 3)
    sent, received = [share(call.rank, d) for d in call.all], [share(r, call.rank) for r in call.all]
    out, data = call.empty(sum(received)), call.own(sum(sent))
    dist.all_to_all_single(out, data, received, sent)
    wrong = []
    for r, part in enumerate(out.split(received)):
        total = sum(share(r, d) for d in call.all)
        wrong.append(call.source(r, total).check(part, sum(share(r, d) for d in range(call.rank))))
    return first(wrong), 2 * (call.ranks - 1) * call.bytes


def send_receive(call, _):
    """To the next rank and from the previous one, at the same time."""
    out, data = call.empty(), call.own()
    after, before = (call.rank + 1) % call.ranks, (call.rank - 1) % call.ranks
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, data, after), dist.P2POp(dist.irecv, out, before)])
    for work in works:
        work.wait()
    return call.source(before).check(out), 2 * call.bytes


def send_alone(call, _):
    """Plain send and recv, each link once: rank 0 to every other, and back."""
    if call.rank == 0:
        data = call.own()
        problems = []
        for peer in call.all[1:]:
            dist.send(data, peer)
            out = call.empty()
            dist.recv(out, peer)
            problems.append(call.source(peer).check(out))
        return first(problems), 2 * (call.ranks - 1) * call.bytes
    out = call.empty()
    dist.recv(out, 0)
    dist.send(call.own(), 0)
    return call.source(0).check(out), 2 * call.bytes


def gather(call, spec):
    root = spec.get("root", 0) % call.ranks
    parts = [call.empty() for _ in call.all] if call.rank == root else None
    dist.gather(call.own(), parts, root)
    wrong = first(call.source(r).check(parts[r]) for r in call.all) if parts else None
    return wrong, call.bytes


def scatter(call, spec):
    root = spec.get("root", 0) % call.ranks
    parts = [p.contiguous() for p in call.own(call.count * call.ranks).split(call.count)] if call.rank == root else None
    out = call.empty()
    dist.scatter(out, parts, root)
    return call.source(root, call.count * call.ranks).check(out, call.rank * call.count), call.bytes


def many(call, spec):
    """Many all-reduces of different lengths in flight at once."""
    lengths = [1 + (call.count * (i * 7 + 1)) // (7 * spec["times"]) for i in range(spec["times"])]
    tensors = [call.own(length) for length in lengths]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for work in works:
        work.wait()
    wrong = first(call.reduced(length=length).check(t) for t, length in zip(tensors, lengths))
    return wrong, sum(2 * length * call.dtype.itemsize for length in lengths)


def groups(call, spec):
    """Two more communicators of all ranks, and one per pair of neighbours, used at the same time, then destroyed."""
    everyone = [dist.new_group(call.all) for _ in range(2)]
    pairs = [[r, (r + 1) % call.ranks] for r in call.all if call.ranks > 2 or r == 0]
    paired = [(ranks, dist.new_group(sorted(ranks))) for ranks in pairs]
    problems, moved = [], 0
    for _ in range(spec.get("times", 3)):
        tensors = [call.own() for _ in everyone]
        works = [dist.all_reduce(t, group=g, async_op=True) for t, g in zip(tensors, everyone)]
        for work in works:
            work.wait()
        problems += [call.reduced().check(t) for t in tensors]
        moved += 2 * len(tensors) * call.bytes
        for ranks, group in paired:
            if call.rank in ranks:
                data = call.own()
                dist.all_reduce(data, group=group)
                problems.append(call.reduced(ranks).check(data))
                moved += 2 * call.bytes
    call.owner.synchronize()
    for group in [*everyone, *(g for ranks, g in paired if call.rank in ranks)]:
        dist.destroy_process_group(group)
    return first(problems), moved


def split(call, _):
    """ncclCommSplit: the ranks 0 and 1 together, the others together; parent and child in use at the same time."""
    parts = [part for part in (call.all[:2], call.all[2:]) if part]
    group = dist.split_group(split_ranks=parts)
    mine = next(part for part in parts if call.rank in part)
    inner, outer = call.own(), call.own()
    works = [dist.all_reduce(outer, async_op=True)]
    if len(mine) > 1:
        works.append(dist.all_reduce(inner, group=group, async_op=True))
    for work in works:
        work.wait()
    wrong = first([call.reduced(mine).check(inner), call.reduced().check(outer)])
    call.owner.synchronize()
    dist.destroy_process_group(group)
    return wrong, 2 * call.bytes


def graph(call, spec):
    """An all-reduce and an all-gather captured in a CUDA graph and replayed with other numbers each time."""
    data, gathered = call.own(), call.empty(call.count * call.ranks)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            dist.all_reduce(data)
            dist.all_gather_into_tensor(gathered, data)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured, capture_error_mode="thread_local"):
        dist.all_reduce(data)
        dist.all_gather_into_tensor(gathered, data)
    problems = []
    for repetition in range(spec.get("times", 5)):
        call.salt += 10_000 * (repetition + 1)
        call.source(call.rank).fill(data)
        captured.replay()
        torch.cuda.synchronize()
        expected = call.reduced()
        problems += [expected.check(data), *(expected.check(part) for part in gathered.split(call.count))]
    captured.reset()
    return first(problems), spec.get("times", 5) * 2 * call.bytes


OPERATIONS = {function.__name__: function for function in (
    all_reduce, reduce, broadcast, all_gather, reduce_scatter, all_to_all, all_to_all_uneven, send_receive, send_alone,
    gather, scatter, many, groups, split, graph)}
