package trigon.tools.doctor;

import static trigon.tools.doctor.Finding.advice;
import static trigon.tools.doctor.Finding.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import trigon.tools.console.JsonObject;

/** Settings of NCCL that contradict Trigon, of the environment and of the files that NCCL reads. Pure. */
final class NcclChecks {

    private final String node;
    private final JsonObject facts;
    private final List<Finding> findings = new ArrayList<>();

    private NcclChecks(String node, JsonObject facts) {
        this.node = node;
        this.facts = facts;
    }

    static List<Finding> of(String node, JsonObject facts) {
        NcclChecks checks = new NcclChecks(node, facts);
        checks.among(facts.object("environment").values(), "the environment", "unset ");
        for (JsonObject file : facts.objects("ncclFiles")) {
            checks.among(file.object("settings").values(), file.text("file"), "sed -i /^");
        }
        return checks.findings;
    }

    private void among(Map<String, Object> settings, String place, String cure) {
        settings.forEach((name, value) -> {
            String remedy = cure.startsWith("unset") ? cure + name : cure + name + "=/d " + place;
            one(name, String.valueOf(value), place, command(node, remedy));
        });
    }

    private void one(String name, String value, String place, Finding.Remedy remedy) {
        String word = value.toLowerCase(Locale.ROOT);
        String evidence = name + "=" + value + " in " + place;
        switch (name) {
            case "NCCL_NET" -> {
                if (!word.isEmpty() && !word.equals("trigon")) {
                    findings.add(Finding.error(
                            "nccl-net-other", node, "NCCL uses the network " + value + " alone", evidence, remedy));
                }
            }
            case "NCCL_NET_PLUGIN" -> {
                if (!word.isEmpty() && !word.contains("trigon")) {
                    findings.add(Finding.error(
                            "nccl-plugin-other",
                            node,
                            word.equals("none") ? "NCCL loads no plugin" : "NCCL loads another plugin, " + value,
                            evidence,
                            remedy));
                }
            }
            case "NCCL_IB_DISABLE" -> {
                if (!word.equals("0")) {
                    findings.add(Finding.note(
                            "nccl-ib-disable",
                            node,
                            "this keeps NCCL's own network from RDMA, not Trigon",
                            evidence,
                            advice(node, "for TCP alone set TRIGON_LINKS=software"),
                            remedy));
                }
            }
            case "NCCL_SOCKET_IFNAME" -> bootstrap(value, evidence);
            default -> {
                if (name.startsWith("NCCL_IB_")) {
                    findings.add(Finding.note(
                            "nccl-ib-setting",
                            node,
                            "this is for NCCL's own network, and does nothing with Trigon",
                            evidence,
                            remedy));
                }
            }
        }
    }

    /** As NCCL reads it: prefixes separated by commas; = for whole names, ^ for those that are excluded. */
    private void bootstrap(String value, String evidence) {
        if (value.startsWith("^") || value.isEmpty()) {
            return;
        }
        boolean whole = value.startsWith("=");
        List<String> wanted = List.of((whole ? value.substring(1) : value).split(","));
        boolean found = facts.objects("interfaces").stream()
                .filter(nic -> !nic.text("state").equals("down")
                        && !nic.texts("addresses").isEmpty())
                .map(nic -> nic.text("name"))
                .anyMatch(name -> wanted.stream().anyMatch(each -> whole ? name.equals(each) : name.startsWith(each)));
        if (!found) {
            findings.add(Finding.error(
                    "bootstrap-interface",
                    node,
                    "NCCL's bootstrap is told to use " + value
                            + ", and no interface of that name is up with an address",
                    evidence,
                    advice(node, "name an interface that all nodes share: NCCL_SOCKET_IFNAME")));
        }
    }
}
