package trigon.verbs.ffm.struct;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import trigon.verbs.AddressVector;
import trigon.verbs.QueuePairAttribute;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.ffm.generated.ibv_ah_attr;
import trigon.verbs.ffm.generated.ibv_global_route;
import trigon.verbs.ffm.generated.ibv_qp_attr;

/** Writes the attributes of a queue pair as {@code struct ibv_qp_attr}. */
public final class QueuePairAttributeStruct {

    private QueuePairAttributeStruct() {}

    /** The struct; what is not in the mask is 0, and not looked at by {@code ibv_modify_qp(3)}. */
    public static MemorySegment of(QueuePairAttributes attributes, SegmentAllocator memory) {
        MemorySegment struct = ibv_qp_attr.allocate(memory).fill((byte) 0);
        ibv_qp_attr.qp_state(struct, attributes.state().code());
        ibv_qp_attr.path_mtu(struct, attributes.pathMtu().code());
        ibv_qp_attr.rq_psn(struct, attributes.receivePsn());
        ibv_qp_attr.sq_psn(struct, attributes.sendPsn());
        ibv_qp_attr.dest_qp_num(struct, attributes.destinationNumber());
        ibv_qp_attr.qp_access_flags(struct, attributes.accessFlags());
        ibv_qp_attr.pkey_index(struct, unsignedShort(attributes.pkeyIndex()));
        ibv_qp_attr.max_rd_atomic(struct, unsignedByte(attributes.maxReadAtomic()));
        ibv_qp_attr.max_dest_rd_atomic(struct, unsignedByte(attributes.maxDestinationReadAtomic()));
        ibv_qp_attr.min_rnr_timer(struct, unsignedByte(attributes.minRnrTimer()));
        ibv_qp_attr.port_num(struct, unsignedByte(attributes.port()));
        ibv_qp_attr.timeout(struct, unsignedByte(attributes.timeout()));
        ibv_qp_attr.retry_cnt(struct, unsignedByte(attributes.retryCount()));
        ibv_qp_attr.rnr_retry(struct, unsignedByte(attributes.rnrRetry()));
        if (attributes.mask().contains(QueuePairAttribute.ADDRESS_VECTOR)) {
            write(attributes.addressVector(), ibv_qp_attr.ah_attr(struct));
        }
        return struct;
    }

    private static void write(AddressVector vector, MemorySegment struct) {
        ibv_ah_attr.is_global(struct, (byte) 1);
        ibv_ah_attr.dlid(struct, unsignedShort(vector.destinationLid()));
        ibv_ah_attr.sl(struct, unsignedByte(vector.serviceLevel()));
        ibv_ah_attr.port_num(struct, unsignedByte(vector.port()));
        MemorySegment route = ibv_ah_attr.grh(struct);
        ibv_global_route
                .dgid(route)
                .copyFrom(MemorySegment.ofArray(vector.destination().toBytes()));
        ibv_global_route.sgid_index(route, unsignedByte(vector.sourceGidIndex()));
        ibv_global_route.hop_limit(route, unsignedByte(vector.hopLimit()));
        ibv_global_route.traffic_class(route, unsignedByte(vector.trafficClass()));
    }

    private static byte unsignedByte(int value) {
        return (byte) requireBits(value, Byte.SIZE);
    }

    private static short unsignedShort(int value) {
        return (short) requireBits(value, Short.SIZE);
    }

    /** Cutting a value to the field's width would set another one, for example another GID index. */
    private static int requireBits(int value, int bits) {
        if (value >>> bits != 0) {
            throw new IllegalArgumentException("%d does not fit the %d bits of its field".formatted(value, bits));
        }
        return value;
    }
}
