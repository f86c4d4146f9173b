"""Tests of the Helm chart: helm accepts it, and Kubernetes accepts what it renders with several sets of values."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packages.tools import KUBERNETES, SCHEMAS, program

CHART = Path(__file__).parents[2] / "packaging" / "helm" / "flagstaff"
SETS = sorted(path.name for path in (CHART / "ci").iterdir())
OLDEST, NEWEST = KUBERNETES
# Kubernetes does not know this kind; its operator installs the schema.
FOREIGN_KIND = "ServiceMonitor"

each_set = pytest.mark.parametrize(
    "name", ["", *SETS], ids=lambda name: name.removesuffix("-values.yaml") or "defaults"
)


def helm(*arguments: str | Path, values: str = "") -> subprocess.CompletedProcess[str]:
    """Run helm; `values` is a file in the chart's `ci`."""
    given: list[str | Path] = ["--values", CHART / "ci" / values] if values else []
    command = [program("helm"), *arguments, *given]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def render(values: str = "", *options: str, kubernetes: str = NEWEST) -> str:
    """The manifests of a release named `test`."""
    rendered = helm("template", "test", CHART, "--kube-version", kubernetes, *options, values=values)
    assert rendered.returncode == 0, rendered.stderr
    return rendered.stdout


def resources(rendered: str) -> dict[tuple[str, str], Any]:
    """The rendered resources, by kind and name."""
    return {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(rendered) if each}


@each_set
def test_helm_finds_nothing_to_complain_about(name: str) -> None:
    linted = helm("lint", "--strict", CHART, values=name)
    assert linted.returncode == 0, linted.stdout + linted.stderr


@each_set
@pytest.mark.parametrize("kubernetes", [OLDEST, NEWEST])
def test_kubernetes_accepts_every_resource(name: str, kubernetes: str) -> None:
    checked = subprocess.run(
        [
            *(program("kubeconform"), "-strict", "-summary", "-kubernetes-version", kubernetes),
            *("-schema-location", f"{SCHEMAS}/v{kubernetes}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"),
            *("-skip", FOREIGN_KIND, "-"),
        ],
        input=render(name, kubernetes=kubernetes),
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "Valid: 0" not in checked.stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("replicaCount=0", "replicaCount"),
        ("replicas=3", "replicas"),
        ("existingSecret=", "existingSecret"),
        ("secretKeys.databaseUrl=", "databaseUrl"),
        ("settings.FLAGSTAFF_DATABASE_URL=postgresql://flagstaff:secret@db/flagstaff", "FLAGSTAFF_DATABASE_URL"),
        ("settings.FLAGSTAFF_CLICKHOUSE_URL=https://clickhouse:8443", "FLAGSTAFF_CLICKHOUSE_URL"),
        ("settings.FLAGSTAFF_WEBHOOK_PROXY=http://proxy:3128", "FLAGSTAFF_WEBHOOK_PROXY"),
        ("settings.OTEL_EXPORTER_OTLP_ENDPOINT=https://user:password@otel:4318", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ("publicUrl=https://user:password@flags.example.com", "publicUrl"),
        ("settings.FLAGSTAFF_MAX_CONNECTIONS=20000", "FLAGSTAFF_MAX_CONNECTIONS"),  # helm would write it as 2e+04
        ("internalPort=8000", "internalPort"),
        ("internalPort=metrics", "internalPort"),
        ("settings.FLAGSTAFF_INTERNAL_PORT=x", "FLAGSTAFF_INTERNAL_PORT"),
        ("publicUrl=flags.example.com", "publicUrl"),
        ("ingress.enabled=true", "ingress.hosts is empty"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(given: str, said: str) -> None:
    refused = helm("template", "test", CHART, "--set", given)
    assert refused.returncode != 0
    assert said in refused.stderr


def test_nothing_is_rendered_that_is_switched_off() -> None:
    kinds = {kind for kind, _ in resources(render("least-values.yaml"))}
    assert kinds == {"Deployment", "Service", "Pod"}


@each_set
def test_a_pod_stays_in_service_while_postgresql_is_away(name: str) -> None:
    prefix = "/tools/flags" if name == "path-prefix-values.yaml" else ""
    assert container(name)["readinessProbe"]["httpGet"]["path"] == f"{prefix}/health"


def test_a_pod_that_migrates_before_it_listens_has_an_hour_to_start() -> None:
    seconds = {}
    for values in ("", "least-values.yaml"):
        probe = container(values)["startupProbe"]
        seconds[values] = probe["periodSeconds"] * probe["failureThreshold"]
    assert seconds == {"": 120, "least-values.yaml": 3600}


@each_set
def test_probes_and_monitoring_use_one_port_and_a_service_for_users_never_has_the_internal_one(name: str) -> None:
    rendered = resources(render(name))
    server = container(name)
    internal = next((port["containerPort"] for port in server["ports"] if port["name"] == "internal"), None)
    environ = {each["name"]: each["value"] for each in server["env"] if "value" in each}
    assert environ.get("FLAGSTAFF_INTERNAL_PORT") == (internal and str(internal))
    probed = {server[f"{probe}Probe"]["httpGet"]["port"] for probe in ("startup", "readiness", "liveness")}
    assert probed == {"internal" if internal else "http"}
    services = [each["spec"] for (kind, _), each in rendered.items() if kind == "Service"]
    served = {(each["type"], *(port["name"] for port in each["ports"])) for each in services}
    assert ("ClusterIP", "internal") in served if internal else len(served) == 1
    assert all(len(each["ports"]) == 1 for each in services)
    monitored = [each for (kind, _), each in rendered.items() if kind == FOREIGN_KIND]
    assert {each["spec"]["endpoints"][0]["port"] for each in monitored} <= probed
    if internal:
        ingresses = [each for (kind, _), each in rendered.items() if kind == "Ingress"]
        assert {path for each in ingresses for _, path, _ in paths(each)} == {"/"}


def test_all_paths_have_the_prefix_of_the_public_url() -> None:
    rendered = resources(render("path-prefix-values.yaml"))
    ingresses = [each for (kind, _), each in rendered.items() if kind == "Ingress"]
    assert set().union(*map(paths, ingresses)) == {
        ("example.com", "/tools/flags", "Prefix"),
        ("example.com", "/tools/flags/metrics", "Exact"),
    }
    (monitor,) = (each for (kind, _), each in rendered.items() if kind == FOREIGN_KIND)
    assert monitor["spec"]["endpoints"][0]["path"] == "/tools/flags/metrics"
    server = container("path-prefix-values.yaml")
    probed = {server[f"{each}Probe"]["httpGet"]["path"] for each in ("startup", "liveness")}
    assert probed == {"/tools/flags/ready?for=evaluations", "/tools/flags/health"}
    (tested,) = (each for (kind, _), each in rendered.items() if kind == "Pod")
    assert "/tools/flags/ready" in tested["spec"]["containers"][0]["args"][0]


def test_the_internal_port_is_open_only_to_peers_of_its_own() -> None:
    def peers(*options: str) -> dict[str, list[Any]]:
        rendered = resources(render("everything-values.yaml", "--set", "internalPort=9000", *options))
        (policy,) = [each for (kind, _), each in rendered.items() if kind == "NetworkPolicy"]
        return {port["port"]: rule.get("from") for rule in policy["spec"]["ingress"] for port in rule["ports"]}

    def names(found: list[Any]) -> list[str]:
        (_, *others) = found  # the first is the pod of `helm test`
        return [each["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] for each in others]

    opened = peers()
    assert (names(opened["http"]), names(opened["internal"])) == (["ingress-nginx"], ["monitoring"])
    opened = peers("--set", "networkPolicy.internalFrom=null")
    assert (names(opened["http"]), names(opened["internal"])) == (["ingress-nginx"], [])
    assert set(peers("--set", "networkPolicy.from=null,networkPolicy.internalFrom=null").values()) == {None}


def test_pods_reach_webhooks_and_what_the_secret_names_and_nothing_else() -> None:
    def ports(*options: str) -> list[int]:
        (policy,) = [each for (kind, _), each in resources(render("", *options)).items() if kind == "NetworkPolicy"]
        return [port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]]

    assert ports() == [53, 53, 5432, 443]
    assert ports("--set", "secretKeys.clickhouseUrl=clickhouse") == [53, 53, 5432, 8443, 443]


def test_annotations_that_refuse_the_metrics_apply_to_their_path_alone() -> None:
    rendered = resources(render("everything-values.yaml"))
    ingresses = [each for (kind, _), each in rendered.items() if kind == "Ingress"]
    (everything, metrics) = sorted(ingresses, key=lambda each: len(each["metadata"]["name"]))
    denied = "nginx.ingress.kubernetes.io/denylist-source-range"
    assert denied not in everything["metadata"]["annotations"]
    assert denied in metrics["metadata"]["annotations"]
    assert paths(everything) == {("flags.example.com", "/", "Prefix"), ("flags.example.org", "/", "Prefix")}
    assert paths(metrics) == {("flags.example.com", "/metrics", "Exact"), ("flags.example.org", "/metrics", "Exact")}


def container(values: str) -> Any:
    """The server's container."""
    (deployment,) = (each for (kind, _), each in resources(render(values)).items() if kind == "Deployment")
    (only,) = deployment["spec"]["template"]["spec"]["containers"]
    return only


def paths(ingress: Any) -> set[tuple[str, str, str]]:
    """The hosts, paths and types of an Ingress."""
    return {
        (rule["host"], path["path"], path["pathType"])
        for rule in ingress["spec"]["rules"]
        for path in rule["http"]["paths"]
    }


def test_the_notes_warn_of_what_is_missing() -> None:
    def notes(*options: str) -> str:
        return helm("install", "test", CHART, "--dry-run=client", *options).stdout.partition("NOTES:")[2]

    assert notes().count("WARNING") == 2
    assert "helm upgrade --timeout 65m" in notes()
    with_ingress = notes("--set", "ingress.enabled=true,ingress.hosts={flags.example.com}")
    assert "trustedProxies is empty" in with_ingress
    assert "can read /metrics" in with_ingress
    assert "browsers do not use HTTP/2" in with_ingress
    complete = notes("--values", str(CHART / "ci" / "everything-values.yaml"))
    assert "can read /metrics" not in complete
    assert "can read /metrics" not in notes("--values", str(CHART / "ci" / "internal-port-values.yaml"))
    assert "HTTP/2" not in complete
    assert "lets pods reach webhooks at port 443 alone" in notes()
    assert "reach webhooks" not in notes("--set", "networkPolicy.enabled=false")
    assert "WARNING" not in notes("--set", "secretKeys.smtpUrl=smtp,secretKeys.valkeyUrl=valkey")
