package trigon.handshake.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import trigon.verbs.LinkKind;

class ListenHandleTest {

    private static final byte[] SECRET = {9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final RandomMessages messages = new RandomMessages(random);

    @Test
    void readsWhatItWrote() throws UnknownHostException {
        for (int i = 0; i < 5_000; i++) {
            ListenHandle handle = handle();

            assertThat(ListenHandle.ofBytes(handle.toBytes()))
                    .as("seed %d", seed)
                    .isEqualTo(handle);
        }
    }

    @Test
    void writesTheDocumentedBytes() throws UnknownHostException {
        ListenHandle handle = new ListenHandle(
                new ConnectionId(0x0102030405060708L),
                new ConnectionSecret(OpaqueBytes.of(SECRET)),
                OptionalInt.empty(),
                0x11223344,
                List.of(link("10.0.1.2", 24, 0x1234, EnumSet.of(LinkKind.RDMA)), link("fe80::1", 64, 1, both())),
                5,
                0x7a0b);
        byte[] expected = new byte[128];
        byte[] head = {
            'T',
            'r',
            'g',
            'H',
            4,
            0,
            -1,
            -1,
            0x11,
            0x22,
            0x33,
            0x44,
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            14,
            15,
            16,
            17,
            18,
            19,
            20,
            21,
            22,
            23,
            24,
            2,
            5,
            0x7a,
            0x0b,
            0x7d,
            24,
            0x12,
            0x34,
            10,
            0,
            1,
            2,
            (byte) 0xff,
            64,
            0,
            1,
            (byte) 0xfe,
            (byte) 0x80
        };
        System.arraycopy(head, 0, expected, 0, head.length);
        expected[67] = 1;

        assertThat(handle.toBytes()).isEqualTo(expected);
    }

    @Test
    void takesAsManyLinksAsFitAndCountsTheOthers() throws UnknownHostException {
        List<LinkAddress> ipv4 = new ArrayList<>();
        List<LinkAddress> ipv6 = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            ipv4.add(link("10.0." + i / 250 + "." + i % 250, 24, 4711, both()));
            ipv6.add(link("2001:db8::" + i, 64, 4711, both()));
        }

        assertThat(fitting(ipv4.subList(0, 10)).linksLeftOut()).isZero();
        assertThat(fitting(ipv4.subList(0, 11)))
                .returns(ipv4.subList(0, 10), ListenHandle::links)
                .returns(1, ListenHandle::linksLeftOut);
        assertThat(fitting(ipv6.subList(0, 6)))
                .returns(ipv6.subList(0, 4), ListenHandle::links)
                .returns(2, ListenHandle::linksLeftOut);
        assertThat(fitting(ipv4).linksLeftOut()).isEqualTo(255);
        assertThat(ListenHandle.ofBytes(fitting(ipv4.subList(0, 11)).toBytes()).linksLeftOut())
                .isEqualTo(1);
    }

    @Test
    void leavesThePrivateStateToTheConnectingSide() throws UnknownHostException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(ListenHandle.BYTES + 8);
            memory.fill((byte) 0x5A);
            ListenHandle handle = handle();

            handle.writeTo(memory.address());
            assertThat(ListenHandle.privateState(memory.address())).isZero();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, ListenHandle.BYTES)).isEqualTo((byte) 0x5A);

            ListenHandle.setPrivateState(memory.address(), -2);
            assertThat(ListenHandle.privateState(memory.address())).isEqualTo(-2);
            assertThat(ListenHandle.readFrom(memory.address())).isEqualTo(handle);
        }
    }

    @Test
    void saysThatThePeerDoesNotRunTrigon() {
        byte[] ofAnotherNetwork = new byte[128];
        ofAnotherNetwork[0] = 2; // a sockaddr_in, which is what NCCL's own networks begin with
        ofAnotherNetwork[4] = 10;

        assertThatThrownBy(() -> ListenHandle.ofBytes(ofAnotherNetwork))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("not made by Trigon")
                .hasMessageContaining("NCCL_NET=Trigon");
    }

    @Test
    void namesBothVersions() throws UnknownHostException {
        byte[] bytes = handle().toBytes();
        bytes[Integer.BYTES] = 1; // behind the magic

        assertThatThrownBy(() -> ListenHandle.ofBytes(bytes))
                .isInstanceOf(HandshakeException.class)
                .hasMessageContaining("version 4")
                .hasMessageContaining("version 1")
                .hasMessageContaining("NCCL_NET=Trigon");
    }

    @Test
    void damagedHandlesAreReadOrRefused() throws UnknownHostException {
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = handle().toBytes();
            if (random.nextBoolean()) {
                bytes = Arrays.copyOf(bytes, random.nextInt(300));
            }
            for (int flips = random.nextInt(8); flips >= 0 && bytes.length > 8; flips--) {
                bytes[8 + random.nextInt(bytes.length - 8)] = (byte) random.nextInt();
            }
            try {
                ListenHandle.ofBytes(bytes);
            } catch (HandshakeException e) {
                assertThat(e.kind()).as("seed %d", seed).isEqualTo(HandshakeException.Kind.PROTOCOL);
            }
        }
    }

    @Test
    void neverPrintsItsSecret() throws UnknownHostException {
        ListenHandle handle = handle();
        HexFormat hex = HexFormat.of();
        String secret = hex.formatHex(handle.secret().value().toArray());

        assertThat(handle.toString()).contains("16 bytes, not shown").doesNotContainIgnoringCase(secret);
        assertThat(handle.secret().toString()).doesNotContainIgnoringCase(secret);
        assertThat(handle.toString())
                .doesNotContain(Arrays.toString(handle.secret().value().toArray()));
    }

    private ListenHandle handle() throws UnknownHostException {
        return new ListenHandle(
                messages.connection(),
                messages.secret(),
                messages.index(),
                random.nextInt(),
                messages.links(),
                random.nextInt(256),
                random.nextInt(1 << Short.SIZE));
    }

    private ListenHandle fitting(List<LinkAddress> links) {
        return ListenHandle.fitting(messages.connection(), messages.secret(), OptionalInt.of(1), 2, links);
    }

    private static EnumSet<LinkKind> both() {
        return EnumSet.allOf(LinkKind.class);
    }

    private static LinkAddress link(String address, int prefixLength, int port, EnumSet<LinkKind> kinds)
            throws UnknownHostException {
        return new LinkAddress(InetAddress.getByName(address), prefixLength, port, kinds);
    }
}
