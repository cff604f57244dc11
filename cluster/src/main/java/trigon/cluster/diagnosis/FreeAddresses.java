package trigon.cluster.diagnosis;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.system.InterfaceAddress;

/**
 * Addresses that no interface of any node has, for the plan as for the doctor. What has been given once is taken from
 * then on. One thread.
 */
public final class FreeAddresses {

    /** Second byte of 10.77.0.0/16, where new subnets are unless the user wants another one. */
    public static final int USUAL_BASE = 77;

    private static final int BLOCK = 1 << 16;
    private static final int NEAR = 256;
    private static final int LAST = Integer.BYTES;

    private final List<InterfaceAddress> taken;

    /** Those that are none of these, and in none of their subnets. */
    public FreeAddresses(Stream<InterfaceAddress> taken) {
        this.taken = new ArrayList<>(taken.toList());
    }

    /** Another address in that subnet, with its prefix: the next one, or the nearest that is free. */
    public Optional<InterfaceAddress> beside(InterfaceAddress address) {
        Optional<InterfaceAddress> free = IntStream.range(1, NEAR)
                .flatMap(distance -> IntStream.of(distance, -distance))
                .mapToObj(distance -> after(address, distance, address.prefixLength()))
                .filter(each -> address.contains(each.address())
                        && each.flaw().isEmpty()
                        && taken.stream().noneMatch(other -> other.address().equals(each.address())))
                .findFirst();
        free.ifPresent(taken::add);
        return free;
    }

    /** The first of some subnets that has nothing to do with any other; empty if all have. */
    Optional<List<InterfaceAddress>> fresh(Stream<List<InterfaceAddress>> subnets) {
        Optional<List<InterfaceAddress>> free = subnets.filter(this::areFree).findFirst();
        free.ifPresent(taken::addAll);
        return free;
    }

    /** Tells whether a subnet has nothing to do with any other. */
    public boolean areFree(List<InterfaceAddress> subnet) {
        return subnet.stream().noneMatch(this::isNearAnother);
    }

    private boolean isNearAnother(InterfaceAddress candidate) {
        return taken.stream()
                .anyMatch(other -> candidate.contains(other.address()) || other.contains(candidate.address()));
    }

    /** Subnets of 10.BASE.0.0/16 in their order, each by its first addresses. */
    public static Stream<List<InterfaceAddress>> subnets(int base, int prefix, int count) {
        return subnets(InterfaceAddress.parse("10.%d.0.0/16".formatted(base)), prefix, count);
    }

    /** Subnets of IPv4 from that address on, as long as they are in its subnet. */
    static Stream<List<InterfaceAddress>> subnets(InterfaceAddress first, int prefix, int count) {
        int size = 1 << (Integer.SIZE - prefix);
        return IntStream.range(0, BLOCK / size)
                .map(number -> number * size)
                .takeWhile(offset -> first.contains(after(first, offset, prefix).address()))
                .mapToObj(offset -> hosts(after(first, offset, prefix), count));
    }

    /** The first addresses of a subnet that starts there. */
    static List<InterfaceAddress> hosts(InterfaceAddress start, int count) {
        int first = start.prefixLength() == Integer.SIZE - 1 ? 0 : 1; // RFC 3021: both are hosts'
        return IntStream.range(first, first + count)
                .mapToObj(host -> after(start, host, start.prefixLength()))
                .toList();
    }

    /** The address that is so far behind. */
    private static InterfaceAddress after(InterfaceAddress from, int distance, int prefix) {
        byte[] bytes = from.address().getAddress();
        ByteBuffer last = ByteBuffer.wrap(bytes, bytes.length - LAST, LAST).slice();
        last.putInt(0, last.getInt(0) + distance);
        return new InterfaceAddress(InterfaceAddress.ofBytes(bytes), prefix);
    }
}
