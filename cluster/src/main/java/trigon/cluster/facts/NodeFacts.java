package trigon.cluster.facts;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import trigon.cluster.json.JsonObject;
import trigon.system.InterfaceAddress;

/**
 * What a node has said of itself, in the schema {@code trigon.node/1}. What is missing is empty: the node may have
 * another version, whose other facts stay in the JSON. Immutable.
 *
 * @param json all of it
 */
public record NodeFacts(JsonObject json) {

    private static final Pattern DGX_SPARK = Pattern.compile("DGX[ _-]Spark");

    /** Of a node that has said nothing. */
    public static final NodeFacts NONE = new NodeFacts(JsonObject.EMPTY);

    /** With the counters of later ones. */
    public NodeFacts withCountersOf(NodeFacts after) {
        Map<String, Object> both = new LinkedHashMap<>(json.values());
        both.put("interfacesAfter", after.json.values().getOrDefault("interfaces", List.of()));
        both.put("rdmaPortsAfter", after.json.values().getOrDefault("rdmaPorts", List.of()));
        return new NodeFacts(new JsonObject(both));
    }

    public String version() {
        return json.text("version");
    }

    public String host() {
        return json.text("host");
    }

    /** As Java calls it. */
    public String architecture() {
        return json.text("architecture");
    }

    /** The model of the machine, as its firmware says; empty if it says nothing. */
    public String machine() {
        return json.text("machine");
    }

    /** True for a DGX Spark, and for other makers' machines with its board, which have its GPU. */
    public boolean isDgxSpark() {
        return DGX_SPARK.matcher(machine()).find() || gpus().stream().anyMatch(Gpu::isOfDgxSpark);
    }

    public long clockMillis() {
        return json.whole("clockMillis");
    }

    public List<Nic> interfaces() {
        return json.objects("interfaces").stream().map(Nic::new).toList();
    }

    /** The same after the links were tried. */
    public List<Nic> interfacesAfter() {
        return json.objects("interfacesAfter").stream().map(Nic::new).toList();
    }

    public Optional<Nic> interfaceNamed(String name) {
        return interfaces().stream().filter(nic -> nic.name().equals(name)).findFirst();
    }

    /** The one that has an address. */
    public Optional<Nic> interfaceOf(InterfaceAddress address) {
        return interfaces().stream()
                .filter(nic -> nic.addresses().stream()
                        .anyMatch(each -> InterfaceAddress.parse(each).address().equals(address.address())))
                .findFirst();
    }

    /** Those to containers or virtual machines, without a cable. */
    public List<String> innerInterfaces() {
        return json.texts("innerInterfaces");
    }

    /**
     * Whether an interface leads to no other machine, as bridges of containers do, which are links where nothing else
     * is. What a file lists is what it is meant to be.
     */
    public boolean isInner(String name) {
        return !isListed() && innerInterfaces().contains(name);
    }

    /** Whether a file lists this node. */
    public boolean isListed() {
        return json.find("clusterNode").isPresent();
    }

    /** Its name in the file; empty if no file lists it. */
    public String clusterNode() {
        return json.text("clusterNode");
    }

    public List<Link> links() {
        return json.objects("links").stream().map(Link::new).toList();
    }

    public List<LeftOut> leftOut() {
        return json.objects("leftOut").stream().map(LeftOut::new).toList();
    }

    public List<String> problems() {
        return json.texts("problems");
    }

    public List<String> unknownVariables() {
        return json.texts("unknownVariables");
    }

    public List<RdmaPort> rdmaPorts() {
        return json.objects("rdmaPorts").stream().map(RdmaPort::new).toList();
    }

    /** The same after the links were tried. */
    public List<RdmaPort> rdmaPortsAfter() {
        return json.objects("rdmaPortsAfter").stream().map(RdmaPort::new).toList();
    }

    /** Why there is no RDMA. */
    public Optional<String> noRdma() {
        return json.find("noRdma");
    }

    /** Devices in {@code /dev/infiniband} that this user may open. */
    public List<String> usableDevices() {
        return json.object("rdmaDevices").texts("usable");
    }

    /** And those that it may not. */
    public List<String> refusedDevices() {
        return json.object("rdmaDevices").texts("refused");
    }

    public Limits limits() {
        return new Limits(json.object("limits"));
    }

    /** Variables of NCCL, Trigon and others, by name. */
    public JsonObject environment() {
        return json.object("environment");
    }

    public List<NcclFile> ncclFiles() {
        return json.objects("ncclFiles").stream().map(NcclFile::new).toList();
    }

    /** Plugins that NCCL is told to load, and that are not there. */
    public List<String> missingPlugins() {
        return json.texts("missingPlugins");
    }

    /** Settings of the plugin with their sources, a line each. */
    public List<String> settings() {
        return json.texts("settings");
    }

    public String clusterFingerprint() {
        return json.text("clusterFingerprint");
    }

    public long topologyPort() {
        return json.whole("topologyPort");
    }

    /** Interfaces of default routes. */
    public List<String> defaultRoutes() {
        return json.texts("defaultRoutes");
    }

    /** The address to which the user has logged in; empty if it is not known. */
    public String loginAddress() {
        return json.text("loginAddress");
    }

    /** Interfaces that could have link-local addresses, had they not IPv6 switched off. */
    public List<String> interfacesWithoutIpv6() {
        return json.texts("interfacesWithoutIpv6");
    }

    /** The loopback address that this node's own name has there; empty if it has another one. */
    public String loopbackName() {
        return json.text("loopbackName");
    }

    /**
     * The interface by which the kernel sends from an address to others in its subnet; empty where it is not known.
     */
    public String interfaceToNeighbours(InterfaceAddress address) {
        return json.object("interfacesToNeighbours").text(address.toString());
    }

    /** The program that manages the firewall: ufw, firewalld, nftables, iptables, or empty where none is known. */
    public String firewallManager() {
        return json.object("firewall").text("manager");
    }

    /** What the program's commands need: nftables' chain, or the command that keeps rules of iptables. */
    public String firewallDetail() {
        return json.object("firewall").text("detail");
    }

    /** Of an interface; 0 where it is not known. */
    public long reversePathFilter(String name) {
        return json.object("reversePathFilter").whole(name);
    }

    /** Whether NICs are not to read and write memory of GPUs. */
    public boolean isGpuMemoryOff() {
        String use = json.text("gpuMemoryUse");
        return use.isEmpty() || use.equals("off");
    }

    public List<Gpu> gpus() {
        return json.objects("gpus").stream().map(Gpu::new).toList();
    }

    /** Whether NVIDIA's driver is known to be the closed one. */
    public boolean hasClosedGpuDriver() {
        return json.object("gpuDriver").isFalse("open");
    }

    public String gpuDriverVersion() {
        return json.object("gpuDriver").text("version");
    }

    /** As it is seen from the GPUs; empty if it is no PCI function. */
    public Optional<GpuNic> gpuNic(String device) {
        return json.object("gpuNics").values().containsKey(device)
                ? Optional.of(new GpuNic(json.object("gpuNics").object(device)))
                : Optional.empty();
    }
}
