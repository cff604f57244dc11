"""What a stranger does who has read the source and sits on the cables. Each attack does one small thing in a turn."""

import collections
import random
import socket
import threading
import time

import announcements
import packets

GROUP = "239.192.84.71"
OPEN_AT_ONCE = 60  # connections of each attack that wait for what becomes of them
SLOW_AT_ONCE = 200
STRANGERS = 48  # addresses that nobody has


class Ground:
    """The cables, and the ports that the nodes listen at: pairs of address and port."""

    def __init__(self, cables, tcp, udp):
        self.cables = cables
        self.tcp = tcp
        self.udp = udp

    def cable_to(self, address):
        return next(cable for cable in self.cables if address in cable.nodes)

    def opening(self, target):
        """What a client has said to that port, or, where none has, to another one."""
        own = self.cable_to(target[0]).openings.get(target)
        known = own or [each for cable in self.cables for those in cable.openings.values() for each in those]
        return bytes(random.choice(known)) if known else b""


class Attack(threading.Thread):

    def __init__(self, ground, per_second):
        super().__init__(name=type(self).__name__, daemon=True)
        self.ground = ground
        self.pause = 1 / per_second
        self.done = 0
        self.failed = collections.Counter()
        self.over = threading.Event()
        self.sockets = collections.deque()

    def run(self):
        due = time.monotonic()
        while not self.over.is_set():
            try:
                self.turn()
                self.done += 1
            except OSError as e:
                self.failed[e.strerror or str(e)] += 1
            due = max(due + self.pause, time.monotonic() - 1)
            self.over.wait(max(0.0, due - time.monotonic()))
        for each in self.sockets:
            each.close()

    def turn(self):
        raise NotImplementedError

    def connect(self, target):
        if len(self.sockets) >= OPEN_AT_ONCE:
            self.sockets.popleft().close()
        connection = socket.socket()
        connection.settimeout(2)
        self.sockets.append(connection)
        connection.connect(target)
        return connection

    def say(self, text, target):
        """Sends a datagram from the own address on the target's cable."""
        cable = self.ground.cable_to(target[0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(cable.address))
            sender.bind((cable.address, 0))
            sender.sendto(text, random.choice((target, (GROUP, target[1]))))

    def any_datagram(self):
        known = [each for cable in self.ground.cables for each in cable.datagrams]
        return random.choice(known) if known else (("0.0.0.0", 0), ("0.0.0.0", 0), b"")


def damaged(text):
    """The same with a byte changed, missing, or more."""
    at = random.randrange(len(text) + 1)
    how = random.randrange(3)
    if how == 0:
        return text[:at]
    if how == 1:
        return text[:at] + random.randbytes(random.randrange(1, 9)) + text[at:]
    return text[:at] + bytes([random.randrange(256)]) + text[at + 1:]


class GarbageConnections(Attack):

    def turn(self):
        self.connect(random.choice(self.ground.tcp)).sendall(random.randbytes(random.randrange(2048)))


class HalfRightConnections(Attack):

    def turn(self):
        target = random.choice(self.ground.tcp)
        self.connect(target).sendall(damaged(self.ground.opening(target)))


class ReplayedConnections(Attack):
    """Handshakes, preambles of data connections, requests for circuits."""

    def turn(self):
        target = random.choice(self.ground.tcp)
        self.connect(target).sendall(self.ground.opening(target))


class SlowConnections(Attack):
    """Some that say nothing, and others a byte now and then."""

    def turn(self):
        if len(self.sockets) < SLOW_AT_ONCE:
            connection = socket.socket()
            self.sockets.append(connection)
            connection.settimeout(2)
            connection.connect(random.choice(self.ground.tcp))
            return
        connection = self.sockets.popleft()
        try:
            connection.send(self.ground.opening(connection.getpeername())[:1])
            self.sockets.append(connection)
        except OSError:
            connection.close()  # it was thrown out, which makes room for another one


class GarbageDatagrams(Attack):

    def turn(self):
        self.say(random.randbytes(random.randrange(1400)), random.choice(self.ground.udp))


class HalfRightDatagrams(Attack):

    def turn(self):
        self.say(damaged(self.any_datagram()[2]), random.choice(self.ground.udp))


class ReplayedDatagrams(Attack):
    """From the own address, and as if they came from who has sent them first."""

    def turn(self):
        source, _, payload = self.any_datagram()
        target = random.choice(self.ground.udp)
        cable = self.ground.cable_to(target[0])
        mac = cable.mac_of(target[0])
        if mac is None or source[0] not in cable.nodes or random.random() < 0.5:
            self.say(payload, target)
        else:
            cable.put(packets.udp((cable.own_mac, mac), source, target, payload))


class ForgedTopologies(Attack):
    """Nodes that are not there, better ways through the attacker, other words of nodes that are, other clocks."""

    def turn(self):
        target = random.choice(self.ground.udp)
        how = random.randrange(4)
        if how == 0:
            self.say(announcements.datagram([self.stranger(target) for _ in range(random.randrange(1, 8))]), target)
        elif how == 1:
            self.say(announcements.datagram([self.better_way()]), target)
        elif how == 2:
            self.say(announcements.datagram([self.stranger(target, age=random.choice((-7200, 7200)))]), target)
        else:
            self.impersonate(target)

    def stranger(self, target, age=0):
        cable = self.ground.cable_to(target[0])
        links = [announcements.link(cable.address, 1 + random.randrange(65535), 400000, list(cable.nodes))]
        for _ in range(random.randrange(8)):
            links.append(announcements.link(socket.inet_ntoa(random.randbytes(4)), 1, 1, [], crowded=True))
        return announcements.record(random.getrandbits(64), random.getrandbits(40), random.getrandbits(64),
                                    b"stranger%d" % random.randrange(10000), links, age)

    def better_way(self):
        links = [announcements.link(each.address, 1 + random.randrange(65535), 400000, list(each.nodes))
                 for each in self.ground.cables]
        return announcements.record(4711, int(time.time() * 1000), 4711, b"better", links)

    def impersonate(self, target):
        """Who has announced himself on this cable says now, from his own address, that he relays at another port."""
        cable = self.ground.cable_to(target[0])
        mac = cable.mac_of(target[0])
        source, _, payload = self.any_datagram()
        if mac is None or source[0] not in cable.nodes or source[0] == target[0]:
            return
        links = [announcements.link(source[0], random.randrange(65536), 1, [target[0]])]
        forged = [announcements.record(instance, sequence + (1 << 40) + self.done, node, b"other", links)
                  for instance, sequence, node in announcements.heads(payload)]
        if forged:
            cable.put(packets.udp((cable.own_mac, mac), source, target, announcements.datagram(forged[:4])))


class SynFlood(Attack):
    """From addresses that nobody has, and, for connections that are open, from their other end."""

    def turn(self):
        target = random.choice(self.ground.tcp)
        cable = self.ground.cable_to(target[0])
        source = (target[0].rsplit(".", 1)[0] + ".%d" % random.randrange(100, 100 + STRANGERS),
                  random.randrange(1024, 65536))
        open_now = cable.connections()
        if open_now and random.random() < 0.2:
            flow = random.choice(open_now)[0]
            source, target = flow[:2], flow[2:]
        mac = cable.mac_of(target[0])
        if mac is not None:
            cable.put(packets.tcp((cable.own_mac, mac), source, target, random.getrandbits(32), packets.SYN))


class WrongResets(Attack):
    """Of connections that are open, with numbers that are behind, far off, or within the window but not right."""

    def turn(self):
        cable = random.choice(self.ground.cables)
        open_now = cable.connections()
        if not open_now:
            return
        flow, sequence = random.choice(open_now)
        mac = cable.mac_of(flow[2])
        off = random.choice((-1, -random.randrange(1, 60000), 1 << 31, random.randrange(30000, 60000)))
        if mac is not None:
            cable.put(packets.tcp((cable.own_mac, mac), flow[:2], flow[2:], sequence + off, packets.RST))


class RightResets(Attack):
    """Each cuts a connection, if nothing else is under way there."""

    def __init__(self, ground, per_second):
        super().__init__(ground, per_second)
        self.allowed = threading.Semaphore(0)
        for cable in ground.cables:
            cable.on_segment = self.on_segment

    def turn(self):
        self.allowed.release()

    def on_segment(self, cable, segment):
        mac = cable.mac_of(segment.target[0])
        if mac is None or segment.flags & (packets.SYN | packets.FIN | packets.RST):
            return
        if segment.payload and self.allowed.acquire(blocking=False):
            after = segment.sequence + len(segment.payload)
            cable.put(packets.tcp((cable.own_mac, mac), segment.source, segment.target, after, packets.RST))


ALL = {
    "garbage-connections": (GarbageConnections, 100),
    "half-right-connections": (HalfRightConnections, 100),
    "replayed-connections": (ReplayedConnections, 100),
    "slow-connections": (SlowConnections, 100),
    "garbage-datagrams": (GarbageDatagrams, 500),
    "half-right-datagrams": (HalfRightDatagrams, 300),
    "replayed-datagrams": (ReplayedDatagrams, 300),
    "forged-topologies": (ForgedTopologies, 300),
    "syn-flood": (SynFlood, 300),
    "wrong-resets": (WrongResets, 300),
}
CUTS = {"right-resets": (RightResets, 0.5)}
