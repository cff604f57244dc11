"""Frames of IPv4 as they go over a cable: taken apart, and made up."""

import array
import socket
import struct

ETHERNET_BYTES = 14
IPV4 = 0x0800
TCP, UDP = 6, 17
FIN, SYN, RST, ACK = 1, 2, 4, 16


class Segment:
    """A TCP segment or UDP datagram that was seen; addresses as text."""

    __slots__ = ("protocol", "source", "target", "source_mac", "sequence", "flags", "payload")

    def flow(self):
        return self.source + self.target


def parse(frame):
    """What a frame carries; None if it is neither TCP nor UDP over IPv4."""
    if len(frame) < ETHERNET_BYTES + 28 or frame[12] != 8 or frame[13] != 0:
        return None
    at = ETHERNET_BYTES + (frame[14] & 15) * 4
    protocol = frame[23]
    end = ETHERNET_BYTES + struct.unpack_from("!H", frame, 16)[0]
    if protocol not in (TCP, UDP) or len(frame) < at + 8:
        return None
    segment = Segment()
    segment.protocol = protocol
    segment.source_mac = frame[6:12]
    ports = struct.unpack_from("!HH", frame, at)
    segment.source = (socket.inet_ntoa(frame[26:30]), ports[0])
    segment.target = (socket.inet_ntoa(frame[30:34]), ports[1])
    segment.sequence = segment.flags = 0
    if protocol == UDP:
        segment.payload = frame[at + 8:end]
        return segment
    if len(frame) < at + 20:
        return None
    segment.sequence = struct.unpack_from("!I", frame, at + 4)[0]
    segment.flags = frame[at + 13]
    segment.payload = frame[at + (frame[at + 12] >> 4) * 4:end]
    return segment


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    words = array.array("H", data)
    total = sum(words)
    total = (total >> 16) + (total & 0xffff)
    total += total >> 16
    return struct.pack("H", ~total & 0xffff)


def frame(macs, protocol, source, target, body):
    """A frame from somebody's address; macs are who sends it and who is to take it."""
    pseudo = socket.inet_aton(source[0]) + socket.inet_aton(target[0]) + struct.pack("!BBH", 0, protocol, len(body))
    at = 16 if protocol == TCP else 6
    body = body[:at] + checksum(pseudo + body) + body[at + 2:]
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0)
    header += socket.inet_aton(source[0]) + socket.inet_aton(target[0])
    header = header[:10] + checksum(header) + header[12:]
    return macs[1] + macs[0] + struct.pack("!H", IPV4) + header + body


def tcp(macs, source, target, sequence, flags):
    body = struct.pack("!HHIIBBHHH", source[1], target[1], sequence & 0xffffffff, 0, 5 << 4, flags, 64240, 0, 0)
    return frame(macs, TCP, source, target, body)


def udp(macs, source, target, payload):
    return frame(macs, UDP, source, target, struct.pack("!HHHH", source[1], target[1], 8 + len(payload), 0) + payload)
