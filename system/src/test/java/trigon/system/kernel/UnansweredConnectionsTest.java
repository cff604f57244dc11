package trigon.system.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnansweredConnectionsTest {

    private static final String TCP = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 020CC90A:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1523 1
               1: 020CC90A:1F90 010CC90A:C001 04 00000100:00000000 01:00000C3A 00000006     0        0 1524 1
               2: 020CC90A:1F90 010CC90A:C002 01 00000100:00000000 01:00000014 00000001     0        0 1525 1
               3: 020CC90A:1F90 010CC90A:C003 01 00010000:00000000 04:00000F00 00000009     0        0 1526 9
               4: 020CC90A:1F90 010CC90A:C004 01 00000000:00000000 02:00000F00 00000000     0        0 1527 1
               5: 020CC90A:1F90 010CC90A:C007 01 00010000:00000000 04:00000F00 00000000     0        6 1530 1
            """;

    private static final String TCP6 = """
              sl  local_address                         remote_address                        st tx_queue rx_queue tr
               0: 0000000000000000FFFF0000020CC90A:1F91 0000000000000000FFFF0000010CC90A:C005 01 00000001:00000000 \
            01:00000014 0000000A     0        0 1528 1
               1: 000080FE000000000000000001000000:1F92 000080FE000000000000000002000000:C006 01 00000001:00000000 \
            01:00000014 00000006     0        0 1529 1
               2: what is this
            """;

    @TempDir
    Path tables;

    /**
     * Not a receiver that does not read, which answers probes of its window, nor an idle connection that is kept alive;
     * but one whose probes nobody answers.
     */
    @Test
    void areThoseThatAreSentAgainAndAgain() throws IOException {
        assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN);
        Files.writeString(tables.resolve("tcp"), TCP);
        Files.writeString(tables.resolve("tcp6"), TCP6);

        assertThat(UnansweredConnections.read(tables, 6))
                .containsExactlyInAnyOrder(
                        new TcpEnds(at("10.201.12.2", 0x1F90), at("10.201.12.1", 0xC001)),
                        new TcpEnds(at("10.201.12.2", 0x1F90), at("10.201.12.1", 0xC007)),
                        new TcpEnds(at("10.201.12.2", 0x1F91), at("10.201.12.1", 0xC005)),
                        new TcpEnds(at("fe80::1", 0x1F92), at("fe80::2", 0xC006)));
    }

    /** Leaves out what is idle, and what listens. */
    @Test
    void whatHasNotArrivedIsFound() throws IOException {
        assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN);
        Files.writeString(tables.resolve("tcp"), TCP);

        assertThat(UnansweredConnections.readUnacknowledged(tables))
                .extracting(ends -> ends.remote().getPort())
                .containsExactlyInAnyOrder(0xC001, 0xC002, 0xC003, 0xC007);
    }

    @Test
    void thisMachinesTablesAreRead() throws IOException {
        assertThat(UnansweredConnections.read(Integer.MAX_VALUE)).isEmpty();
        assertThat(UnansweredConnections.readUnacknowledged()).isNotNull();
    }

    private static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }
}
