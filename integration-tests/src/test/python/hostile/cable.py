"""A cable that the attacker sits on: what goes over it is recorded, and frames of anybody's are put onto it."""

import array
import collections
import socket
import struct
import threading

import packets

ALL_PROTOCOLS = 3
ATTACH_FILTER = 26
MAX_FRAME = 1600  # longer ones are data
MAX_OPENING = 4096  # of what a client says first
MAX_OPENINGS = 64  # for each port


class Cable(threading.Thread):
    """
    What is recorded: how clients begin by server, datagrams, where each connection is, who has which address.

    @param port an interface through which all frames of one of the two nodes go
    """

    def __init__(self, port, interface, address, nodes):
        super().__init__(name="cable " + interface, daemon=True)
        self.interface = interface
        self.address = address
        self.nodes = nodes
        self.openings = collections.defaultdict(list)
        self.datagrams = collections.deque(maxlen=4096)
        self.next_sequence = {}
        self.macs = {}
        self.on_segment = None
        self._growing = {}
        self._listening = True
        self._raw = self._open(port)
        self._out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._out.bind((interface, 0))
        self.own_mac = self._out.getsockname()[4]

    @staticmethod
    def _open(port):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        # bpf(4): the length; more than so much? then nothing of it, else all
        program = array.array("B", struct.pack("HBBI", 0x80, 0, 0, 0) + struct.pack("HBBI", 0x25, 1, 0, MAX_FRAME)
                              + struct.pack("HBBI", 6, 0, 0, 0xffff) + struct.pack("HBBI", 6, 0, 0, 0))
        raw.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, struct.pack("HL", 4, program.buffer_info()[0]))
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        raw.settimeout(0.5)
        raw.bind((port, ALL_PROTOCOLS))
        return raw

    def run(self):
        while self._listening:
            try:
                segment = packets.parse(self._raw.recv(MAX_FRAME))
            except socket.timeout:
                continue
            if segment is not None and segment.source[0] in self.nodes and segment.source[1] != 0:
                self._note(segment)
        self._raw.close()

    def _note(self, segment):
        self.macs[segment.source[0]] = segment.source_mac
        if segment.protocol == packets.UDP:
            self.datagrams.append((segment.source, segment.target, segment.payload))
            return
        flow = segment.flow()
        length = len(segment.payload) + (1 if segment.flags & (packets.SYN | packets.FIN) else 0)
        self.next_sequence[flow] = segment.sequence + length
        if segment.flags & (packets.FIN | packets.RST):
            self.next_sequence.pop(flow, None)
            self.next_sequence.pop(segment.target + segment.source, None)
        if segment.flags & packets.SYN and not segment.flags & packets.ACK:
            self._growing[flow] = [segment.sequence + 1, bytearray()]
        elif segment.payload and flow in self._growing:
            self._grow(segment, self._growing[flow])
        if self.on_segment is not None:
            self.on_segment(self, segment)

    def _grow(self, segment, stream):
        if segment.sequence != stream[0] & 0xffffffff:
            return
        stream[0] += len(segment.payload)
        known = self.openings[segment.target]
        if not stream[1] and len(known) < MAX_OPENINGS:
            known.append(stream[1])
        stream[1] += segment.payload
        if len(stream[1]) > MAX_OPENING:
            del self._growing[segment.flow()]

    def end_recording(self):
        self._listening = False

    def connections(self):
        return list(self.next_sequence.items())

    def mac_of(self, address):
        return self.macs.get(address)

    def put(self, data):
        self._out.send(data)
