"""What collectives are fed with, and what they must give: whole numbers that every element type adds exactly.

An element's value depends on its source, its index and the check it belongs to, so misplaced, stale and missing data
all show. The numbers are made on the CPU; they repeat after a prime number of elements, which no chunk size divides.
"""

import torch

PERIOD = 1_000_003
# bfloat16 has 8 bits of precision, float32 has 24; the sums of eight ranks stay below that
MODULUS = {torch.bfloat16: 31, torch.float32: 1 << 20, torch.int64: 1 << 40}
OFFSET = {torch.bfloat16: 0, torch.float32: 0, torch.int64: 1 << 39}


def numbers(source, salt, dtype, length):
    """The first numbers of a source, as int64."""
    index = torch.arange(min(length, PERIOD), dtype=torch.int64)
    mixed = index * 2654435761 + source * 40503 * 65537 + salt * 97_531_001
    mixed = (mixed ^ (mixed >> 15)) * 2246822519
    return ((mixed >> 13) & 0x7FFFFFFFFFFF).remainder(MODULUS[dtype]) - OFFSET[dtype]


def combined(sources, salt, dtype, length, operation="sum"):
    """What reducing these sources gives, one period of it, as int64."""
    total = numbers(sources[0], salt, dtype, length)
    for source in sources[1:]:
        other = numbers(source, salt, dtype, length)
        total = total + other if operation == "sum" else torch.maximum(total, other)
    return total


class Pattern:
    """An endless sequence that repeats; fills tensors from it and compares tensors with it."""

    def __init__(self, period, dtype, device):
        self.block = period.to(dtype).to(device)

    def pieces(self, tensor, offset):
        """Pairs of a slice of the tensor and the part of the period that belongs there."""
        done = 0
        length = self.block.numel()
        while done < tensor.numel():
            start = (offset + done) % length
            size = min(length - start, tensor.numel() - done)
            yield done, tensor[done:done + size], self.block[start:start + size]
            done += size

    def fill(self, tensor, offset=0):
        for _, part, block in self.pieces(tensor, offset):
            part.copy_(block)

    def check(self, tensor, offset=0):
        """None if every element is right, else what is wrong."""
        for done, part, block in self.pieces(tensor, offset):
            if not torch.equal(part, block):
                wrong = (part != block).nonzero().flatten()
                first = wrong[0].item()
                return (f"{wrong.numel()} of {part.numel()} elements from {done} on are wrong, first [{done + first}]: "
                        f"got {part[first].item()}, expected {block[first].item()}")
        return None


def source(rank, salt, dtype, length, device):
    return Pattern(numbers(rank, salt, dtype, length), dtype, device)


def reduced(ranks, salt, dtype, length, device, operation="sum"):
    return Pattern(combined(ranks, salt, dtype, length, operation), dtype, device)
