"""Prints the definitions of the lab's kernel probes, for /sys/kernel/tracing/kprobe_events.

Where a field lies in the kernel's structs is read from the kernel's own type information (BTF), so any version fits
that has the functions. Usage: kernel-probes.py BTF-OF-VMLINUX BTF-OF-RDMA_RXE
"""
import struct
import sys

STRUCT, UNION = 4, 5
# bytes behind a type's 12, by its kind: as many as there are, and for each of its members
FIXED = {1: 4, 3: 12, 14: 4, 17: 4}
EACH = {STRUCT: 12, UNION: 12, 6: 8, 13: 8, 15: 12, 19: 12}
WANTED = ("ib_qp", "ib_cq", "ib_device", "ib_qp_attr", "rxe_pkt_info", "rxe_qp", "sk_buff")


def parts(path):
    """The types and the strings of a file."""
    with open(path, "rb") as file:
        raw = file.read()
    magic, _, _, header, types, types_length, strings, strings_length = struct.unpack_from("<HBBIIIII", raw)
    if magic != 0xEB9F:
        raise SystemExit(f"kernel-probes.py: {path} is no BTF of this processor's byte order")
    return raw[header + types :][:types_length], raw[header + strings :][:strings_length]


def offsets(types, strings):
    """Of each wanted struct, where its members begin, in bytes. A module's strings follow the kernel's."""
    found = {}
    at = 0
    while at < len(types):
        name, info, _ = struct.unpack_from("<III", types, at)
        kind, members = info >> 24 & 31, info & 0xFFFF
        at += 12
        title = text(strings, name) if kind == STRUCT and name else ""
        if title in WANTED:
            found[title] = {}
            for i in range(members):
                member, _, bits = struct.unpack_from("<III", types, at + 12 * i)
                found[title][text(strings, member)] = (bits & 0xFFFFFF if info >> 31 else bits) // 8
        at += FIXED.get(kind, 0) + EACH.get(kind, 0) * members
    return found


def text(strings, at):
    return strings[at : strings.index(b"\0", at)].decode()


def main():
    kernel_types, kernel_strings = parts(sys.argv[1])
    module_types, module_strings = parts(sys.argv[2])
    of = offsets(kernel_types, kernel_strings) | offsets(module_types, kernel_strings + module_strings)
    missing = [name for name in WANTED if name not in of]
    if missing:
        raise SystemExit(f"kernel-probes.py: this kernel has no {', '.join(missing)}")

    def device(pointer):
        return f"dev=+{of['ib_device']['name']}({pointer}):string"

    # struct rxe_qp begins with its struct ib_qp, rxe_cq with its ib_cq
    queue_pair = f"{device('+%d($arg1)' % of['ib_qp']['device'])} qp=+{of['ib_qp']['qp_num']}($arg1):u32"
    info = of["rxe_pkt_info"]
    received = of["sk_buff"]["cb"]
    timer = of["rxe_qp"]["retrans_timer"]
    of_timer = "%+d($arg1)" % (of["ib_qp"]["device"] - timer)
    print(f"p:trigon/modify rxe_modify_qp {queue_pair} mask=$arg3:x32 to=+{of['ib_qp_attr']['qp_state']}($arg2):u32")
    print(f"p:trigon/post rxe_post_send {queue_pair}")
    print(f"p:trigon/packet rxe_xmit_packet {queue_pair} op=+{info['opcode']}($arg2):u8 psn=+{info['psn']}($arg2):u32")
    for event, function in ("responder", "rxe_resp_queue_pkt"), ("acknowledged", "rxe_comp_queue_pkt"):
        print(
            f"p:trigon/{event} {function} {queue_pair} op=+{received + info['opcode']}($arg2):u8"
            f" psn=+{received + info['psn']}($arg2):u32"
        )
    # an entry is struct ib_uverbs_wc, which programs see
    print(
        f"p:trigon/completion rxe_cq_post {device('+%d($arg1)' % of['ib_cq']['device'])} qp=+28($arg2):u32"
        " status=+8($arg2):u32 op=+12($arg2):u32"
    )
    print(f"p:trigon/timer retransmit_timer {device(of_timer)} qp={of['ib_qp']['qp_num'] - timer:+d}($arg1):u32")


main()
