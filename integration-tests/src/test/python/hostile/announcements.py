"""Announcements of nodes, made up: as RecordCodec.java has them."""

import hashlib
import random
import socket
import struct
import time

MAGIC, VERSION, PROOF_BYTES, MAC_BYTES = 0x54726754, 4, 40, 16
LABEL = b"trigon topology 1"
BLOCK = 64


def hmac(key, text):
    key = key.ljust(BLOCK, b"\0")
    inner = hashlib.sha256(bytes(each ^ 0x36 for each in key) + text).digest()
    return hashlib.sha256(bytes(each ^ 0x5c for each in key) + inner).digest()


# what everybody knows who has read the source: right where there is no cluster key
WITHOUT_KEY = hmac(LABEL, LABEL)


def link(address, port, speed, heard, crowded=False):
    text = struct.pack("!B4sBHIB", 4, socket.inet_aton(address), 24, port, speed, len(heard) | (128 if crowded else 0))
    return text + b"".join(map(socket.inet_aton, heard))


def record(instance, sequence, node, name, links, age=0, call=2):
    text = struct.pack("!QQQQIB", instance, sequence, int(time.time()) - age, node, random.getrandbits(16), call)
    return text + struct.pack("!B", len(name)) + name + struct.pack("!B", len(links)) + b"".join(links)


def datagram(records):
    text = struct.pack("!IBBH", MAGIC, VERSION, len(records), 0)
    for body in records:
        # no stranger has the job's key, or knows more than its id
        ofJob = random.randbytes(PROOF_BYTES - MAC_BYTES)
        text += struct.pack("!H", len(body)) + body + hmac(WITHOUT_KEY, body)[:MAC_BYTES] + ofJob
    return text


def heads(data):
    """Instance, sequence and node of each record of a datagram."""
    found = []
    at = 8
    while at + 34 <= len(data):
        length = struct.unpack_from("!H", data, at)[0]
        instance, sequence, _, node = struct.unpack_from("!QQQQ", data, at + 2)
        found.append((instance, sequence, node))
        at += 2 + length + PROOF_BYTES
    return found
