package trigon.cluster.diagnosis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import trigon.cluster.json.Json;
import trigon.cluster.probe.Observations.Clock;
import trigon.cluster.probe.Observations.Heard;

/** What is to be seen wrong, by the code of its finding, planted into what an examination of a triangle has seen. */
final class PlantedFindings {

    private static final Map<String, Consumer<Nodes>> FAULTS = new LinkedHashMap<>();

    static {
        FAULTS.put("settings-wrong", n -> Nodes.texts(n.node("a"), "problems").add("links is xx"));
        FAULTS.put("unknown-variable", n -> n.node("a").put("unknownVariables", List.of("that is no setting")));
        FAULTS.put(
                "table-stale",
                n -> n.node("b").put("tunedTable", Json.object("file", "/t.o", "nccl", "2.28.9", "ncclNow", "2.30.7")));
        FAULTS.put(
                "prefix-not-the-files",
                n -> Nodes.list(n.node("b"), "leftOut")
                        .add(Json.object("name", "if1b", "why", "the file's prefix", "weight", "suspect")));
        FAULTS.put("no-carrier", n -> n.nic("a", 0).put("carrier", false));
        FAULTS.put("interface-down", n -> {
            n.nic("a", 0).put("state", "down");
            n.nic("a", 0).remove("carrier");
        });
        for (String state : List.of("failed", "tentative", "deprecated")) {
            FAULTS.put("address-" + state, n -> n.nic("a", 0).put("addressStates", Json.object("fd00:9::1/64", state)));
        }
        FAULTS.put("host-name-loopback", n -> n.node("b").put("loopbackName", "127.0.1.1"));
        FAULTS.put("half-duplex", n -> n.nic("c", 1).put("duplex", "half"));
        FAULTS.put("pcie-reduced", n -> Nodes.object(n.nic("c", 1), "pci").put("negotiated", "16 GT/s x4"));
        FAULTS.put(
                "errors-counted",
                n -> n.node("a")
                        .put(
                                "interfacesAfter",
                                List.of(Json.object("name", "if1a", "counters", Json.object("rx_errors", 17)))));
        FAULTS.put("no-dev-infiniband", n -> rdma(n, "ACTIVE", "RoCE v2", List.of(), List.of()));
        FAULTS.put("rdma-device-refused", n -> rdma(n, "ACTIVE", "RoCE v2", List.of(), List.of("uverbs0")));
        FAULTS.put("rdma-library", n -> {
            rdma(n, "ACTIVE", "RoCE v2", List.of("uverbs0"), List.of());
            n.node("a").put("noRdma", "libibverbs.so.1 is not there");
        });
        FAULTS.put("rdma-port-down", n -> rdma(n, "DOWN", "RoCE v2", List.of("uverbs0"), List.of()));
        FAULTS.put("rdma-interface-elsewhere", n -> {
            rdma(n, "ACTIVE", "RoCE v2", List.of("uverbs0"), List.of());
            Nodes.list(n.node("a"), "rdmaPorts").getFirst().put("interfaces", List.of("enp220s0f0"));
        });
        FAULTS.put("no-roce-v2-gid", n -> rdma(n, "ACTIVE", "RoCE v1", List.of("uverbs0"), List.of()));
        FAULTS.put("memlock-low", n -> {
            rdma(n, "ACTIVE", "RoCE v2", List.of("uverbs0"), List.of());
            Nodes.object(n.node("a"), "limits").put("lockedBytes", "8388608");
        });
        FAULTS.put("open-files-low", n -> Nodes.object(n.node("b"), "limits").put("openFiles", "256"));
        FAULTS.put(
                "shared-memory-small", n -> Nodes.object(n.node("b"), "limits").put("sharedMemoryBytes", 67108864));
        FAULTS.put("tasks-few", n -> Nodes.object(n.node("b"), "limits").put("tasks", "64"));
        FAULTS.put(
                "nccl-net-other", n -> Nodes.object(n.node("b"), "environment").put("NCCL_NET", "Socket"));
        FAULTS.put(
                "nccl-plugin-other",
                n -> n.node("a")
                        .put(
                                "ncclFiles",
                                List.of(Json.object(
                                        "file",
                                        "/etc/nccl.conf",
                                        "settings",
                                        Json.object("NCCL_NET_PLUGIN", "none")))));
        FAULTS.put(
                "nccl-file-line",
                n -> n.node("a")
                        .put(
                                "ncclFiles",
                                List.of(Json.object(
                                        "file", "/etc/nccl.conf", "settings", Json.object("NCCL_NET ", " Trigon")))));
        FAULTS.put(
                "nccl-ib-disable", n -> Nodes.object(n.node("b"), "environment").put("NCCL_IB_DISABLE", "1"));
        FAULTS.put(
                "nccl-ib-setting", n -> Nodes.object(n.node("b"), "environment").put("NCCL_IB_GID_INDEX", "3"));
        FAULTS.put(
                "bootstrap-interface",
                n -> Nodes.object(n.node("c"), "environment").put("NCCL_SOCKET_IFNAME", "enP7s7"));
        FAULTS.put("node-silent", n -> n.silent.put("d", "ssh: connect to host d port 22: No route to host"));
        FAULTS.put("address-twice", n -> n.address("c", 0, "10.0.1.1/24"));
        FAULTS.put("prefix-differs", n -> n.address("b", 0, "10.0.1.2/28"));
        FAULTS.put("cable-elsewhere", n -> {
            n.heard.clear();
            n.heard.add(new Heard("a", "if1a", "c", "if2c"));
            n.heard.add(new Heard("c", "if2c", "a", "if1a"));
        });
        FAULTS.put("address-at-wrong-port", n -> {
            n.nic("b", 0).put("addresses", new ArrayList<>());
            Nodes.texts(n.nic("b", 1), "addresses").add("10.0.1.2/24");
            Nodes.list(n.node("b"), "links").getFirst().put("interface", "if3b");
            n.probes.keySet().removeIf(name -> name.contains("10.0.1."));
        });
        FAULTS.put("no-common-subnet", n -> {
            n.address("b", 0, "10.7.1.2/24");
            n.probes.keySet().removeIf(name -> name.contains("10.0.1."));
        });
        FAULTS.put("version-differs", n -> n.node("c").put("version", "1.1"));
        FAULTS.put("cluster-file-differs", n -> n.node("c").put("clusterFingerprint", "87654321"));
        FAULTS.put("settings-differ", n -> Nodes.texts(n.node("c"), "settings").set(0, "links: rdma (TRIGON_LINKS)"));
        FAULTS.put("clock", n -> n.clocks.set(1, new Clock("b", 90_000, 20)));
        FAULTS.put(
                "rdma-at-one-end",
                n -> Nodes.list(n.node("a"), "links").getFirst().put("kind", "rdma"));
        FAULTS.put("speed-differs", n -> {
            n.nic("b", 0).put("speedMbps", 10_000);
            n.probes(probe -> probe.put("rateMbps", 9_000_000));
        });
        FAULTS.put("route-elsewhere", n -> n.probes.values().iterator().next().put("source", "10.0.2.1"));
        FAULTS.put("tcp-refused", n -> failed(n, "refused"));
        FAULTS.put("tcp-blocked", n -> failed(n, "timeout"));
        FAULTS.put("no-neighbour", n -> {
            failed(n, "unreachable");
            first(n).put("neighbour", "no answer");
        });
        FAULTS.put("all-blocked", n -> {
            failed(n, "timeout");
            first(n).put("udp", "no answer");
            first(n).put("neighbour", "02:00:00:00:00:01");
        });
        FAULTS.put("no-answer", n -> {
            failed(n, "timeout");
            first(n).put("udp", "no answer");
        });
        FAULTS.put("data-wrong", n -> first(n).put("data", "wrong"));
        FAULTS.put("transfer-stuck", n -> first(n).put("data", "timeout"));
        FAULTS.put("mtu", n -> first(n).put("mtuArrives", 1500));
        FAULTS.put("udp-blocked", n -> first(n).put("udp", "no answer"));
        FAULTS.put("roce-port-blocked", n -> first(n).put("roceUdp", "no answer"));
        FAULTS.put("topology-port-blocked", n -> first(n).put("topologyUdp", "no answer"));
        FAULTS.put("packets-lost", n -> {
            first(n).put("datagrams", 100);
            first(n).put("datagramsLost", 24);
        });
        FAULTS.put("round-trip-long", n -> first(n).put("leastRoundTripMicros", 40_000));
        FAULTS.put("rdma-sent-again", n -> counted(n, "out_of_sequence"));
        FAULTS.put("congestion", n -> counted(n, "np_cnp_sent"));
        FAULTS.put("rdma-not-up", n -> {
            rdma(n, "not up").put("at", "a");
            rdma(n, "not up").put("failed", "INIT to READY_TO_RECEIVE");
            rdma(n, "not up").put("errno", "ETIMEDOUT");
        });
        FAULTS.put("rdma-no-acknowledgement", n -> rdma(n, "no acknowledgement").put("status", "RETRY_EXCEEDED"));
        FAULTS.put("rdma-write-failed", n -> rdma(n, "failed").put("status", "REMOTE_ACCESS_ERROR"));
        FAULTS.put("rdma-gateway-slow", n -> rdma(n, "right").put("burstMbps", 9_000));
        FAULTS.put("rdma-data-wrong", n -> rdma(n, "wrong").put("wrong", 17));
        FAULTS.put("address-missing", n -> {
            n.nic("b", 0).put("addresses", new ArrayList<>());
            Nodes.list(n.node("b"), "links").removeFirst();
            n.probes.keySet().removeIf(name -> name.contains("10.0.1."));
        });
        FAULTS.put("slow", n -> first(n).put("rateMbps", 10_000));
        FAULTS.put("interfaces-in-one-subnet", n -> {
            n.address("a", 1, "10.0.1.7/24");
            n.heard.clear();
        });
        FAULTS.put("twins-in-one-subnet", n -> {
            n.address("a", 1, "10.0.1.7/24");
            n.heard.clear();
            n.nic("a", 0).put("cable", "0x1 p0");
            n.nic("a", 1).put("cable", "0x1 p0");
        });
        FAULTS.put("nccl-plugin-missing", n -> {
            Nodes.object(n.node("b"), "environment").put("NCCL_NET_PLUGIN", "/opt/libnccl-net-trigon.so");
            n.node("b").put("missingPlugins", List.of("/opt/libnccl-net-trigon.so"));
        });
        FAULTS.put(
                "nccl-leftover", n -> Nodes.object(n.node("b"), "environment").put("NCCL_TOPO_FILE", "/etc/topo.xml"));
        FAULTS.put(
                "socket-interface",
                n -> Nodes.object(n.node("c"), "environment").put("GLOO_SOCKET_IFNAME", "eth0"));
        FAULTS.put(
                "bootstrap-cable", n -> Nodes.object(n.node("c"), "environment").put("NCCL_SOCKET_IFNAME", "if2c"));
        FAULTS.put("link-fails", n -> first(n).put("tcp", "no listener"));
        FAULTS.put("no-path", n -> {
            n.probes.keySet().removeIf(name -> name.startsWith("c ") || name.contains(" c "));
            n.heard.removeIf(each -> each.by().equals("c") || each.node().equals("c"));
        });
        FAULTS.put("no-addresses", PlantedFindings::withoutAddresses);
        FAULTS.put("no-link", n -> {
            Nodes.list(n.node("a"), "links").clear();
            n.heard.clear();
        });
        putFaultsOfGpus();
    }

    private static void putFaultsOfGpus() {
        FAULTS.put("gpu-memory-possible", n -> gpu(n, "off", "DMA-BUF"));
        FAULTS.put("gpu-memory-unsupported", n -> {
            gpu(n, "on", "DMA-BUF");
            Nodes.list(n.node("a"), "gpus").getFirst().put("model", "NVIDIA GB10");
        });
        FAULTS.put("peermem-missing", n -> gpu(n, "on", "no: ibv_reg_dmabuf_mr says EOPNOTSUPP"));
        FAULTS.put("gpu-driver-closed", n -> {
            gpu(n, "auto", "DMA-BUF");
            Nodes.object(n.node("a"), "gpuDriver").put("open", false);
        });
        FAULTS.put("iommu-translates", n -> {
            gpu(n, "on", "DMA-BUF");
            Nodes.list(n.node("a"), "gpus").getFirst().put("iommu", "DMA-FQ");
        });
        FAULTS.put("usb4-no-interface", n -> usb4(n, 2, List.of()));
        FAULTS.put("usb4-one-lane", n -> usb4(n, 1, List.of("if1a")));
        FAULTS.put("usb4-small-mtu", n -> {
            usb4(n, 2, List.of("if1a"));
            n.nic("a", 0).put("mtu", 1500);
            n.nic("b", 0).put("mtu", 1500);
        });
        FAULTS.put("usb4-no-provider", n -> usb4Rdma(n).put("unlisted", true));
        FAULTS.put("usb4-rdma-no-interface", n -> usb4Rdma(n).put("interfaces", List.of()));
        FAULTS.put("acs-redirects", n -> way(n).put("accessControl", "redirects"));
        FAULTS.put("gpu-far-from-nic", n -> way(n).put("distance", "PHB"));
    }

    static Map<String, Object> way(Nodes n) {
        gpu(n, "on", "DMA-BUF");
        return Nodes.list(Nodes.object(Nodes.object(n.node("a"), "gpuNics"), "mlx5_0"), "gpus")
                .getFirst();
    }

    /** All ends have RDMA, and a's NIC is below one switch with a GPU. */
    private static void usb4(Nodes n, int lanes, List<String> nics) {
        Map<String, Object> cable =
                Json.object("device", "0-1", "peer", "b", "lanes", lanes, "speedMbps", lanes * 20_000);
        nics.forEach(nic -> cable.put("interface", nic));
        n.node("a").put("usb4Cables", List.of(cable));
    }

    /** As the modules make it that carry RDMA over such cables. */
    static Map<String, Object> usb4Rdma(Nodes n) {
        rdma(n, "ACTIVE", "RoCE v2", List.of("uverbs0"), List.of());
        Map<String, Object> port = Nodes.list(n.node("a"), "rdmaPorts").getFirst();
        port.put("device", "usb4_rdma0");
        port.put("driver", "thunderbolt");
        return port;
    }

    static void gpu(Nodes n, String use, String reach) {
        rdma(n, "ACTIVE", "RoCE v2", List.of("uverbs0"), List.of());
        Nodes.list(n.node("a"), "rdmaPorts").getFirst().put("gpuMemory", reach);
        n.facts.values().forEach(node -> Nodes.list(node, "links").forEach(link -> link.put("kind", "rdma")));
        Nodes.list(n.node("a"), "links").forEach(link -> link.put("device", "mlx5_0"));
        n.node("a").put("architecture", "amd64");
        n.node("a").put("gpuMemoryUse", use);
        n.node("a").put("gpuDriver", Json.object("version", "580.95.05", "open", true));
        n.node("a").put("gpus", new ArrayList<>(List.of(Json.object("function", "0000:04:00.0", "iommu", "identity"))));
        n.node("a")
                .put(
                        "gpuNics",
                        Json.object(
                                "mlx5_0",
                                Json.object(
                                        "function",
                                        "0000:03:00.0",
                                        "gpus",
                                        new ArrayList<>(List.of(Json.object(
                                                "gpu", "0000:04:00.0", "distance", "PIX", "accessControl", "off"))))));
    }

    static void withoutAddresses(Nodes nodes) {
        int host = 1;
        for (String node : nodes.facts.keySet()) {
            for (int nic = 0; nic < Nodes.list(nodes.node(node), "links").size(); nic++) {
                nodes.address(node, nic, "fe80::" + host++ + "/64");
            }
        }
        nodes.probes.clear();
    }

    static Map<String, Object> first(Nodes nodes) {
        return nodes.probes.values().iterator().next();
    }

    private static void failed(Nodes nodes, String how) {
        first(nodes).put("tcp", how);
        first(nodes).remove("data");
    }

    private static void rdma(Nodes n, String state, String type, List<String> usable, List<String> refused) {
        Nodes.list(n.node("a"), "rdmaPorts")
                .add(Json.object(
                        "device",
                        "mlx5_0",
                        "port",
                        1,
                        "state",
                        state,
                        "linkLayer",
                        "Ethernet",
                        "interfaces",
                        List.of("if1a"),
                        "gids",
                        List.of(Json.object("index", 3, "gid", "::ffff:10.0.1.1", "type", type))));
        n.node("a").put("rdmaDevices", Json.object("usable", usable, "refused", refused));
    }

    private static void counted(Nodes n, String counter) {
        rdma(n, "ACTIVE", "RoCE v2", List.of("uverbs0"), List.of());
        Map<String, Object> port = Nodes.list(n.node("a"), "rdmaPorts").getFirst();
        port.put("counters", Json.object(counter, 4));
        Map<String, Object> after = new LinkedHashMap<>(port);
        after.put("counters", Json.object(counter, 9));
        n.node("a").put("rdmaPortsAfter", List.of(after));
    }

    private static Map<String, Object> rdma(Nodes n, String outcome) {
        first(n).computeIfAbsent("rdma", _ -> Json.object());
        Map<String, Object> rdma = Nodes.object(first(n), "rdma");
        rdma.put("outcome", outcome);
        return rdma;
    }

    static void plant(String code, Nodes in) {
        Objects.requireNonNull(FAULTS.get(code)).accept(in);
    }

    /** What {@link #plant} takes. */
    static Set<String> codes() {
        return FAULTS.keySet();
    }

    private PlantedFindings() {}
}
