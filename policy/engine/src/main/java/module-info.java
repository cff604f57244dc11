/** Policies: eBPF programs, verified, compiled to JVM bytecode, replaced while they run. */
module trigon.policy {
    requires trigon.system;
    requires static org.jspecify;

    exports trigon.policy;
    exports trigon.policy.compile;
    exports trigon.policy.elf;
    exports trigon.policy.map;
    exports trigon.policy.program;
    exports trigon.policy.report;
    exports trigon.policy.verdict;
    exports trigon.policy.verify;
}
