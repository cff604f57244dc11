package trigon.verbs;

/**
 * An entry of a port's GID table ({@code struct ibv_gid_entry}).
 *
 * @param index position in the table, which a queue pair's address vector refers to
 * @param gid the identifier
 * @param type how packets with this source GID are encapsulated
 * @param interfaceIndex index of the network interface behind it; 0 if there is none
 */
public record GidEntry(int index, Gid gid, Type type, int interfaceIndex) {

    /** {@code enum ibv_gid_type}. */
    public enum Type {
        INFINIBAND,
        ROCE_V1,
        ROCE_V2
    }
}
